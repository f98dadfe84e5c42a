import Testing

@testable import SwitchyardGenerator

/// The styles of parameters in the OpenAPI Specification 3.1.1, section 4.8.12.
@Suite struct ParameterStyleTests {
    /// The code for one GET operation with these lines of YAML.
    private func code(_ path: String, _ lines: String) throws -> String {
        try client(
            paths: """
                  \(path):
                    get:
                      operationId: things_do
                      tags: [things]
                      \(lines)
                """
        ).code
    }

    private static let object = "{ type: object, properties: { R: { type: integer } } }"

    @Test(arguments: [
        ("in: query", "query: [\"f\": parameter(f)], exploded: [\"f\"]"),
        ("in: query, explode: false", "query: [\"f\": parameter(f).joined(by: \",\")]"),
        ("in: query, style: pipeDelimited", "query: [\"f\": parameter(f).joined(by: \"|\")]"),
        ("in: query, style: spaceDelimited", "query: [\"f\": parameter(f).joined(by: \" \")]"),
        ("in: query, style: deepObject", "query: [\"f\": parameter(f)])"),
        ("in: header", "headers: [\"f\": parameter(f)]"),
        ("in: header, explode: true", "headers: [\"f\": parameter(f).pairs]"),
    ])
    func `an object in a parameter is sent in the style that the document specifies`(place: String, expected: String)
        throws
    {
        let code = try code("/things", "parameters: [{ name: f, \(place), schema: \(Self.object) }]")

        #expect(code.contains(expected))
    }

    @Test(arguments: [
        ("{ type: array, items: { type: [integer, \"null\"] } }", "|"),
        ("{ oneOf: [{ type: string }, { type: array, items: { type: string } }] }", "|"),
    ])
    func `a list that is one of several types is sent in the style that the document specifies`(
        schema: String,
        separator: String
    ) throws {
        let code = try code("/things", "parameters: [{ name: f, in: query, style: pipeDelimited, schema: \(schema) }]")

        #expect(code.contains("query: [\"f\": parameter(f).joined(by: \"\(separator)\")]"))
    }

    @Test(arguments: [
        ("{ type: array, items: { type: string } }", "ids.joined(by: \",\") ?? \"\""),
        (object, "parameter(ids).joined(by: \",\") ?? \"\""),
    ])
    func `a required list or object is sent even if it is empty`(schema: String, expected: String) throws {
        let parameter = "{ name: ids, in: query, required: true, explode: false, schema: \(schema) }"

        let code = try code("/things", "parameters: [\(parameter)]")

        #expect(code.contains("query: [\"ids\": \(expected)]"))
    }

    @Test(arguments: [1, 40])
    func `a parameter can be a union that contains itself`(layers: Int) throws {
        let unions = (0..<layers).map { layer in
            let others = [1, 2].map { "{ $ref: \"#/components/schemas/U\((layer + $0) % layers)\" }" }
            return "    U\(layer): { oneOf: [{ type: string }, { type: integer }, \(others.joined(separator: ", "))] }"
        }
        let field = "{ type: object, properties: { u: { $ref: \"#/components/schemas/U0\" } } }"
        let form = "{ application/x-www-form-urlencoded: { schema: \(field), encoding: { u: { explode: false } } } }"
        let output = try client(
            paths: """
                  /things:
                    post:
                      operationId: things_do
                      tags: [things]
                      parameters: [{ name: u, in: query, schema: { $ref: "#/components/schemas/U0" } }]
                      requestBody: { content: \(form) }
                """,
            schemas: unions.joined(separator: "\n")
        )

        #expect(output.code.contains("query: [\"u\": parameter(u)]"))
    }

    @Test(arguments: [
        ("", "{a}", "a.joined(by: \",\")"), ("style: label", "{.a}", "a"),
        ("style: label, explode: true", "{.a*}", "a"),
        ("style: matrix", "{;a}", "a"), ("style: matrix, explode: true", "{;a*}", "a"),
    ])
    func `a list in a path is sent in the style that the document specifies`(
        style: String,
        variable: String,
        value: String
    ) throws {
        let schema = "{ type: array, items: { type: string } }"
        let rest = style.isEmpty ? "" : ", \(style)"
        let code = try code(
            "/things/{a}",
            "parameters: [{ name: a, in: path, required: true, schema: \(schema)\(rest) }]"
        )

        #expect(code.contains("\"things/\(variable)\", values: [\"a\": \(value)]"))
    }

    @Test(arguments: [("", "{a}"), (", explode: true", "{a*}"), (", style: matrix", "{;a}")])
    func `an object in a path is sent in the style that the document specifies`(style: String, variable: String) throws
    {
        let code = try code(
            "/things/{a}",
            "parameters: [{ name: a, in: path, required: true, schema: \(Self.object)\(style) }]"
        )

        #expect(code.contains("\"things/\(variable)\", values: [\"a\": parameter(a)]"))
    }

    @Test func `a placeholder that is not ASCII is percent-encoded in the path of a generated call`() throws {
        let code = try code(
            "/things/{größe}",
            "parameters: [{ name: größe, in: path, required: true, schema: { type: string } }]"
        )

        #expect(code.contains("things/{gr%C3%B6%C3%9Fe}\", values: [\"gr%C3%B6%C3%9Fe\": größe]"))
    }

    @Test func `two placeholders whose Swift names are alike keep their places`() throws {
        let code = try code("/things/{item-id}/{itemID}", "responses: {}")

        #expect(code.contains("things/{itemID}/{itemID2}\", values: [\"itemID\": itemID, \"itemID2\": itemID2]"))
    }

    @Test func `a matrix parameter has the name that the document specifies`() throws {
        let code = try code(
            "/things/{item-id}",
            "parameters: [{ name: item-id, in: path, style: matrix, schema: { type: string } }]"
        )

        #expect(code.contains("things/{;item%2Did}\", values: [\"item%2Did\": itemID]"))
    }

    @Test(arguments: [
        ("explode: false", "joined: [\"a\": \",\", \"o\": \",\"]"),
        ("style: pipeDelimited", "joined: [\"a\": \"|\", \"o\": \"|\"]"),
        ("style: form", "exploded: [\"o\"]"), ("style: deepObject", "deepLists: [\"a\"]"),
        ("contentType: text/plain", "body: .form(encoding: body)"),
    ])
    func `a field of a form is sent in the style that the document specifies`(style: String, expected: String) throws {
        let list = "{ type: array, items: { type: string } }"
        let schema = "{ type: object, properties: { a: \(list), o: \(Self.object), t: { type: string } } }"
        let encoding = "{ a: { \(style) }, o: { \(style) }, t: { \(style) } }"
        let content = "{ application/x-www-form-urlencoded: { schema: \(schema), encoding: \(encoding) } }"
        let code = try code("/things", "requestBody: { content: \(content) }")

        #expect(code.contains(expected))
    }

    @Test func `an operation overrides a header parameter of its path, whatever the case of the names`()
        throws
    {
        let output = try client(
            paths: """
                  /things:
                    parameters: [{ name: X-Trace, in: header, schema: { type: string } }]
                    get:
                      operationId: things_do
                      tags: [things]
                      parameters: [{ name: x-trace, in: header, required: true, schema: { type: integer } }]
                      responses: {}
                """
        )

        #expect(output.code.contains("func `do`(xTrace: Int) async"))
        #expect(output.code.contains("headers: [\"x-trace\": xTrace]"))
    }
}
