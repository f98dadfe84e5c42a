import Foundation
import SwitchyardHTTP
import SwitchyardServices

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The file of the last list that was accepted, with the validators of the URLs it came from.
///
/// The list is stored with its signatures and verified again when it is read, so a changed file is refused. Its version
/// is the highest one that was ever accepted, even if several processes share the file.
struct ServerListStore: Sendable {
    /// The largest file that is read: a list in Base64 and the validators.
    private static let maximumSize = 4 * ServerList.maximumSize

    /// The contents of the file.
    struct Contents: Sendable, Equatable {
        var envelope: Data
        /// The validators by URL.
        var validators: [String: ServerListValidator]
    }

    let url: URL

    init(folder: URL, service: String) {
        // The name of a service may contain any character. Escaping gives every name its own file.
        let name = service.utf8.map { byte in
            byte.isNameByte ? String(UnicodeScalar(byte)) : (byte < 16 ? "%0" : "%") + String(byte, radix: 16)
        }
        url = folder.appendingPathComponent("\(name.joined()).serverlist")
    }

    /// Returns the contents, or `nil` if there is no file.
    ///
    /// - Throws: ``ServerListRefusal/malformed(_:)`` if the file cannot be read or is damaged.
    func read() throws(ServerListRefusal) -> Contents? {
        guard FileFailure.exists(url.path) else { return nil }
        guard let handle = try? FileHandle(forReadingFrom: url) else { throw .malformed("the file cannot be read") }
        defer { try? handle.close() }
        guard let data = try? handle.read(upToCount: Self.maximumSize) else {
            throw .malformed("the file cannot be read")
        }
        let members = try ServerListJSON(data, of: "the stored list")
        let envelope = try members.base64("list")
        let validators = (try? members.array("validators")) ?? []
        return Contents(
            envelope: envelope,
            validators: validators.reduce(into: [:]) { result, value in
                guard let url = value["url"]?.string else { return }
                result[url] = ServerListValidator(value["etag"]?.string, value["modified"]?.string)
            }
        )
    }

    /// Replaces the file atomically: after a power cut, either the old or the new list is on the disk.
    ///
    /// The new file is written next to the old one and flushed, and then it is renamed and the folder is flushed.
    ///
    /// - Parameters:
    ///   - contents: The new contents.
    ///   - isNewer: Returns whether the contents of the file are newer than `contents`. If so, the file is not
    ///     replaced. The closure is called while the file is locked, so no other process replaces the file meanwhile.
    /// - Throws: ``FileFailure`` if the contents could not be written.
    func write(_ contents: Contents, unless isNewer: (Contents) -> Bool = { _ in false }) throws(FileFailure) {
        try FileFailure.makeDirectory(url.deletingLastPathComponent())
        let new = url.appendingPathExtension("new")
        let handle = FileHandle(
            fileDescriptor: try ExclusiveFile.open(new.path, mode: 0o600),
            closeOnDealloc: true
        )
        defer {
            ExclusiveFile.unlock(handle.fileDescriptor)
            try? handle.close()
        }
        if let kept = try? read(), isNewer(kept) {
            unlink(new.path)
            return
        }
        do {
            try handle.truncate(atOffset: 0)
            try handle.write(contentsOf: Self.data(of: contents))
        } catch {
            throw FileFailure(error, path: new.path)
        }
        guard DiskFlush.wait(for: handle.fileDescriptor) == 0, rename(new.path, url.path) == 0 else {
            throw FileFailure(errno: errno, path: url.path)
        }
        flushFolder(url.deletingLastPathComponent().path)
    }

    private static func data(of contents: Contents) -> Data {
        let validators = contents.validators.sorted { $0.key < $1.key }.map { url, validator in
            var members: [(key: String, value: JSONValue)] = [("url", .string(url))]
            if let tag = validator.entityTag { members.append(("etag", .string(tag))) }
            if let modified = validator.modified { members.append(("modified", .string(modified))) }
            return JSONValue.object(JSONMembers(members))
        }
        let document: JSONValue = [
            "list": .string(contents.envelope.base64EncodedString()), "validators": .array(validators),
        ]
        return document.data
    }
}

/// Flushes a renamed file's folder, so that the new name is on the disk.
private func flushFolder(_ path: String) {
    let folder = open(path, O_RDONLY | O_CLOEXEC)
    guard folder >= 0 else { return }
    _ = DiskFlush.wait(for: folder)
    close(folder)
}

extension UInt8 {
    fileprivate var isNameByte: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
        default: false
        }
    }
}
