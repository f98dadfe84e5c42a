import Foundation
import Testing

/// The article on the architecture and the tree of the sources.
@Suite struct ArchitectureTests {
    private static let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Sources")

    @Test(
        arguments: [
            "SwitchyardAPI", "SwitchyardClient", "SwitchyardTransport", "SwitchyardHTTP", "SwitchyardServices",
        ]
    )
    func `the Architecture article lists the folders of each core target`(target: String) throws {
        let article = try ArticleText.article("Architecture")
        let row = try #require(article.split(separator: "\n").first { $0.hasPrefix("| `\(target)` |") })
        let listed = row.split(separator: "|").last.map { $0.matches(of: /`(\w+)`/).map { String($0.1) } } ?? []

        let folder = Self.sources.appendingPathComponent(target)
        let entries = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        let folders = entries.filter(\.hasDirectoryPath).map(\.lastPathComponent)

        #expect(Set(listed) == Set(folders))
    }

    @Test func `the Architecture article and the code list the same eight stages of a call and their files`()
        throws
    {
        let file = Self.sources.appendingPathComponent("SwitchyardAPI/Manager/APICall.swift")
        let code = try String(contentsOf: file, encoding: .utf8)
            .replacing("(this file,", with: "(`SwitchyardAPI/Manager/APICall.swift`,")
        let article = try ArticleText.article("Architecture")
        let section = try #require(
            article.split(separator: "### The life of a call").last?.split(separator: "### The life of a failure").first
        )

        let stages = Self.stages(in: String(section))

        #expect(stages.count == 8)
        #expect(Self.stages(in: code) == stages)
        for path in stages.flatMap(\.files) {
            #expect(FileManager.default.fileExists(atPath: Self.sources.appendingPathComponent(path).path), "\(path)")
        }
    }

    private struct Stage: Equatable {
        var name: Substring
        var files: [String]
    }

    /// The stages: numbered, with a bold name, and with the files in code voice that follow it.
    private static func stages(in text: String) -> [Stage] {
        var stages: [Stage] = []
        for line in text.split(separator: "\n") {
            if let match = line.firstMatch(of: /^(?:\/\/\/ )?\d\. \*\*([^*]+)\*\*/) {
                stages.append(Stage(name: match.1, files: []))
            }
            guard !stages.isEmpty, !line.hasPrefix("/// A call holds") else { continue }
            let files = line.matches(of: /`(Switchyard\w+\/[\w\/+]+\.swift)`/).map { String($0.1) }
            stages[stages.count - 1].files += files
        }
        return stages
    }
}
