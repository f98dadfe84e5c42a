import Foundation
import Testing

@testable import SwitchyardGenerator

@Suite struct ModelTests {
    @Test(arguments: [
        ("{ type: string }", "-> String {"), ("{ type: integer }", "-> Int {"),
        ("{ type: integer, format: int64 }", "-> Int64 {"), ("{ type: number }", "-> Double {"),
        ("{ type: boolean }", "-> Bool {"), ("{ type: string, format: date-time }", "-> Date {"),
        ("{ type: string, format: date }", "-> CalendarDay {"), ("{ type: string, format: byte }", "-> Data {"),
        ("{ type: string, format: binary }", "-> Data {"),
        ("{ type: array, items: { type: string } }", "-> [String] {"),
        ("{ type: object }", "-> [String: JSONValue] {"), ("{}", "-> JSONValue {"), ("true", "-> JSONValue {"),
        ("{ type: object, additionalProperties: { type: integer } }", "-> [String: Int] {"),
        ("{ type: array, items: { type: [string, 'null'] } }", "-> [String?] {"),
        ("{ type: object, additionalProperties: { type: [integer, 'null'] } }", "-> [String: Int?] {"),
        ("{ type: [string, 'null'] }", "-> String? {"), ("{ type: string, nullable: true }", "-> String? {"),
        ("{ anyOf: [{ type: string }, { type: 'null' }] }", "-> String? {"),
        ("{ oneOf: [{ type: integer }, { type: number }] }", "-> Double {"),
        ("{ type: string, enum: [only] }", "-> String {"), ("{ enum: [1, 2] }", "-> Int {"),
        ("{ allOf: [{ type: string }], description: x }", "-> String {"),
        ("{ type: [integer, number] }", "-> Double {"),
        ("{ type: [string, integer] }", "    case string(String)\n    case integer(Int)\n"),
        ("{ type: [boolean, 'null', array], items: {} }", "-> ThingsGetResponse? {"),
        ("{ enum: [1, 2.5] }", "-> Double {"), ("{ enum: [true] }", "-> Bool {"),
        ("{ format: date }", "-> CalendarDay {"),
        ("{ anyOf: [{ type: string }, { type: string, format: uuid }] }", "-> String {"),
        ("{ oneOf: [{ type: string, enum: [a] }, { type: string, enum: [b] }] }", "case a, b, other(String)"),
    ])
    func `each kind of schema is mapped to its Swift type`(schema: String, expected: String) throws {
        #expect(try client(returning: schema).code.contains(expected))
    }

    @Test(arguments: [
        ("{ enum: [1, a] }", "\"enum\" has values of several types", "-> JSONValue {"),
        ("{ anyOf: [{ type: string }, {}] }", "one of the alternatives accepts any value", "-> JSONValue {"),
        (
            "{ type: array, items: [{ type: string }] }",
            "`items` is a list of schemas (a tuple), so its elements become JSONValue", "-> [JSONValue] {"
        ),
        (
            "{ type: array, prefixItems: [{ type: string }], items: { type: integer } }",
            "`prefixItems` describes a tuple, so its elements become JSONValue", "-> [JSONValue] {"
        ),
        (
            "{ prefixItems: [{ type: string }], items: false }",
            "`prefixItems` describes a tuple, so its elements become JSONValue", "-> [JSONValue] {"
        ),
        (
            "{ $ref: '#/components/schemas/Nest' }", "the schema contains itself without an object in between",
            "-> [JSONValue] {"
        ),
    ])
    func `a schema without a Swift type becomes a JSONValue and causes a note`(
        schema: String,
        message: String,
        expected: String
    ) throws {
        let nest = "    Nest: { type: array, items: { $ref: '#/components/schemas/Nest' } }"
        let output = try client(returning: schema, schemas: nest)

        #expect(output.code.contains(expected))
        #expect(output.notes.map(\.kind) == [.untyped])
        #expect(output.notes.map(\.message) == [message])
    }

