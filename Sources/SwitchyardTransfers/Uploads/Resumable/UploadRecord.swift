import Foundation
import SwitchyardHTTP
import SwitchyardServices

/// Where an upload goes on, in a later call: kept as JSON.
struct UploadRecord: Codable, Sendable, Equatable {
    static let currentVersion = 1

    /// The version of the format; a record of another one is as good as none.
    var version = UploadRecord.currentVersion
    /// The digest of what is uploaded, and where to.
    var subject: String
    /// The upload's own URL.
    var url: String
    /// The server that has opened it; `nil` when it is none of the service's.
    var server: String?
    /// The length of the whole.
    var length: Int64
    /// What the file was like.
    var file: StableFileReader.FileState
    /// What names the user who has begun it; none for an upload of nobody's.
    var owners: [String]?
    /// Whether the server may have got everything, and has not said since what it has; `nil` as long as it has not.
    var mayBeWhole: Bool?

    /// Whether a user may go on with it: the one who has begun it, or anybody where nobody has.
    func belongs(to marks: [String]) -> Bool {
        let owners = owners ?? []
        return owners.isEmpty || !Set(owners).isDisjoint(with: marks)
    }

    /// The place of the record of an upload.
    struct Place: Sendable {
        let url: URL
        let subject: String

        /// - Parameters:
        ///   - directory: Where the records are.
        ///   - subject: What names the upload among others.
        init(in directory: URL, subject: String) {
            self.subject = MessageDigest.sha256(subject.utf8).hexText
            url = directory.appendingPathComponent(".switchyard-\(self.subject.prefix(24)).upload")
        }

        /// The record of this very upload, of the file as it is now; `nil` when there is none that can be used.
        func read(_ pieces: UploadPieces) -> UploadRecord? {
            guard let data = try? Data(contentsOf: url), data.count < 65_536,
                let record = try? JSONDecoder().decode(UploadRecord.self, from: data),
                record.version == currentVersion, record.subject == subject,
                record.length == pieces.length, record.file == pieces.fileState
            else { return nil }
            return record
        }

        /// Writes the record in one step; nobody but the owner can read it.
        func write(_ record: UploadRecord) throws(RequestError) {
            let new = url.appendingPathExtension("new")
            do {
                try FileManager.default.createDirectory(
                    at: url.deletingLastPathComponent(),
                    withIntermediateDirectories: true
                )
                let data = try JSONEncoder().encode(record)
                let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
                guard FileManager.default.createFile(atPath: new.path, contents: data, attributes: attributes),
                    rename(new.path, url.path) == 0
                else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
            } catch {
                throw .file(path: url.path, reason: .unwritable("\(error)"))
            }
        }

        func remove() {
            unlink(url.path)
        }
    }
}
