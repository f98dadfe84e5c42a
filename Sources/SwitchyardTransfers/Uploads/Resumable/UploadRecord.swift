import Foundation
import SwitchyardHTTP
import SwitchyardServices

/// The record from which a later call can resume an upload, stored as JSON.
struct UploadRecord: Codable, Sendable, Equatable {
    static let currentVersion = 1

    /// The version of the format.
    ///
    /// A record of another version is ignored.
    var version = UploadRecord.currentVersion
    /// The digest of the text that identifies the upload's source and destination.
    var subject: String
    /// The URL that the server named for the upload.
    var url: String
    /// The name of the server that opened the upload, or `nil` if that server does not belong to the service.
    var server: String?
    /// The length of the source in bytes.
    var length: Int64
    /// The state of the source file when the upload started.
    var file: StableFileReader.FileState
    /// The digests that identify the user who started the upload; empty if no user was logged in.
    var owners: [String]?
    /// Whether the server may have received all bytes and has not reported its offset since; `nil` means `false`.
    var mayBeWhole: Bool?

    /// Returns whether a user may continue the upload.
    ///
    /// If the upload was started without a user, any user may continue it. Otherwise, only the user who started it may
    /// continue it.
    func belongs(to marks: [String]) -> Bool {
        let owners = owners ?? []
        return owners.isEmpty || !Set(owners).isDisjoint(with: marks)
    }

    /// The location of an upload's record.
    struct Place: Sendable {
        let url: URL
        let subject: String

        /// - Parameters:
        ///   - directory: The directory of the records.
        ///   - subject: The text that identifies the upload's source and destination.
        init(in directory: URL, subject: String) {
            self.subject = MessageDigest.sha256(subject.utf8).hexText
            url = directory.appendingPathComponent(".switchyard-\(self.subject.prefix(24)).upload")
        }

        /// Returns the record of this upload, or `nil` if there is no usable record or the file has changed.
        func read(_ pieces: UploadPieces) -> UploadRecord? {
            guard let data = try? Data(contentsOf: url), data.count < 65_536,
                let record = try? JSONDecoder().decode(UploadRecord.self, from: data),
                record.version == currentVersion, record.subject == subject,
                record.length == pieces.length, record.file == pieces.fileState
            else { return nil }
            return record
        }

        /// Writes the record in one step.
        ///
        /// The file permissions let only the system user of the process read the record.
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
