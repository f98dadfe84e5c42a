package import Foundation

/// A folder that goes with the test.
package final class TemporaryFolder: Sendable {
    package let url = FileManager.default.temporaryDirectory.appendingPathComponent("switchyard-\(UUID().uuidString)")

    package init() {}

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    /// The files in it, at any depth, but those whose name begins with a dot, or whose folder's does.
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
