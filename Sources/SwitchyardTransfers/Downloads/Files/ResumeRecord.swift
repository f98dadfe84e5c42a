import Foundation
import SwitchyardHTTP

/// The description of the content that a partial file belongs to, stored beside the partial file as JSON.
struct ResumeRecord: Codable, Sendable, Equatable {
    static let currentVersion = 1

    /// The version of the format.
    ///
    /// A record of another version is ignored.
    var version = ResumeRecord.currentVersion
    /// The digest of the value that identifies the content.
    ///
    /// The value itself is not stored because its query may contain secrets.
    var source: String
    /// The requested path, stored so that a person who finds the file can recognize it.
    var path: String
    /// The validator of the content (entity tag or date), by which a server recognizes whether the content has changed.
    var validator: ResumeValidator
    /// The length of the whole content, or `nil` while unknown.
    var total: Int64?
    /// The number of bytes that have been flushed to the disk and therefore survive a power loss.
    var offset: Int64 = 0
    /// The file name that the first response suggested, stored because later responses (206, 416) need not repeat the
    /// name.
    var name: String?
    /// The identifier of the boot in which the bytes were written.
    var boot: String?
    /// The digests that identify the user of the download; empty if no user was logged in.
    var owners: [String]?

    /// Returns whether a user may resume the download.
    ///
    /// The user must be the user who started the download. If no user was logged in, the download may be resumed only
    /// while no user is logged in.
    func belongs(to marks: [String]) -> Bool {
        let owners = owners ?? []
        return owners.isEmpty && marks.isEmpty || !Set(owners).isDisjoint(with: marks)
    }

    /// Returns how many bytes of a partial file of this length can be used to resume the download.
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

    /// Reads a record.
    ///
    /// Returns `nil` if the file is missing, is damaged, has another format version, or contains a validator that
    /// cannot be sent in a request.
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
