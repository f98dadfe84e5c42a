import Testing

@testable import SwitchyardGenerator

/// The places at which the layout of `swift format` differs from the obvious one.
@Suite struct LayoutTests {
    @Test func `the type of a long property is on a line of its own`() throws {
        let tag = String(repeating: "word ", count: 13) + "end"
        let code = try client(paths: "  /things: { get: { operationId: find, tags: [\(tag)], responses: {} } }").code

        let name = "word" + String(repeating: "Word", count: 12) + "End"
        #expect(code.contains("    let \(name):\n        Word"))
    }

    @Test func `a hyphen in a description does not begin a list`() throws {
        let code = try client(
            returning: "{ type: object, properties: { a: { type: string, description: One - two - three } } }"
        ).code

        #expect(code.contains("/// One – two – three."))
    }

    @Test func `a generated row of enum values stays within the line limit even with its comma`() throws {
        let values = "guest member admin super_admin".split(separator: " ")
        let code = try client(
            returning: "{ type: string, enum: [\(values.joined(separator: ", "))] }"
        ).code

        #expect(code.split(separator: "\n").allSatisfy { $0.count < 120 })
    }
}