    @Test func `several schemas of an allOf may each define a part of the same property`() throws {
        let code = try client(
            returning:
                "{ allOf: [{ type: object, properties: { a: { type: string } } }, { type: object, required: [a], properties: { a: { description: The nickname in short. } } }] }"
        ).code

        #expect(code.contains("    /// The nickname in short.\n    let a: String\n"))
    }

    @Test func `a generated client with public access documents its models and has their initializers`() throws {
        var options = GeneratorOptions()
        options.access = .public
        let item =
            "{ type: object, required: [name], properties: { name: { type: string }, kind: { $ref: '#/components/schemas/Kind' } }, additionalProperties: { type: string } }"

        let code = try client(
            paths: """
                  /things:
                    post:
                      operationId: things_add
                      tags: [things]
                      requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/Item' } } } }
                      responses: {}
                """,
            schemas: "    Kind: { type: string, enum: [a, b] }\n    Item: \(item)",
            options: options
        ).code

        #expect(
            code.contains(
                """
                    /// Creates a value.
                    public init(name: String, kind: Kind? = nil, additionalProperties: [String: String] = [:]) {
                        self.name = name
                        self.kind = kind
                        self.additionalProperties = additionalProperties
                    }

                """
            )
        )
        #expect(code.contains("    public var otherValues: [String: any Encodable] { additionalProperties }"))
        #expect(code.contains("    /// The text \"b\".\n    case b\n    /// A value that the document does not list."))
    }

    @Test func `equal schemas in a document become one generated type`() throws {
        let schema = "{ type: object, properties: { a: { type: string } } }"
        let code = try client(returning: "{ type: object, properties: { first: \(schema), second: \(schema) } }").code

        #expect(code.components(separatedBy: "let first: ThingsGetResponseFirst?").count == 2)
        #expect(code.components(separatedBy: "let second: ThingsGetResponseFirst?").count == 2)
    }

    @Test func `an inline schema that equals a component uses the component's type`() throws {
        let code = try client(
            returning:
                "{ type: object, properties: { a: { $ref: '#/components/schemas/User' }, b: { type: object, properties: { name: { type: string } } } } }",
            schemas: "    User: { type: object, properties: { name: { type: string } } }"
        ).code

        #expect(code.contains("let a: User?\n    let b: User?"))
    }

    @Test func `a generated recursive type is stored behind a reference`() throws {
        let code = try client(
            returning: "{ $ref: '#/components/schemas/A' }",
            schemas: """
                    A: { type: object, properties: { b: { $ref: '#/components/schemas/B' }, list: { type: array, items: { $ref: '#/components/schemas/A' } } } }
                    B: { type: object, properties: { a: { $ref: '#/components/schemas/A' } } }
                """
        ).code

        #expect(code.contains("@Indirect var b: B?\n    let list: [A]?"))
        #expect(code.contains("let a: A?"))
    }

    @Test func `the cases of a union are distinguished by a property with different values`() throws {
        let code = try client(
            returning:
                "{ oneOf: [{ type: object, properties: { kind: { const: a }, x: { type: string } }, required: [kind] }, { type: object, properties: { kind: { const: b } }, required: [kind] }] }"
        ).code

        #expect(code.contains("tag: \"kind\","))
        #expect(code.contains(".of(Self.thingsGetResponse1, tags: \"a\"),"))
        #expect(code.contains("case other(JSONValue)"))
    }

    @Test func `a union with cases that cannot be distinguished causes a note`() throws {
        let output = try client(
            returning:
                "{ oneOf: [{ type: object, properties: { a: { type: string } } }, { type: object, properties: { b: { type: string } } }] }"
        )

        #expect(output.notes.map(\.kind) == [.ambiguous])
    }

    // OpenAPI 3.1.1 section 4.8.25.
    @Test func `the name of a schema selects its case of a union besides the values of the mapping`() throws {
        let cases = "[{ $ref: '#/components/schemas/A' }, { $ref: '#/components/schemas/B' }]"
        let mapping = "{ x: A, y: '#/components/schemas/A', A2: B }"
        let code = try client(
            returning: "{ oneOf: \(cases), discriminator: { propertyName: kind, mapping: \(mapping) } }",
            schemas: """
                    A: { type: object, properties: { kind: { type: string } }, required: [kind] }
                    B: { type: object, properties: { kind: { enum: [b] } }, required: [kind] }
                """
        ).code

        #expect(code.contains(".of(Self.a, tags: \"x y A\"), .of(Self.b, tags: \"A2\")"))
    }

    @Test func `an optional discriminator with a single value is sent by default`() throws {
        let code = try client(
            paths: """
                  /things:
                    post:
                      operationId: things_add
                      requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/Item' } } } }
                      responses: {}
                """,
            schemas: """
                    Item: { oneOf: [{ $ref: '#/components/schemas/A' }, { $ref: '#/components/schemas/B' }], discriminator: { propertyName: kind } }
                    A: { type: object, properties: { kind: { enum: [a] }, other: { enum: [c] } } }
                    B: { type: object, properties: { kind: { enum: [b] } }, required: [kind] }
                """
        ).code

        #expect(code.contains("var kind: String? = \"a\"\n    var other: String?\n"))
        #expect(code.contains("var kind = \"b\"\n"))
    }

    @Test func `a required property without a schema causes a note`() throws {
        let output = try client(
            returning: "{ type: object, properties: { a: { type: string } }, required: [a, missing] }"
        )

        #expect(output.notes.map(\.kind) == [.skipped])
        #expect(output.notes.map(\.message) == ["the required property \"missing\" has no schema"])
    }

    @Test func `a type that is only received is not Encodable, and a type that is only sent is not Decodable`() throws {
        let code = try client(
            paths: """
                  /things:
                    post:
                      operationId: things_add
                      requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/New' } } } }
                      responses:
                        "200": { description: Fine, content: { application/json: { schema: { $ref: '#/components/schemas/Old' } } } }
                """,
            schemas: """
                    New: { type: object, properties: { a: { type: string } } }
                    Old: { type: object, properties: { b: { type: string } } }
                """
        ).code

        #expect(code.contains("struct New: ObjectEncodable {"))
        #expect(code.contains("struct Old: ObjectDecodable {"))
    }

    @Test(arguments: [
        ("node_id", "nodeID"), ("htmlUrl", "htmlURL"), ("PhoneNumberSid", "phoneNumberSid"), ("+1", "plus1"),
        ("-1", "minus1"), ("Date<", "dateBefore"), ("Date>", "dateAfter"), ("2fa", "value2fa"), ("userIDs", "userIDs"),
        ("X-Rate-Limit", "xRateLimit"), ("", "empty"), ("*", "star"), ("self", "selfValue"), ("größe", "größe"),
        ("🦊", "u1f98a"), ("API_KEY", "apiKey"), ("$ref", "ref"), ("a.b/c", "aBC"),
        ("cafe\u{301}Menu", "cafMenu"),
    ])
    func `a name in an OpenAPI document is converted to a valid Swift name`(name: String, expected: String) {
        #expect(SwiftName.member(of: name) == expected)
    }

    @Test func `a component that no operation uses gets no type`() throws {
        let code = try client(
            returning: "{ $ref: '#/components/schemas/Used' }",
            schemas: """
                    Used: { type: object, properties: { a: { type: string } } }
                    Unused: { type: object, properties: { b: { type: string } } }
                """
        ).code

        #expect(code.contains("struct Used"))
        #expect(!code.contains("Unused"))
    }

    @Test func `generated names do not shadow names of Swift and of the library`() throws {
        let code = try client(
            returning: "{ $ref: '#/components/schemas/Task' }",
            schemas: "    Task: { type: object, properties: { a: { type: string } } }"
        ).code

        #expect(code.contains("struct TaskModel: ObjectDecodable {"))
    }
}
