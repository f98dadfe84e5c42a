import Foundation
import Testing

/// Rules for the package as a whole: rows S1 to S4, S6, S7, S9 and S11.
@Suite struct PackageTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static var manifest: String {
        get throws { try String(contentsOf: root.appendingPathComponent("Package.swift"), encoding: .utf8) }
    }

    /// All sources, or those of one target.
    private static func sources(of target: String = "") throws -> [(file: String, text: Data)] {
        let folder = root.appendingPathComponent("Sources/\(target)")
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        var sources: [(file: String, text: Data)] = []
        while let file = files?.nextObject() as? URL {
            guard file.pathExtension == "swift" else { continue }
            sources.append((file.lastPathComponent, try Data(contentsOf: file)))
        }
        return sources
    }

    @Test func `every test that starts a process has the trait startsProcess`() throws {
        let tests = Self.root.appendingPathComponent("Tests")
        let files = FileManager.default.enumerator(at: tests, includingPropertiesForKeys: nil)
        while let file = files?.nextObject() as? URL {
            guard file.pathExtension == "swift" else { continue }
            let text = try String(contentsOf: file, encoding: .utf8)
            // Split, so that this file does not match.
            let exits = text.ranges(of: "processExits" + "With:").count

            #expect(text.ranges(of: "@Test(.starts" + "Process").count >= exits, "\(file.lastPathComponent)")
        }
    }

    // S1, S2
    @Test func `the manifest lists all Apple systems, including visionOS`() throws {
        let manifest = try Self.manifest

        for system in [".macOS(.v13)", ".iOS(.v16)", ".tvOS(.v16)", ".watchOS(.v9)", ".visionOS(.v1)"] {
            #expect(manifest.contains(system))
        }
    }

    /// The APIs for which Apple requires a reason, by category.
    private static let reasoned = [
        "FileTimestamp": [
            "stat(", "lstat(", "fstat(", "fstatat(", "attributesOfItem(", "contentModificationDateKey",
            "creationDateKey", ".modificationDate",
        ],
        "SystemBootTime": ["systemUptime", "mach_absolute_time"],
        "DiskSpace": ["statfs(", "statvfs(", "volumeAvailableCapacity", "systemFreeSize"],
        "UserDefaults": ["UserDefaults"],
        "ActiveKeyboards": ["activeInputModes"],
    ]

    // S9
    @Test(
        arguments: [
            "SwitchyardServices", "SwitchyardHTTP", "SwitchyardTransport", "SwitchyardClient", "SwitchyardAPI",
            "Switchyard", "SwitchyardTransfers", "SwitchyardStreams", "SwitchyardOAuth", "SwitchyardDiskCache",
            "SwitchyardMarkup", "SwitchyardResources", "SwitchyardRequests", "SwitchyardOutbox",
            "SwitchyardServerLists", "SwitchyardDiagnostics", "SwitchyardInspector",
        ]
    )
    func `a target has a privacy manifest exactly if it uses APIs that require a reason`(
        target: String
    ) throws {
        let sources = try Self.sources(of: target)
        let used = Self.reasoned.filter { _, calls in
            sources.contains { source in calls.contains { source.text.range(of: Data($0.utf8)) != nil } }
        }
        let file = Self.root.appendingPathComponent("Sources/\(target)/PrivacyInfo.xcprivacy")
        guard !used.isEmpty else {
            return #expect(!FileManager.default.fileExists(atPath: file.path))
        }

        let list = try PropertyListSerialization.propertyList(from: Data(contentsOf: file), format: nil)
        let manifest = try #require(list as? [String: Any])
        #expect(manifest["NSPrivacyTracking"] as? Bool == false)
        #expect((manifest["NSPrivacyTrackingDomains"] as? [Any])?.isEmpty == true)
        #expect((manifest["NSPrivacyCollectedDataTypes"] as? [Any])?.isEmpty == true)
        let types = try #require(manifest["NSPrivacyAccessedAPITypes"] as? [[String: Any]])
        let names = types.compactMap { $0["NSPrivacyAccessedAPIType"] as? String }
        #expect(Set(names) == Set(used.keys.map { "NSPrivacyAccessedAPICategory\($0)" }))
        #expect(types.allSatisfy { ($0["NSPrivacyAccessedAPITypeReasons"] as? [String])?.isEmpty == false })
        #expect(try Self.manifest.components(separatedBy: #".copy("PrivacyInfo.xcprivacy")"#).count == 5)
    }

    // S7
    @Test func `the package has no dependencies`() throws {
        #expect(try !Self.manifest.contains(".package("))
        #expect(try !Self.manifest.contains(".binaryTarget("))
    }

    // S6
    @Test func `all targets use the Swift 6 language mode without exceptions`() throws {
        #expect(try Self.manifest.contains("swiftLanguageModes: [.v6]"))
        #expect(try !Self.manifest.contains(".swiftLanguageMode("))
        #if swift(>=6) && hasFeature(StrictConcurrency)
            let isStrict = true
        #else
            let isStrict = false
        #endif
        #expect(isStrict)
        let exempt = try Self.sources().filter { $0.text.range(of: Data("@preconcurrency import".utf8)) != nil }
        #expect(exempt.map(\.file).isEmpty)
    }

    // S11
    @Test func `only Foundation and system libraries are imported, and only the inspector imports SwiftUI`() throws {
        let own: Set = [
            "Switchyard", "SwitchyardAPI", "SwitchyardClient", "SwitchyardDiagnostics", "SwitchyardDiskCache",
            "SwitchyardGenerator", "SwitchyardHTTP", "SwitchyardInspector", "SwitchyardMarkup", "SwitchyardOAuth",
            "SwitchyardOutbox", "SwitchyardRequests", "SwitchyardResources", "SwitchyardServerLists",
            "SwitchyardServices", "SwitchyardStreams", "SwitchyardTesting", "SwitchyardTransfers",
            "SwitchyardTransport", "CEpoll", "CLibcurl",
        ]
        let system: Set = [
            "Foundation", "FoundationNetworking", "FoundationXML", "Dispatch", "Glibc", "Musl", "Darwin", "Security",
            "Network", "Combine", "Observation", "Synchronization", "os", "CryptoKit",
        ]
        var imported: Set<String> = []
        let views = Set(try Self.sources(of: "SwitchyardInspector/App").map(\.file))
        let sources = try Self.sources().filter { !views.contains($0.file) }
        let lines = sources.flatMap { $0.text.split(separator: UInt8(ascii: "\n")) }
        for line in lines where line.range(of: Data("import ".utf8)) != nil {
            let words = String(decoding: line, as: UTF8.self).split(whereSeparator: \.isWhitespace)
            let isImport = words.first == "import" || (words.count == 3 && words[1] == "import")
            if isImport, let name = words.last { imported.insert(String(name)) }
        }

        #expect(imported.subtracting(own).subtracting(system).isEmpty)
        #expect(imported.isSuperset(of: ["Foundation", "SwitchyardClient"]))
        #expect(views.contains("TrafficView.swift"))
    }

    // S1, S2
    @Test func `continuous integration builds every library for every Apple system`() throws {
        let file = Self.root.appendingPathComponent(".github/workflows/ci.yml")
        let words = Set(
            try String(contentsOf: file, encoding: .utf8).split { !$0.isLetter && !$0.isNumber }.map(String.init)
        )
        let libraries = try Self.manifest.components(separatedBy: ".library(name: \"").dropFirst()
            .compactMap { $0.split(separator: "\"").first.map(String.init) }

        #expect(libraries.count > 5)
        #expect(words.isSuperset(of: libraries))
        #expect(words.isSuperset(of: ["macOS", "iOS", "tvOS", "watchOS", "visionOS"]))
    }

    #if os(Linux)
        // S3, S4: this test runs, so everything builds here. CI runs all tests on Linux.
        @Test func `continuous integration builds and tests the whole package`() throws {
            let script = try String(contentsOf: Self.root.appendingPathComponent(".ci/run"), encoding: .utf8)

            #expect(script.contains("swift build -c release"))
            #expect(script.contains("swift build --build-tests"))
            #expect(script.contains("swift test"))
        }
    #endif
}
