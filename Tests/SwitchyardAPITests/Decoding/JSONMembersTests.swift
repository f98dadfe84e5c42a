import Foundation
import SwitchyardAPI
import SwitchyardServices
import Testing

/// Names of JSON object members, which are compared by Unicode scalars.
@Suite struct JSONMembersTests {
    private static let text = "{\"e\u{301}\":2,\"\u{E9}\":1}"

    @Test func `canonically equivalent JSON names with different scalars are two members`() throws {
        let value = try JSONValue(parsing: Self.text.utf8)

        #expect(value["\u{E9}"] == 1)
        #expect(value["e\u{301}"] == 2)
        #expect(value.members?.count == 2)
        #expect(value.text.utf8.count == Self.text.utf8.count)
        #expect(try JSONValue(parsing: value.text.utf8) == value)
        #expect(value.removingNulls() == value)
    }

    @Test func `a lookup finds a canonically equivalent JSON name if the exact name is missing`() throws {
        let value = try JSONValue(parsing: #"{"e\u0301":2}"#.utf8)

        #expect(value["\u{E9}"] == 2)
        #expect(value.members?.contains(name: "\u{E9}") == false)
        #expect(value.object?["\u{E9}"] == 2)
    }

    @Test func `JSON objects are equal only if their names have the same scalars`() {
        #expect(["\u{E9}": 1] as JSONValue != ["e\u{301}": 1])
        #expect(["a": 1, "b": 2] as JSONValue == ["b": 2, "a": 1])
        #expect(Set([["\u{E9}": 1] as JSONValue, ["e\u{301}": 1]]).count == 2)
    }

    @Test func `a JSON member is replaced and removed by its exact name`() {
        var members: JSONMembers = ["a": 1, "a": 2, "\u{E9}": 3]
        #expect(members["a"] == 2)

        members["e\u{301}"] = 4
        members["a"] = nil

        #expect(members.keys.sorted { $0.utf8.count < $1.utf8.count } == ["\u{E9}", "e\u{301}"])
        #expect(members["\u{E9}"] == 3 && members["e\u{301}"] == 4)
    }
}
