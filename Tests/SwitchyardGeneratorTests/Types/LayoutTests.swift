import Testing

@testable import SwitchyardGenerator

/// The places at which the layout of `swift format` differs from the obvious one.
@Suite struct LayoutTests {
    @Test func `in generated code, the type of a long property is on a line of its own`() throws {
        let tag = String(repeating: "word ", count: 13) + "end"
        let code = try client(paths: "  /things: { get: { operationId: find, tags: [\(tag)], responses: {} } }").code

        let name = "word" + String(repeating: "Word", count: 12) + "End"
        #expect(code.contains("    let \(name):\n        Word"))
    }

    @Test func `a hyphen in a description does not begin a list in the generated comment`() throws {
        let code = try client(
            returning: "{ type: object, properties: { a: { type: string, description: One - two - three } } }"
        ).code

        #expect(code.contains("/// One – two – three."))
    }

    @Test func `in generated code, a long description of a property ends after one line`() throws {
        let text = "Word " + String(repeating: "word ", count: 60) + "end"
        let code = try client(
            returning: "{ type: object, properties: { a: { type: string, description: \(text) } } }"
        ).code

        let lines = code.split(separator: "\n").filter { $0.contains("ord word") }
        #expect(lines.count == 1)
        #expect(lines.last?.hasSuffix(" word...") == true)
        #expect(lines.allSatisfy { $0.hasPrefix("    /// ") && $0.count <= 120 })
    }

    @Test func `in generated code, the names of a long enum or structure are split into full lines`() throws {
        let values = (0..<9).map { "a_value_with_a_long_name_\($0)" }
        let properties = (0..<12).map { "a_property_with_a_long_name_\($0): { type: string }" }
        let code = try client(
            paths: """
                  /things:
                    post:
                      operationId: things_add
                      tags: [things]
                      parameters: [{ name: a, in: query, schema: { type: string, enum: [\(values.joined(separator: ", "))] } }]
                      requestBody: { content: { application/json: { schema: { type: object, properties: { \(properties.joined(separator: ", ")) } } } } }
                      responses: {}
                """
        ).code

        #expect(code.contains("    case aValueWithALongName0, aValueWithALongName1, aValueWithALongName2,"))
        #expect(code.contains("    var fieldValues: FieldValues {\n        [\n            aPropertyWithALongName0,"))
        #expect(code.split(separator: "\n").allSatisfy { $0.count <= 120 })
        let rows = code.split(separator: "\n").filter { $0.hasPrefix("    case a") }
        #expect(rows.map { $0.matches(of: /aValueWithALongName/).count }.reduce(0, +) == 9)
    }

    @Test func `the name of a deeply nested type keeps its beginning and its end`() throws {
        let path = ["the_first_of_many_properties", "the_second_of_many_properties", "the_third_of_many_properties"]
        let schema = path.reversed().reduce("{ type: object, properties: { x: { type: integer } } }") { inner, name in
            "{ type: object, properties: { \(name): \(inner) } }"
        }
        let code = try client(returning: schema).code

        let names = code.matches(of: /struct (\w+): ObjectDecodable/).map { String($0.1) }
        #expect(names.count == 4)
        #expect(names.allSatisfy { $0.count <= 70 && $0.hasPrefix("ThingsGetResponse") })
        #expect(names.contains { $0.hasSuffix("ThirdManyProperties") || $0.hasSuffix("ThirdOfManyProperties") })
    }

    @Test func `a model that two managers receive is in the file of the shared models`() throws {
        func path(_ name: String) -> String {
            """
              /\(name):
                get:
                  operationId: \(name)_get
                  tags: [\(name)]
                  responses:
                    "200":
                      description: Fine
                      content: { application/json: { schema: { $ref: "#/components/schemas/Animal" } } }

            """
        }
        let output = try client(
            paths: path("cats") + path("dogs"),
            schemas: "    Animal: { type: object, properties: { name: { type: string } } }"
        )

        let files = output.files.filter { $0.text.contains("struct Animal") }

        #expect(files.map(\.path) == ["Models/TestModels.swift"])
    }

    @Test func `a generated row of enum values stays within the line limit even with its comma`() throws {
        let values = "guest member admin super_admin".split(separator: " ")
        let code = try client(
            returning: "{ type: string, enum: [\(values.joined(separator: ", "))] }"
        ).code

        #expect(code.split(separator: "\n").allSatisfy { $0.count < 120 })
    }
}
