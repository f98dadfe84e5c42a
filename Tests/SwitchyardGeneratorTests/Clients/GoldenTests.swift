import Foundation
import Testing

@testable import SwitchyardGenerator

/// The client in the folder `Golden` is the generator's output for `Documents/shop.yaml`.
///
/// It is compiled with the tests.
@Suite struct GoldenTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

    private static func output() throws -> ClientGenerator.Output {
        var options = GeneratorOptions()
        options.name = "Shop"
        options.command = "yard generate shop.yaml --name Shop"
        let document = folder.appendingPathComponent("Documents/shop.yaml")
        return try ClientGenerator(options: options).output(for: document)
    }

    @Test func `the generator's output for the shop example equals the reviewed code`() throws {
        let output = try Self.output()
        let golden = Self.folder.appendingPathComponent("Golden")

        for file in output.files {
            let expected = try String(contentsOf: golden.appendingPathComponent(file.path), encoding: .utf8)
            #expect(file.text == expected, "\(file.path)")
        }
        let names = FileManager.default.enumerator(atPath: golden.path)?.compactMap { $0 as? String } ?? []
        #expect(Set(names.filter { $0.contains(".") }) == Set(output.files.map(\.path)))
        #expect(output.notes == [])
    }

    @Test func `the same document always gives the same generated files`() throws {
        let first = try Self.output()
        let second = try Self.output()

        #expect(first.files == second.files)
    }

    @Test func `adding an operation to an OpenAPI document changes no other generated name`() throws {
        let text = try String(
            contentsOf: Self.folder.appendingPathComponent("Documents/shop.yaml"),
            encoding: .utf8
        )
        let added = "paths:\n  /added:\n    get: { operationId: products_get_all, tags: [products], responses: {} }\n"
        let before = try client(text: text)
        let after = try client(text: text.replacing("paths:\n", with: added, maxReplacements: 1))

        let lines = Set(after.code.split(separator: "\n"))
        #expect(before.code.split(separator: "\n").filter { !lines.contains($0) } == [])
    }

    @Test func `models that only unselected operations use are not generated`() throws {
        var options = GeneratorOptions()
        options.only = ["/categories"]
        let text = try String(
            contentsOf: Self.folder.appendingPathComponent("Documents/shop.yaml"),
            encoding: .utf8
        )
        let output = try client(text: text, options: options)

        #expect(output.operations == 1)
        #expect(output.types == 1)
        options.only = ["none"]
        let error = #expect(throws: GeneratorError.self) { try client(text: text, options: options) }
        #expect(error?.message == "unknown tag, operationId or path \"none\"")
    }

    @Test func `a relative server URL is skipped unless another base URL is given`() throws {
        let head = "servers: [{ url: /v1 }]"
        var options = GeneratorOptions()
        let without = try client(head: head, options: options)
        options.servers = [.init(name: "a", url: "https://a.example"), .init(name: "b", url: "https://b.example")]
        let with = try client(head: head, options: options)

        #expect(without.notes.map(\.kind) == [.skipped])
        #expect(without.files.filter { $0.path.hasSuffix(".json") } == [])
        let service = try #require(with.files.first { $0.path == "Services/test.json" })
        #expect(service.text.contains("\"release\": \"https://b.example\""))
    }

    @Test func `an environment is named by its server's description or host if neither has a known word`() throws {
        let output = try client(
            head: """
                servers:
                  - { url: "https://a.example" }
                  - { url: "https://b7.example/x" }
                  - { url: "https://c.example", description: The blue one }
                """
        )

        let code = output.code
        #expect(code.contains("\"release\": \"https://a.example\""))
        #expect(code.contains("\"b7\": \"https://b7.example/x\""))
        #expect(code.contains("\"the-blue-one\": \"https://c.example\""))
    }

    @Test func `the variables of a server URL become environments or parameters`() throws {
        let output = try client(
            head: """
                servers:
                  - url: https://{region}.{tenant}.example/v1
                    variables:
                      region: { default: eu, enum: [eu, us] }
                      tenant: { default: demo }
                """
        )

        let service = try #require(output.files.first { $0.path == "Services/test.json" })
        #expect(service.text.contains("\"release\": \"https://eu.demo.example/v1\""))
        #expect(service.text.contains("\"release-us\": \"https://us.demo.example/v1\""))
        #expect(
            output.code.contains("static func testService(tenant: String = \"demo\") throws(CatalogError) -> Service {")
        )
    }
}
