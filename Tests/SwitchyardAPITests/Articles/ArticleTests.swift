import Foundation
import SwitchyardClient
import SwitchyardTesting
import Testing

@testable import SwitchyardAPI

@Suite struct ArticleTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()

    private func text(_ path: String) throws -> String {
        try String(contentsOf: Self.folder.appendingPathComponent(path), encoding: .utf8)
    }

    /// The lines of each block between two marks, without indentation and empty lines.
    private func blocks(in text: String, from start: String, to end: String) -> [[String]] {
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

    @Test(arguments: ["Answers", "Errors", "Caching", "Pages"])
    func `every sample of the articles is one that compiles here`(_ article: String) throws {
        let compiled = Set(blocks(in: try text("ArticleSamples.swift"), from: "// sample", to: "// end"))
        let path = "../../../Sources/Switchyard/Switchyard.docc/\(article).md"
        let samples = blocks(in: try text(path), from: "```swift", to: "```")

        #expect(!samples.isEmpty)
        for sample in samples { #expect(compiled.contains(sample), "not compiled: \(sample.first ?? "")") }
    }
}
