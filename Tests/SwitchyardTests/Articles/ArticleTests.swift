import Foundation
import Switchyard
import Testing

@Suite struct ArticleTests {
    /// A sample that is not Swift code of an app: how a manifest names the package.
    private func isManifest(_ sample: [String]) -> Bool {
        sample.first?.hasPrefix(".package(") == true
    }

    @Test func `every sample of the README is compiled in a test`() throws {
        let compiled = try ArticleText.compiledSamples()
        let samples = ArticleText.blocks(in: try ArticleText.readme(), from: "```swift", to: "```")

        #expect(samples.count == 3)
        for sample in samples where !isManifest(sample) {
            let isCompiled = compiled.contains(sample)
            #expect(isCompiled, "not compiled: \(sample.joined(separator: "\n"))")
        }
    }

    @Test(arguments: ArticleText.articles) func `every sample of the articles is compiled in a test`(
        _ article: String
    ) throws {
        let compiled = try ArticleText.compiledSamples()

        for sample in ArticleText.blocks(in: try ArticleText.article(article), from: "```swift", to: "```") {
            let isCompiled = compiled.contains(sample)
            #expect(isCompiled, "not compiled: \(sample.joined(separator: "\n"))")
        }
    }

    @Test func `the Switching article lists every switching key of a service file`() throws {
        let text = try ArticleText.article("Switching")
        let keys = ServiceFormat.keys.map(\.path).filter { $0.hasPrefix("switching.") }

        #expect(keys.count > 10)
        for key in keys { #expect(text.contains("| `\(key.dropFirst("switching.".count))` |"), "\(key)") }
    }

    /// Articles without samples have measurements or an overview.
    private static let withoutSamples: Set<String> = [
        "Architecture", "Glossary", "Performance", "RenamedSymbols", "SwitchingMeasurements", "Switchyard",
    ]

    @Test(arguments: ArticleText.articles) func `every article has a sample and is listed in the overview`(
        _ article: String
    ) throws {
        let text = try ArticleText.article(article)

        #expect(text.contains("```swift") || Self.withoutSamples.contains(article))
        #expect(try article == "Switchyard" || ArticleText.article("Switchyard").contains("<doc:\(article)>"))
    }
}
