import Foundation
import Testing

/// What holds for the package as a whole: rows S3, S4, S6, S7 and S11.
@Suite struct PackageTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static var manifest: String {
        get throws { try String(contentsOf: root.appendingPathComponent("Package.swift"), encoding: .utf8) }
    }

    /// The lines of all sources, each with the file that it stands in.
    private static func sourceLines() throws -> [(file: String, line: Substring)] {
        let folder = root.appendingPathComponent("Sources")
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        var lines: [(file: String, line: Substring)] = []
        while let file = files?.nextObject() as? URL {
            guard file.pathExtension == "swift" else { continue }
            let text = try String(contentsOf: file, encoding: .utf8)
            for line in text.split(separator: "\n") { lines.append((file.lastPathComponent, line)) }
        }
        return lines
    }

    // S7
    @Test func `no other package is needed`() throws {
        #expect(try !Self.manifest.contains(".package("))
        #expect(try !Self.manifest.contains(".binaryTarget("))
    }

    // S6
    @Test func `everything is compiled in the language mode of Swift 6, and nothing is exempt`() throws {
        #expect(try Self.manifest.contains("swiftLanguageModes: [.v6]"))
        #expect(try !Self.manifest.contains(".swiftLanguageMode("))
        #if swift(>=6) && hasFeature(StrictConcurrency)
            let isStrict = true
        #else
            let isStrict = false
        #endif
        #expect(isStrict)
        let exempt = try Self.sourceLines().filter { $0.line.contains("@preconcurrency import") }
        #expect(exempt.map(\.file).isEmpty)
    }

    // S11
    @Test func `only Foundation and the system below it are imported, and no user interface`() throws {
        let own: Set = [
            "Switchyard", "SwitchyardAPI", "SwitchyardClient", "SwitchyardServices", "SwitchyardTesting", "CEpoll",
            "CLibcurl",
        ]
        let system: Set = [
            "Foundation", "FoundationNetworking", "FoundationXML", "Dispatch", "Glibc", "Musl", "Darwin", "Security",
            "Network", "Combine", "Observation", "Synchronization", "os",
        ]
        var imported: Set<String> = []
        for (_, line) in try Self.sourceLines() {
            let words = line.split(whereSeparator: \.isWhitespace)
            let isImport = words.first == "import" || (words.count == 3 && words[1] == "import")
            if isImport, let name = words.last { imported.insert(String(name)) }
        }

        #expect(imported.subtracting(own).subtracting(system).isEmpty)
        #expect(imported.isSuperset(of: ["Foundation", "SwitchyardClient"]))
    }

    #if os(Linux)
        // S3, S4: that this runs at all shows that everything builds here; CI runs all of the tests on Linux.
        @Test func `continuous integration builds and tests all of it here`() throws {
            let script = try String(contentsOf: Self.root.appendingPathComponent(".ci/run"), encoding: .utf8)

            #expect(script.contains("swift build -c release"))
            #expect(script.contains("swift build --build-tests"))
            #expect(script.contains("swift test"))
        }
    #endif
}
