import Foundation
import SwitchyardClient
import SwitchyardHTTP

/// The location and the names of a download's files until the download is complete.
struct PartialPlace: Sendable {
    /// The file with the bytes.
    var file: URL
    /// Whether the file is kept if the download fails.
    var isKept: Bool
    /// The subject of the download.
    var source: TransferSubject

    /// The location where an earlier download of the same content may have left bytes that this download does not use;
    /// `nil` if there is no such location.
    private var outdated: URL?

    /// The record that describes the content of the bytes.
    var record: URL { Files(file: file).record }

    private static let prefix = ".switchyard-"

    init(_ configuration: DownloadConfiguration, source: TransferSubject, of owners: [String]? = nil) {
        self.source = source
        let isTemporary = configuration.destination.directory == nil && configuration.partialDirectory == nil
        let directory =
            configuration.partialDirectory ?? configuration.destination.directory
            ?? FileManager.default.temporaryDirectory
        isKept = configuration.isResumable && configuration.asksForWholeContent && !isTemporary
        let usual = Self.file(named: Self.key(configuration.destination, source), in: directory)
        file = isKept ? usual : Self.file(named: UUID().uuidString, in: directory)
        if isKept, let kept = configuration.resumeData.flatMap(Self.file(in:)), Self.isUsable(kept, for: source, owners)
        {
            file = kept
        }
        outdated = isTemporary || file == usual ? nil : usual
    }

    private static func file(named name: String, in directory: URL) -> URL {
        directory.appendingPathComponent("\(prefix)\(name).part")
    }

    /// Returns whether a partial file may be overwritten for a source and an owner; a file that contains bytes of
    /// another source or owner may not, because they would be lost.
    private static func isUsable(_ file: URL, for source: TransferSubject, _ owners: [String]?) -> Bool {
        guard let record = ResumeRecord.read(from: Files(file: file).record) else { return true }
        return record.source == source.digest && owners.map(record.belongs) ?? true
    }

    /// Removes the bytes that an earlier download has left, after the new file is complete, unless a download is
    /// writing to them.
    func removeOutdated() {
        guard let outdated, FileFailure.exists(outdated.path), let file = try? PartialFile(at: outdated) else { return }
        file.remove()
        unlink(Files(file: outdated).record.path)
    }

    /// Returns a name that the same download finds again; for a file destination, the name depends only on the path, so
    /// that a download of another content to this path finds the old partial file and replaces it.
    private static func key(_ destination: DownloadDestination, _ source: TransferSubject) -> String {
        let text =
            switch destination {
            case .file(let url): "file \(url.standardizedFileURL.path)"
            case .directory(let url): "directory \(url.standardizedFileURL.path) \(source.digest)"
            case .temporary, .custom: source.digest
            }
        return MessageDigest.sha256(text.utf8).prefix(12).hexText
    }

    // MARK: Resume data

    private struct Reference: Codable {
        var version = 1
        var file: String
    }

    /// The location as data, for a later call.
    var resumeData: Data? { Files(file: file).resumeData }

    /// Returns the partial file that the data refers to; `nil` if the data is damaged or refers to a file that is not a
    /// partial file of Switchyard.
    private static func file(in data: Data) -> URL? {
        guard let reference = try? JSONDecoder().decode(Reference.self, from: data), reference.version == 1 else {
            return nil
        }
        let url = URL(fileURLWithPath: reference.file)
        guard url.lastPathComponent.hasPrefix(prefix), url.pathExtension == "part",
            FileFailure.isDirectory(url.path) == false
        else { return nil }
        return url
    }

    /// The partial file and its record.
    struct Files: Sendable, Hashable {
        /// The file with the bytes.
        var file: URL

        /// The record that describes the content of the bytes.
        var record: URL { file.deletingPathExtension().appendingPathExtension("json") }

        /// The location as data, for a later call.
        var resumeData: Data? { try? JSONEncoder().encode(Reference(file: file.path)) }

        /// Returns the partial files of a directory, including those of which only the file or only the record exists.
        static func all(in directory: URL) -> [Files] {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
            let ours = names.filter { $0.hasPrefix(prefix) && ($0.hasSuffix(".part") || $0.hasSuffix(".json")) }
            let files = Set(ours.map { String($0.dropLast(5)) }).map { name in
                Files(file: directory.appendingPathComponent("\(name).part"))
            }
            return files.filter { FileFailure.isDirectory($0.file.path) != true }
        }
    }
}

extension DownloadDestination {
    /// The directory of the downloaded file; `nil` if it is not known in advance.
    var directory: URL? {
        switch self {
        case .file(let url): url.deletingLastPathComponent()
        case .directory(let url): url
        case .temporary, .custom: nil
        }
    }
}

extension DownloadConfiguration {
    /// Whether the caller requests the whole content, rather than a range or an effect.
    var asksForWholeContent: Bool {
        request.sentMethod == .get && request.resendRule == .anytime && request.ownHeaders["Range"] == nil
            && connections <= 1
    }
}
