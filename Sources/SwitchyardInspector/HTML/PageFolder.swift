import Foundation

/// The folder `Page` among a module's resources.
///
/// The accessor that SwiftPM generates ends the program when there is none; whoever moves a program without its resources
/// is to be told.
package struct PageFolder: Sendable {
    /// The resources of a module are not where programs have them.
    package struct Missing: Error, Sendable, Hashable, CustomStringConvertible {
        /// The name of the bundle.
        let bundle: String

        package var description: String { "\(bundle) has to stand beside the program" }
    }

    private let url: URL

    /// Finds the folder: in the app, beside the program, or among the sources that it was built of.
    ///
    /// - Parameters:
    ///   - module: The module's name.
    ///   - source: A source file that the folder stands beside.
    /// - Throws: ``Missing``.
    package init(of module: String, besides source: String) throws(Missing) {
        #if canImport(Darwin)
            let name = "Switchyard_\(module).bundle"
        #else
            let name = "Switchyard_\(module).resources"
        #endif
        let program = Bundle.main.executableURL?.deletingLastPathComponent().appendingPathComponent(name)
        let bundles = [Bundle.main.url(forResource: name, withExtension: nil), program].compactMap(\.self)
        let sources = URL(fileURLWithPath: source).deletingLastPathComponent()
        let folders =
            bundles.flatMap { ["Page", "Contents/Resources/Page"].map($0.appendingPathComponent) }
            + [sources.appendingPathComponent("Page")]
        guard let found = folders.first(where: { FileManager.default.fileExists(atPath: $0.path) }) else {
            throw Missing(bundle: name)
        }
        url = found
    }

    /// The text of a file.
    ///
    /// - Parameter name: Its name.
    /// - Returns: The text.
    /// - Throws: What the system says when it cannot be read.
    package func text(_ name: String) throws -> String {
        try String(contentsOf: url.appendingPathComponent(name), encoding: .utf8)
    }
}
