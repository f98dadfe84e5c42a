import Foundation
import Testing

/// The picture in the README and in the article on switching: `Tests/Pictures/outage.mjs` draws it from `outage.json`.
@Suite struct PictureTests {
    private struct Figures: Decodable {
        struct System: Decodable {
            var name: String
            var failures: [Int]
            var p99: [Double]
            var isOwn: Bool?
        }

        var faults: [String]
        var systems: [System]
    }

    private static func figures() throws -> Figures {
        let file = ArticleText.repository.appendingPathComponent("Tests/Pictures/outage.json")
        return try JSONDecoder().decode(Figures.self, from: Data(contentsOf: file))
    }

    private static func picture(_ name: String) throws -> String {
        let folder = "Sources/Switchyard/Switchyard.docc/Resources"
        let file = ArticleText.repository.appendingPathComponent("\(folder)/\(name).svg")
        return try String(contentsOf: file, encoding: .utf8)
    }

    @Test func `the outage picture shows the same numbers for this library as the article's table`() throws {
        let article = try ArticleText.article("SwitchingMeasurements")
        let figures = try Self.figures()
        let own = try #require(figures.systems.first { $0.isOwn == true })

        for (fault, place) in [("refuse", 0), ("hang", 1), ("truncate", 2)] {
            #expect(article.contains("| \(fault) | \(own.failures[place]) | \(own.p99[place]) |"), "\(fault)")
        }
    }

    @Test(arguments: ["outage", "outage~dark"]) func `the outage picture shows every compared system with its failures`(
        _ name: String
    ) throws {
        let picture = try Self.picture(name)
        let figures = try Self.figures()

        #expect(figures.systems.count == 3)
        for system in figures.systems {
            #expect(picture.contains(">\(system.name)</text>"))
            for (fault, failures) in zip(figures.faults, system.failures) {
                #expect(picture.contains("\(fault): \(failures) failed"), "\(system.name), \(fault)")
            }
        }
    }

    @Test func `the README shows the outage picture in both themes, and the article shows it too`() throws {
        let readme = try ArticleText.readme()

        #expect(readme.contains("Resources/outage.svg") && readme.contains("Resources/outage~dark.svg"))
        #expect(try ArticleText.article("SwitchingMeasurements").contains("](outage)"))
    }
}
