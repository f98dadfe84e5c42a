import Foundation
import Testing

@testable import SwitchyardGenerator

@Suite struct DocumentErrorTests {
    @Test(arguments: [
        ("swagger: '2.0'", "OpenAPI 2 (\"swagger\") is not supported: must be OpenAPI 3.0 or 3.1", ""),
        ("openapi: 4.0.0", "OpenAPI 4.0.0 is not supported: must be OpenAPI 3.0 or 3.1", "/openapi"),
        ("a: 1", "the document has no version in \"openapi\": must be 3.0 or 3.1", ""),
        ("[1]", "the document must be an object, not a list", ""),
        ("openapi: 3.0.0\ninfo: {title: A}\npaths: {}", "the document must have at least one operation", "/paths"),
    ])
    func `a document that is not an OpenAPI 3 document is rejected`(text: String, message: String, pointer: String) {
        let error = #expect(throws: GeneratorError.self) { try client(text: text) }

        #expect(error?.message == message)
        #expect(error?.pointer == pointer)
    }

    @Test(
        arguments: [
            (
                "{ $ref: '#/components/schemas/None' }", "the reference \"#/components/schemas/None\" has no target",
                "/paths/~1things/get/responses/200/content/application~1json/schema"
            ),
            (
                "{ $ref: '#/components/schemas/Loop' }",
                "the reference \"#/components/schemas/Pool\" is circular", nil
            ),
            ("{ $ref: '#/components/schemas/Self' }", "\"allOf\" is circular", nil),
            (
                "{ $ref: 'https://x.example/y.json' }",
                "the reference to \"https://x.example/y.json\" is invalid: must be a file in the document's folder", nil
            ),
            (
                "{ $ref: '../other.yaml' }",
                "the reference to \"../other.yaml\" is outside the folder of the document", nil
            ),
            (
                "{ $ref: 'a/../../b.yaml' }",
                "the reference to \"a/../../b.yaml\" is outside the folder of the document", nil
            ),
            ("{ $ref: '/b.yaml' }", "the reference to \"/b.yaml\" is outside the folder of the document", nil),
            ("{ $ref: 'other.yaml' }", "the referenced file \"other.yaml\" does not exist", nil),
            (
                "{ type: text }",
                "the type \"text\" is invalid: must be one of array, boolean, integer, number, object, string, null",
                nil
            ),
            (
                "{ allOf: [{ type: string }, { type: integer }] }",
                "no value matches \"allOf\", which requires a string and an integer", nil
            ),
            (
                "{ allOf: [{ type: object, properties: { a: {} } }, { type: string }] }",
                "no value matches \"allOf\", which requires an object and a string", nil
            ),
            ("[]", "a schema must be an object, not a list", nil),
            ("{ type: object, properties: 1 }", "\"properties\" must be an object, not a number", nil),
        ] as [(String, String, String?)]
    )
    func `the error for an invalid schema has the location of the schema`(
        schema: String,
        message: String,
        pointer: String?
    ) {
        let schemas = """
                Loop: { $ref: '#/components/schemas/Pool' }
                Pool: { $ref: '#/components/schemas/Loop' }
                Self: { allOf: [{ $ref: '#/components/schemas/Self' }, { type: object, properties: { a: {} } }] }
            """

        let error = #expect(throws: GeneratorError.self) { try client(returning: schema, schemas: schemas) }
        #expect(error?.message == message)
        #expect((error?.line ?? 0) > 0)
        if let pointer { #expect(error?.pointer == pointer) }
    }

    @Test(arguments: [
        ("  a: {}", "the path \"a\" must start with \"/\""),
        (
            "  /a: { get: { operationId: x, responses: {} }, put: { operationId: x, responses: {} } }",
            "the operationId \"x\" occurs twice"
        ),
        ("  /a: { get: { parameters: [{ in: query }] } }", "a parameter must have a \"name\""),
        (
            "  /a: { get: { parameters: [{ name: b, in: body }] } }",
            "the location \"body\" of the parameter \"b\" is invalid: must be path, query, header or cookie"
        ),
        ("  /a: 1", "a path must be an object, not a number"),
        (
            "  /a: { get: { parameters: [{ name: b, in: query, required: 1 }] } }",
            "\"required\" must be true or false, not a number"
        ),
    ])
    func `an invalid operation in an OpenAPI document is an error`(paths: String, message: String) {
        let error = #expect(throws: GeneratorError.self) { try client(paths: paths) }

        #expect(error?.message == message)
        #expect(error?.pointer.hasPrefix("/paths/") == true)
    }

    @Test(arguments: [
        (
            "servers: [{ url: 'https://{x}.a.example', variables: { x: {} } }]",
            "the server variable \"x\" must have a \"default\""
        ),
        (
            "servers: [{ url: 'https://a.example' }]\nx-switchyard-servers: [{ name: a }]",
            "a server under \"x-switchyard-servers\" must have a \"name\" and a \"url\""
        ),
    ])
    func `an invalid server in an OpenAPI document is an error`(head: String, message: String) {
        let error = #expect(throws: GeneratorError.self) { try client(head: head) }

        #expect(error?.message == message)
    }

    @Test(arguments: [
        (
            "  /a/{b}: { get: { responses: {} } }",
            "the placeholder \"{b}\" has no matching parameter, so it accepts any text"
        ),
        (
            "  /a: { get: { parameters: [{ name: c, in: query, schema: { type: string, enum: [] } }], responses: {} } }",
            "\"enum\" has no values and is ignored"
        ),
    ])
    func `common omissions in a document are reported as notes`(paths: String, message: String) throws {
        let output = try client(paths: paths)

        #expect(output.notes.map(\.message) == [message])
    }

    @Test func `an OpenAPI document behind a symbolic link may refer to files in subfolders`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("files-\(UUID().uuidString)")
        let parts = folder.appendingPathComponent("real/parts")
        try FileManager.default.createDirectory(at: parts, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let document = """
            openapi: 3.1.0
            info: { title: Files, version: "1" }
            paths: { /a: { get: { responses: { "200": { $ref: parts/response.yaml } } } } }
            """
        let response = "content: { application/json: { schema: { $ref: '../schema.yaml#/A' } } }"
        try Data(document.utf8).write(to: folder.appendingPathComponent("real/api.yaml"))
        try Data(response.utf8).write(to: parts.appendingPathComponent("response.yaml"))
        try Data("A: { type: integer }".utf8).write(to: folder.appendingPathComponent("real/schema.yaml"))
        let link = folder.appendingPathComponent("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder.appendingPathComponent("real"))

        let output = try ClientGenerator().output(for: link.appendingPathComponent("api.yaml"))

        #expect(output.code.contains("-> Int {"))
    }

    @Test func `schemas may refer to each other in long chains`() throws {
        let schemas = (0..<500).map { number in
            "    S\(number): { type: object, properties: { a: { $ref: '#/components/schemas/S\(number + 1)' } } }"
        }
        let last = "    S500: { type: object, properties: { a: { type: string } } }"

        let output = try client(
            returning: "{ $ref: '#/components/schemas/S0' }",
            schemas: (schemas + [last]).joined(separator: "\n")
        )

        #expect(output.types == 501)
    }

    @Test(arguments: [
        "{ anyOf: [{ type: array, items: { $ref: '#/components/schemas/A' } }, { type: 'null' }] }",
        "{ oneOf: [{ $ref: '#/components/schemas/B' }, { $ref: '#/components/schemas/A' }] }",
        "{ anyOf: [{ $ref: '#/components/schemas/B' }, { type: 'null' }] }",
        "{ oneOf: [{ $ref: '#/components/schemas/C' }] }",
    ])
    func `a union that contains itself is generated`(schema: String) throws {
        let output = try client(
            returning: "{ type: object, properties: { a: { $ref: '#/components/schemas/A' } } }",
            schemas: """
                    A: \(schema)
                    B: { type: object, required: [kind], properties: { kind: { const: b }, a: { $ref: '#/components/schemas/A' } } }
                    C: { oneOf: [{ $ref: '#/components/schemas/A' }] }
                """
        )

        let names = output.code.matches(of: /let a: \[?(\w+)/).map { String($0.1) }
        #expect(!names.isEmpty)
        for name in names { #expect(output.code.contains(" \(name): "), "\(name)") }
    }

    @Test func `an error is described in one line with file, line, column and pointer`() {
        let error = GeneratorError("bad", file: "a.yaml", line: 3, column: 4, pointer: "/paths")

        #expect(error.description == "a.yaml:3:4: bad (at /paths)")
    }
}
