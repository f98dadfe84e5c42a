import Testing

@testable import SwitchyardGenerator

@Suite struct MethodTests {
    /// The code for one operation with these lines of YAML.
    private func code(_ path: String = "/things", _ method: String = "post", _ lines: String) throws -> String {
        try client(
            paths: """
                  \(path):
                    \(method):
                      operationId: things_do
                      tags: [things]
                \(lines.split(separator: "\n").map { "      \($0)" }.joined(separator: "\n"))
                """
        ).code
    }

    @Test func `a generated call sends JSON with the content type that the document declares for it`() throws {
        let schema = "{ type: array, items: { type: string } }"
        let code = try code(
            "/things",
            "patch",
            "requestBody: { content: { application/json-patch+json: { schema: \(schema) } } }"
        )

        #expect(code.contains("headers: [\"Content-Type\": \"application/json-patch+json\"]"))
    }

    @Test func `a generated call sends a required nullable property as null`() throws {
        let schema =
            "{ type: object, required: [a], properties: { a: { type: [string, 'null'] }, b: { type: string } } }"
        let code = try code("/things", "post", "requestBody: { content: { application/json: { schema: \(schema) } } }")

        #expect(code.contains("static let names = FieldNames(\"a b\", nulls: \"a\")"))
        #expect(code.contains("var fieldValues: FieldValues { [a, b] }"))
    }

