import Foundation

/// The folder `Page` in a module's resources.
///
/// The accessor that SwiftPM generates ends the program if the resources are missing. This type throws an error
/// instead, so that a program that was moved without its resources can report the problem.
package struct PageFolder: Sendable {
    /// An error that reports that the resources of a module were not found.
    package struct Missing: Error, Sendable, Hashable, CustomStringConvertible {
        /// The name of the missing bundle.
        let bundle: String

        package var description: String {
            "the resource folder \(bundle) is missing: must be in the folder of the program"
        }
    }

    private let url: URL

    /// Finds the folder in the app, next to the program, or among the sources from which the program was built.
    ///
    /// - Parameters:
    ///   - module: The name of the module.
    ///   - source: The path of a source file that is next to the folder.
    /// - Throws: ``Missing`` if the folder does not exist.
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

    /// Returns the text of a file.
    ///
    /// - Parameter name: The name of the file.
    /// - Returns: The text.
    /// - Throws: The system's error if the file cannot be read.
    package func text(_ name: String) throws -> String {
        try String(contentsOf: url.appendingPathComponent(name), encoding: .utf8)
    }
}
