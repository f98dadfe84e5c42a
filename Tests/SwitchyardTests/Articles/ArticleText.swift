import Foundation

/// The text of the README, of the articles and of the files that compile their samples.
enum ArticleText {
    static let repository = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static let catalogue = repository.appendingPathComponent("Sources/Switchyard/Switchyard.docc")

    /// The names of all articles.
    static var articles: [String] {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: catalogue.path)) ?? []
        return files.filter { $0.hasSuffix(".md") }.map { String($0.dropLast(3)) }.sorted()
    }

    static func readme() throws -> String {
        try String(contentsOf: repository.appendingPathComponent("README.md"), encoding: .utf8)
    }

    static func article(_ name: String) throws -> String {
        try String(contentsOf: catalogue.appendingPathComponent("\(name).md"), encoding: .utf8)
    }

    /// The samples of all files that compile them, marked with `// sample` and `// end`.
    static func compiledSamples() throws -> Set<[String]> {
        var samples: Set<[String]> = []
        for folder in [
            "Tests/SwitchyardTests", "Tests/SwitchyardAPITests/Articles", "Tests/SwitchyardGeneratorTests/Articles",
            "Tests/SwitchyardForumTests",
        ] {
            let files = FileManager.default.enumerator(
                at: repository.appendingPathComponent(folder),
                includingPropertiesForKeys: nil
            )
            for case let file as URL in files ?? .init() where file.lastPathComponent.hasSuffix("Samples.swift") {
                samples.formUnion(
                    blocks(in: try String(contentsOf: file, encoding: .utf8), from: "// sample", to: "// end")
                )
            }
        }
        return samples
    }

    /// The lines of each block between two marks, without indentation and empty lines.
    static func blocks(in text: String, from start: String, to end: String) -> [[String]] {
        var blocks: [[String]] = []
        var open: [String]?
        for line in text.split(separator: "\n").map({ $0.trimmingCharacters(in: .whitespaces) }) {
            if open == nil, line == start {
                open = []
            } else if let block = open, line == end {
                blocks.append(block)
                open = nil
            } else if !line.isEmpty {
                open?.append(line)
            }
        }
        return blocks
    }
}
