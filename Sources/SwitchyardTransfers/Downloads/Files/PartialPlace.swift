import Foundation
import SwitchyardClient
import SwitchyardHTTP

/// The locations of a download's partial file and its record.
struct PartialPlace: Sendable {
    /// The partial file, which contains the received bytes.
    var file: URL
    /// Whether the file is kept if the download fails.
    var isKept: Bool
    /// The value that identifies what is downloaded: the request or its content name.
    var source: TransferSubject

    /// The location where an earlier download of the same content may have left bytes that this download does not use,
    /// or `nil` if there is no such location.
    private var outdated: URL?

    /// The JSON file that describes the content of the partial file.
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

    /// Returns whether the download may write to a partial file.
    ///
    /// A file with bytes of another content or of another user may not be used, because its bytes would be lost.
    private static func isUsable(_ file: URL, for source: TransferSubject, _ owners: [String]?) -> Bool {
        guard let record = ResumeRecord.read(from: Files(file: file).record) else { return true }
        return record.source == source.digest && owners.map(record.belongs) ?? true
    }

    /// Removes the partial file of an earlier download after the new file is complete, unless an active download is
    /// writing to it.
    func removeOutdated() {
        guard let outdated, FileFailure.exists(outdated.path), let file = try? PartialFile(at: outdated) else { return }
        file.remove()
        unlink(Files(file: outdated).record.path)
    }

    /// Returns the name of the partial file.
    ///
    /// The same download always gets the same name. For a file destination, the name depends only on the path, so a
    /// download of other content to this path replaces the old partial file.
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

    /// The encoded location of the partial file, with which a later call can resume the download.
    var resumeData: Data? { Files(file: file).resumeData }

    /// Returns the partial file that resume data refers to, or `nil` if the data is damaged or refers to any other kind
    /// of file.
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
        /// The partial file, which contains the received bytes.
        var file: URL

        /// The JSON file that describes the content of the partial file.
        var record: URL { file.deletingPathExtension().appendingPathExtension("json") }

        /// The encoded location of the partial file, with which a later call can resume the download.
        var resumeData: Data? { try? JSONEncoder().encode(Reference(file: file.path)) }

        /// Returns the partial files in a directory, including pairs of which only the partial file or only the record
        /// exists.
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
    /// The directory of the destination, or `nil` if it is unknown before the response arrives.
    var directory: URL? {
        switch self {
        case .file(let url): url.deletingLastPathComponent()
        case .directory(let url): url
        case .temporary, .custom: nil
        }
    }
}

extension DownloadConfiguration {
    /// Whether the request is a plain read of the whole content, without a range and without an effect on the server.
    var asksForWholeContent: Bool {
        request.sentMethod == .get && request.resendRule == .anytime && request.ownHeaders["Range"] == nil
            && connections <= 1
    }
}
