import Foundation
import SwitchyardClient
import SwitchyardHTTP

/// Where the bytes of a download are until the file is whole, and what they are called.
struct PartialPlace: Sendable {
    /// The file with the bytes.
    var file: URL
    /// Whether it outlives a download that fails.
    var isKept: Bool
    /// What was asked for.
    var source: TransferSubject

    /// Where an earlier download of the same may have left bytes that this one does not go on with; `nil` when there is
    /// no such place.
    private var outdated: URL?

    /// The record that says what the bytes are part of.
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

    /// Whether a partial file may be written to for a source and an owner: not when it holds bytes of another, which would
    /// be lost.
    private static func isUsable(_ file: URL, for source: TransferSubject, _ owners: [String]?) -> Bool {
        guard let record = ResumeRecord.read(from: Files(file: file).record) else { return true }
        return record.source == source.digest && owners.map(record.belongs) ?? true
    }

    /// Removes what an earlier download has left, now that the file is whole; not while somebody writes to it.
    func removeOutdated() {
        guard let outdated, FileFailure.exists(outdated.path), let file = try? PartialFile(at: outdated) else { return }
        file.remove()
        unlink(Files(file: outdated).record.path)
    }

    /// A name that the same download finds again: for a file it depends on its path only, so that the download of another
    /// content to the same place finds the old rest and takes its place.
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

    /// The place as data, for a later call.
    var resumeData: Data? { Files(file: file).resumeData }

    /// The place that data names; `nil` for data that is damaged, or names what is no partial file of ours.
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

    /// The two files of a place.
    struct Files: Sendable, Hashable {
        /// The file with the bytes.
        var file: URL

        /// The record that says what the bytes are part of.
        var record: URL { file.deletingPathExtension().appendingPathExtension("json") }

        /// The place as data, for a later call.
        var resumeData: Data? { try? JSONEncoder().encode(Reference(file: file.path)) }

        /// All places of a directory of which there is either file.
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
    /// The directory in which the file will be, as far as it is known beforehand.
    var directory: URL? {
        switch self {
        case .file(let url): url.deletingLastPathComponent()
        case .directory(let url): url
        case .temporary, .custom: nil
        }
    }
}

extension DownloadConfiguration {
    /// Whether the caller asks for the content and not for a part of it, or for an effect.
    var asksForWholeContent: Bool {
        request.sentMethod == .get && request.resendRule == .anytime && request.ownHeaders["Range"] == nil
            && connections <= 1
    }
}