    @Test func `every cookie of an operation is sent as the document specifies its value`() throws {
        let cookies = [
            "{ name: session, in: cookie, required: true, schema: { type: string } }",
            "{ name: kind, in: cookie, schema: { type: string, enum: [a, b] } }",
            "{ name: ids, in: cookie, explode: false, schema: { type: array, items: { type: integer } } }",
        ]
        let output = try client(
            paths: """
                  /things:
                    get:
                      operationId: things_do
                      tags: [things]
                      parameters: [\(cookies.joined(separator: ", "))]
                      responses: {}
                """
        )

        #expect(
            output.code.contains(
                "Parameters.cookies([\"session\": session, \"kind\": kind, \"ids\": ids])"
            )
        )
        #expect(output.files.contains { $0.text.contains("static func cookies(_ cookies: Parameters) -> String? {") })
    }

    @Test(arguments: [
        (
            "parameters: [{ name: f, in: query, content: { application/json: { schema: { type: object } } } }]",
            "query: [\"f\": jsonText(f)]"
        ),
        (
            "parameters: [{ name: f, in: query, style: deepObject, schema: { anyOf: [{ type: array, items: { type: string } }, { type: boolean }] } }]",
            "query: [\"f\": parameter(f)], deepLists: [\"f\"]"
        ),
        (
            "requestBody: { required: true, content: { application/json: { schema: { type: string } } } }",
            "call.allowsUnusualBody = true"
        ),
        ("requestBody: { content: { text/csv: { schema: { type: string } } } }", "body: RequestBody = .none)"),
        (
            "requestBody: { content: { application/x-www-form-urlencoded: { schema: { type: object, properties: {} } } } }",
            "func `do`() async"
        ),
    ])
    func `a parameter or a body of an unusual kind is sent in the form that the document specifies`(
        lines: String,
        expected: String
    ) throws {
        #expect(try code("/things", "get", lines).contains(expected))
    }

    @Test func `a generated call returns an XML response as bytes, and the generator prints a note`() throws {
        let output = try client(
            paths: """
                  /things:
                    get:
                      operationId: things_do
                      tags: [things]
                      responses: { "200": { content: { application/xml: { schema: { type: object } } } } }
                """
        )

        #expect(output.code.contains("func `do`() async throws(APIError) -> Data {"))
        #expect(output.notes.map(\.message) == ["an XML response is returned as bytes"])
    }

    @Test func `a generated call returns responses with different schemas as a union`() throws {
        func response(_ type: String) -> String {
            "{ content: { application/json: { schema: { type: \(type) } } } }"
        }
        let responses = "responses: { \"200\": \(response("string")), \"201\": \(response("integer")) }"

        let code = try code("/things", "post", responses)

        #expect(code.contains("    case string(String)\n    case integer(Int)\n"))
    }

    @Test func `a form part has the content type that the document specifies unless it specifies several`() throws {
        let properties =
            "{ note: { type: string }, size: { type: integer }, meta: { type: object, properties: { a: { type: string } } } }"
        let encoding =
            "{ note: { contentType: text/markdown }, size: { contentType: 'a/b, c/d' }, meta: { contentType: application/x+json }, none: {} }"
        let code = try code(
            "/things",
            "post",
            "requestBody: { content: { multipart/form-data: { schema: { type: object, properties: \(properties) }, encoding: \(encoding) } } }"
        )

        #expect(code.contains("form.add(\"note\", note, contentType: \"text/markdown\")"))
        #expect(code.contains("form.add(\"size\", size)"))
        #expect(code.contains("try form.add(\"meta\", json: meta, contentType: \"application/x+json\")"))
    }

    @Test func `a required parameter that allows a single value has that value as its default`() throws {
        let code = try code(
            "/things",
            "get",
            "parameters: [{ name: a, in: query, required: true, schema: { const: x } }]"
        )

        #expect(code.contains("func `do`(a: String = \"x\")"))
    }

    @Test func `a generated call sends a query in the operation's path, but not a fragment`() throws {
        let code = try code(
            "/things?beta=true#two",
            "get",
            "parameters: [{ name: a, in: query, schema: { type: string } }]"
        )

        #expect(code.contains("APIConfiguration(.get, \"things\", query: [\"a\": a, \"beta\": \"true\"])"))
    }

    @Test func `a generated call takes a body of any content type as bytes or a file`() throws {
        let code = try code(
            "/things",
            "put",
            "requestBody: { required: true, content: { '*/*': { schema: { type: string } } } }"
        )

        #expect(code.contains("body: RequestBody)"))
    }

    @Test(arguments: [
        ("get", "If-None-Match", "200", true), ("get", "If-Modified-Since", "304", true),
        ("get", "If-Modified-Since", "200", false), ("get", "If-Match", "304", false),
        ("put", "If-None-Match", "304", false),
    ])
    func `only a generated GET that can be revalidated has a cache policy`(
        method: String,
        field: String,
        status: String,
        hasPolicy: Bool
    ) throws {
        let code = try code(
            "/things",
            method,
            "parameters: [{ name: \(field), in: header, schema: { type: string } }]\nresponses: { \"\(status)\": {} }"
        )

        #expect(code.contains("cache: CachePolicy = CachePolicy()") == hasPolicy)
        #expect(code.contains("case notModified = 1304") == (hasPolicy && status == "304"))
        #expect(code.contains("\"\(field)\": if"))
    }

    @Test(arguments: [
        ("{ type: string, format: binary }", "var file: FilePart?"),
        ("{ type: string, contentEncoding: binary }", "var file: FilePart?"),
        ("{ type: string, contentMediaType: application/octet-stream }", "var file: FilePart?"),
        ("{ type: string, contentMediaType: image/png }", "var file: FilePart?"),
        ("{ type: array, items: { type: string, format: binary } }", "var file: [FilePart]?"),
        ("{ anyOf: [{ type: string, format: binary }, { type: 'null' }] }", "var file: FilePart?"),
        (
            "{ oneOf: [{ type: string, format: binary }, { type: array, items: { type: string, format: binary } }] }",
            "var file: [FilePart]?"
        ),
    ])
    func `a body with files is a multipart form even if the document also allows JSON`(
        property: String,
        expected: String
    ) throws {
        let schema = "{ schema: { type: object, properties: { file: \(property) } } }"
        let code = try code(
            "/things",
            "post",
            "requestBody: { content: { application/json: \(schema), multipart/form-data: \(schema) } }"
        )

        #expect(code.contains(expected))
        #expect(code.contains("func add(to form: inout MultipartForm)"))
    }

    @Test(arguments: [
        "{ type: string, format: binary }",
        "{ oneOf: [{ type: string, format: binary }, { type: object, properties: { id: { type: string } } }] }",
    ])
    func `an operation with a JSON body and a form with files has a method for each`(file: String) throws {
        let json = "{ schema: { type: object, properties: { address: { type: string } } } }"
        let form = "{ schema: { type: object, properties: { file: \(file) } } }"
        let output = try client(
            paths: """
                  /things:
                    post:
                      operationId: things_add
                      tags: [things]
                      requestBody: { content: { multipart/form-data: \(form), application/json: \(json) } }
                      responses: {}
                """
        )

        #expect(output.code.contains("func add(body: ThingsAddBody? = nil) async throws(APIError) {"))
        #expect(output.code.contains("func add(form body: ThingsAddForm) async throws(APIError) {"))
        #expect(output.code.contains("var file: FilePart?"))
        #expect(output.notes == [])
    }

    @Test func `a part of a form that can be a file or something else is a file, and causes a note`() throws {
        let file = "{ oneOf: [{ type: string, format: binary }, { type: object, properties: { id: {} } }] }"
        let output = try client(
            paths: """
                  /things:
                    post:
                      tags: [things]
                      requestBody:
                        content: { multipart/form-data: { schema: { type: object, properties: { file: \(file) } } } }
                      responses: {}
                """
        )

        #expect(output.code.contains("var file: FilePart?"))
        #expect(output.notes.map(\.message) == ["the part \"file\" of the form is always a file"])
    }

    @Test func `a generated call sends a body without files as JSON if the document also allows a form`() throws {
        let schema = "{ schema: { type: object, properties: { name: { type: string } } } }"
        let code = try code(
            "/things",
            "post",
            "requestBody: { content: { multipart/form-data: \(schema), application/json: \(schema) } }"
        )

        #expect(code.contains("ObjectEncodable"))
    }

    @Test func `the name of a generated parameter gets a number if an option of the library has the same name`() throws
    {
        let code = try code(
            "/things",
            "get",
            """
            parameters:
              - { name: cache, in: query, schema: { type: string } }
              - { name: If-None-Match, in: header, schema: { type: string } }
            """
        )

        #expect(code.contains("cache2: String? = nil,"))
        #expect(code.contains("query: [\"cache\": cache2]"))
    }

    @Test func `the name of a generated response method gets a number if another operation already has that name`()
        throws
    {
        let response = "responses: { '200': { headers: { ETag: {} }, content: { text/plain: {} } } }"
        let code = try client(
            paths: """
                  /a: { get: { operationId: find, tags: [things], \(response) } }
                  /b: { get: { operationId: findResponse, tags: [things], responses: {} } }
                """
        ).code

        #expect(code.contains("func findResponse2() async throws(APIError) -> APIResponse<String> {"))
        #expect(code.contains("try await findResponse2().value"))
    }
}
