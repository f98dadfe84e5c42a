import Foundation
import SwitchyardHTTP

/// The description of the content that a partial file belongs to, stored beside the partial file as JSON.
struct ResumeRecord: Codable, Sendable, Equatable {
    static let currentVersion = 1

    /// The version of the format; a record of another version is ignored.
    var version = ResumeRecord.currentVersion
    /// The digest of the request's subject; the subject itself is not stored because its query may contain secrets.
    var source: String
    /// The requested path, for people who find the file.
    var path: String
    /// The validator that shows whether the content has changed.
    var validator: ResumeValidator
    /// The length of the whole content; `nil` while unknown.
    var total: Int64?
    /// The number of bytes that are certainly on the disk, even after a power loss.
    var offset: Int64 = 0
    /// The name that the first response suggested; later responses (206, 416) need not repeat it.
    var name: String?
    /// The identifier of the boot in which the bytes were written.
    var boot: String?
    /// The marks that identify the user of the download; empty if no user is logged in.
    var owners: [String]?

    /// Returns whether an owner may resume the bytes: either the user is the same, or both downloads have no user.
    func belongs(to marks: [String]) -> Bool {
        let owners = owners ?? []
        return owners.isEmpty && marks.isEmpty || !Set(owners).isDisjoint(with: marks)
    }

    /// Returns the number of bytes of a file of this length that can be resumed.
    ///
    /// If the machine has not been restarted since the bytes were written, all bytes can be resumed. Otherwise, only
    /// the bytes that were certainly on the disk can be resumed.
    func usableBytes(of length: Int64, boot current: String? = BootSession.current) -> Int64 {
        let isSameRun = boot != nil && boot == current
        let usable = isSameRun ? length : min(length, max(0, offset))
        guard let total else { return usable }
        return usable <= total ? usable : 0
    }

    // MARK: The file

    /// Reads a record; returns `nil` if the file is missing, damaged or of another version, or if its validator cannot
    /// be sent in a request.
    static func read(from url: URL) -> ResumeRecord? {
        guard let data = try? Data(contentsOf: url), data.count < 65_536,
            let record = try? JSONDecoder().decode(ResumeRecord.self, from: data),
            record.version == currentVersion, record.validator.text.isFieldValue
        else { return nil }
        return record
    }

    /// Writes the record in one step.
    func write(to url: URL) throws(FileFailure) {
        do {
            try JSONEncoder().encode(self).write(to: url, options: .atomic)
        } catch {
            throw FileFailure(error, path: url.path)
        }
    }
}
