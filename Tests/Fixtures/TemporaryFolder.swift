package import Foundation

/// A folder that is removed when it is released.
package final class TemporaryFolder: Sendable {
    package let url = FileManager.default.temporaryDirectory.appendingPathComponent("switchyard-\(UUID().uuidString)")

    package init() {}

    /// A folder that has already been created.
    package static func made() throws -> TemporaryFolder {
        let folder = TemporaryFolder()
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        return folder
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    /// Writes a file and returns its URL.
    package func file(_ name: String, _ bytes: Data) throws -> URL {
        let file = url.appendingPathComponent(name)
        try bytes.write(to: file)
        return file
    }

    /// The files in the folder at any depth, except hidden files and those in hidden folders.
    package var entries: [URL] {
        let found = FileManager.default.enumerator(at: url, includingPropertiesForKeys: nil)?.allObjects ?? []
        return found.compactMap { $0 as? URL }
            .filter { !$0.path.dropFirst(url.path.count).contains("/.") && !$0.hasDirectoryPath }
            .sorted { $0.path < $1.path }
    }

    /// The size of all entries, in bytes.
    package var size: Int {
        entries.reduce(0) { $0 + ((try? Data(contentsOf: $1).count) ?? 0) }
    }
}
