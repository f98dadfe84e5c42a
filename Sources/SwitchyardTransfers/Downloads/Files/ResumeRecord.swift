import Foundation
import SwitchyardHTTP

/// What the bytes of a partial file are part of: kept beside it, as JSON.
struct ResumeRecord: Codable, Sendable, Equatable {
    static let currentVersion = 1

    /// The version of the format; a record of another one is as good as none.
    var version = ResumeRecord.currentVersion
    /// The digest of what was asked for; its query may hold secrets, so it is not written out.
    var source: String
    /// The path that was asked for, for whoever finds the file.
    var path: String
    /// What tells whether the content has changed.
    var validator: ResumeValidator
    /// The length of the whole content; `nil` while unknown.
    var total: Int64?
    /// The bytes that are on the disk for sure, also after a loss of power.
    var offset: Int64 = 0
    /// The name that the answer suggested with which the bytes began; an answer that brings the rest, or says that there
    /// is none, need not say it again.
    var name: String?
    /// The run of the machine in which the bytes were written.
    var boot: String?
    /// What names the user for whom they were written; none for a download of nobody's.
    var owners: [String]?

    /// Whether the bytes may be gone on with for an owner: the same user, or nobody in both cases.
    func belongs(to marks: [String]) -> Bool {
        let owners = owners ?? []
        return owners.isEmpty && marks.isEmpty || !Set(owners).isDisjoint(with: marks)
    }

    /// How many bytes of a file of that length can be gone on from.
    ///
    /// All of them when the machine has run on since they were written, else those that were surely on the disk.
    func usableBytes(of length: Int64, boot current: String? = BootSession.current) -> Int64 {
        let isSameRun = boot != nil && boot == current
        let usable = isSameRun ? length : min(length, max(0, offset))
        guard let total else { return usable }
        return usable <= total ? usable : 0
    }

    // MARK: The file

    /// Reads a record; `nil` for a file that is missing, damaged or of another version, and for one whose validator no
    /// request can carry: its bytes cannot be gone on from.
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
