import Foundation
import Testing

@testable import SwitchyardGenerator

@Suite struct DocumentErrorTests {
    @Test(arguments: [
        ("swagger: '2.0'", "the document is of OpenAPI 2 (\"swagger\"); versions 3.0 and 3.1 are read", ""),
        ("openapi: 4.0.0", "the document is of OpenAPI 4.0.0; versions 3.0 and 3.1 are read", "/openapi"),
        ("a: 1", "the document has no \"openapi\"; versions 3.0 and 3.1 are read", ""),
        ("[1]", "the document must be an object, not a list", ""),
        ("openapi: 3.0.0\ninfo: {title: A}\npaths: {}", "the document has no operation", "/paths"),
    ])
    func `a document that is not OpenAPI 3 is rejected`(text: String, message: String, pointer: String) {
        let error = #expect(throws: GeneratorError.self) { try client(text: text) }

        #expect(error?.message == message)
        #expect(error?.pointer == pointer)
    }

    @Test(
        arguments: [
            (
                "{ $ref: '#/components/schemas/None' }", "the reference \"#/components/schemas/None\" leads to nothing",
                "/paths/~1things/get/responses/200/content/application~1json/schema"
            ),
            (
                "{ $ref: '#/components/schemas/Loop' }",
                "the reference \"#/components/schemas/Pool\" leads in a circle", nil
            ),
            ("{ $ref: '#/components/schemas/Self' }", "\"allOf\" leads in a circle", nil),
            (
                "{ $ref: 'https://x.example/y.json' }",
                "the reference leads to \"https://x.example/y.json\"; only files beside the document are read", nil
            ),
            (
                "{ $ref: '../other.yaml' }",
                "the reference leads to \"../other.yaml\", outside the folder of the document", nil
            ),
            ("{ $ref: 'other.yaml' }", "the reference leads to \"other.yaml\", which does not exist", nil),
            (
                "{ type: text }", "the type \"text\" is none of array, boolean, integer, number, object, string, null",
                nil
            ),
            (
                "{ allOf: [{ type: string }, { type: integer }] }",
                "no value fits \"allOf\": it demands a string and an integer at once", nil
            ),
            (
                "{ allOf: [{ type: object, properties: { a: {} } }, { type: string }] }",
                "no value fits \"allOf\": it demands an object and a string at once", nil
            ),
            ("[]", "a schema must be an object, not a list", nil),
            ("{ type: object, properties: 1 }", "\"properties\" must be an object, not a number", nil),
        ] as [(String, String, String?)]
    )
    func `an invalid schema is an error with its location`(schema: String, message: String, pointer: String?) {
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
        ("  a: {}", "the path \"a\" must begin with \"/\""),
        (
            "  /a: { get: { operationId: x, responses: {} }, put: { operationId: x, responses: {} } }",
            "the operationId \"x\" occurs twice"
        ),
        ("  /a: { get: { parameters: [{ in: query }] } }", "a parameter must have a \"name\""),
        (
            "  /a: { get: { parameters: [{ name: b, in: body }] } }",
            "the parameter \"b\" is in \"body\"; allowed are path, query, header, cookie"
        ),
        ("  /a: 1", "a path must be an object, not a number"),
    ])
    func `an invalid operation is an error`(paths: String, message: String) {
        let error = #expect(throws: GeneratorError.self) { try client(paths: paths) }

        #expect(error?.message == message)
        #expect(error?.pointer.hasPrefix("/paths/") == true)
    }

    @Test(arguments: [
        ("  /a/{b}: { get: { responses: {} } }", "the placeholder \"{b}\" has no parameter and is any text"),
        (
            "  /a: { get: { parameters: [{ name: c, in: query, schema: { type: string, enum: [] } }], responses: {} } }",
            "\"enum\" lists no value and is ignored"
        ),
    ])
    func `common omissions in a document cause notes`(paths: String, message: String) throws {
        let output = try client(paths: paths)

        #expect(output.notes.map(\.message) == [message])
    }

    @Test func `an error is described in one line with file, line, column and pointer`() {
        let error = GeneratorError("bad", file: "a.yaml", line: 3, column: 4, pointer: "/paths")

        #expect(error.description == "a.yaml:3:4: bad (at /paths)")
    }
}
