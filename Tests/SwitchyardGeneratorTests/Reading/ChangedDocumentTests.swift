import Foundation
import SwitchyardFixtures
import Testing

@testable import SwitchyardGenerator

/// Random changes to a valid document.
///
/// Each of them gives a client or an error with its location. None of them stops the process.
@Suite(.timeLimit(.minutes(20))) struct ChangedDocumentTests {
    private static let shop = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Documents/shop.yaml")

    private static let changes = Rounds.count(30, thorough: 50)

    private static func shopText() throws -> String { try String(contentsOf: shop, encoding: .utf8) }

    /// Generates a client and checks the location of the error, if there is one.
    private func generate(_ bytes: [UInt8], as name: String) {
        do throws(GeneratorError) {
            let files = try DocumentFiles(URL(fileURLWithPath: "/none/\(name)")) { _ in Data(bytes) }
            _ = try ClientGenerator().output(of: files, named: name)
        } catch {
            #expect(error.file == name && error.line > 0 && !error.message.isEmpty, "\(error)")
        }
    }

    @Test(arguments: 0..<UInt64(Rounds.count(1, thorough: 8)))
    func `a YAML document with random changes to its text never makes the generator crash`(seed: UInt64) throws {
        var mutation = Mutation(random: SeededGenerator(seed: seed))
        let text = Array(try Self.shopText().utf8)

        for _ in 0..<Self.changes { generate(mutation.changed(text), as: "api.yaml") }
    }

    @Test(arguments: 0..<UInt64(Rounds.count(1, thorough: 8)))
    func `a JSON document with random changes to its text never makes the generator crash`(seed: UInt64) throws {
        var mutation = Mutation(random: SeededGenerator(seed: seed))
        let text = Array(json(try read(Self.shopText())).utf8)

        for _ in 0..<Self.changes { generate(mutation.changed(text), as: "api.json") }
    }

    @Test(arguments: 0..<UInt64(Rounds.count(1, thorough: 8)))
    func `a document with random changes to its values never makes the generator crash`(seed: UInt64) throws {
        var mutation = Mutation(random: SeededGenerator(seed: seed))
        let node = try read(Self.shopText())
        let all = Mutation.all(node)

        for _ in 0..<Self.changes {
            generate(Array(json(mutation.changed(node, among: all, rarity: 400)).utf8), as: "api.json")
        }
    }
}
