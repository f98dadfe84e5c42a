import Foundation
import SwitchyardClient
import SwitchyardHTTP
import Testing

@Suite struct ParametersTests {
    @Test func `a parameters literal accepts constants, variables, arrays and nil`() {
        let page = 2
        let name: String? = nil

        let parameters: Parameters = ["page": page, "name": name, "tags": ["a", "b"], "nested": ["x": 1], "on": true]

        #expect(parameters["page"] == .integer(2))
        #expect(parameters["name"] == .null)
        #expect(parameters["tags"] == .array([.string("a"), .string("b")]))
        #expect(parameters["nested"] == .dictionary(["x": 1]))
        #expect(parameters["on"] == .bool(true))
    }

    @Test func `a parameter name may occur repeatedly, and its values keep their order`() {
        var parameters: Parameters = ["a": 1, "a": 2]
        parameters.append("a", 3)

        #expect(parameters.items.map(\.value) == [.integer(1), .integer(2), .integer(3)])
    }

    @Test func `setting a parameter replaces all values of its name at the position of the first value`() {
        var parameters: Parameters = ["a": 1, "b": 2, "a": 3]

        parameters["a"] = .integer(9)

        #expect(parameters == ["a": 9, "b": 2])
    }

    @Test func `setting a parameter to an optional sets or removes a value of any type`() {
        var parameters: Parameters = ["q": "old", "page": 1]

        parameters.set("q", Optional("new"))
        parameters.set("tags", ["a", "b"])
        parameters.set("page", Int?.none)

        #expect(parameters == ["q": "new", "tags": ["a", "b"]])
    }

    @Test func `setting a parameter to nil removes its name`() {
        var parameters: Parameters = ["a": 1, "b": 2, "a": 3]

        parameters["a"] = nil

        #expect(parameters == ["b": 2])
    }

    @Test(arguments: [(true, 9), (false, 1)])
    func `merging parameters overrides existing values or keeps them`(overriding: Bool, expected: Int64) {
        var parameters: Parameters = ["a": 1, "b": 2]

        parameters.merge(["a": 9, "c": 3], overriding: overriding)

        #expect(parameters["a"] == .integer(expected))
        #expect(parameters.count == 3)
    }

    @Test func `the elements of sets and dictionaries are sorted in parameters`() {
        let parameters: Parameters = ["set": Set([10, 9, 1]), "map": ["b": 1, "a": 2]]

        #expect(parameters["set"] == .array([.integer(1), .integer(9), .integer(10)]))
        #expect(parameters["map"] == .dictionary(["a": 2, "b": 1]))
    }

    // The order must not depend on the internal order of a set.
    @Test func `sets of bytes and of mixed values have a fixed order in parameters`() {
        let bytes: Parameters = ["set": Set((0..<50).map { Data([UInt8($0)]) })]
        let mixed: Set<ParameterValue> = [10, "5", 9, "10", true]

        #expect(bytes["set"] == .array((0..<50).map { .data(Data([UInt8($0)])) }))
        #expect(mixed.parameterValue == .array([9, 10, "10", "5", true]))
    }

    @Test func `numbers of every size keep their value as parameters`() {
        let parameters: Parameters = ["max": UInt64.max, "min": Int64.min, "small": Int8(-1), "float": Float(0.1)]

        #expect(parameters["max"] == .unsigned(.max))
        #expect(parameters["min"] == .integer(.min))
        #expect(parameters["float"] == .double(0.1))
    }

    @Test func `a RawRepresentable value is encoded as its raw value`() {
        enum Order: String, ParameterConvertible { case newest }

        let parameters: Parameters = ["order": Order.newest]

        #expect(parameters["order"] == .string("newest"))
    }

    @Test(arguments: [
        ("a=b&c=d", ["a", "b", "c", "d"]), ("a+b=%20", ["a b", " "]), ("a", ["a", ""]), ("&&a=&", ["a", ""]),
        ("%zz=%F0%9F", ["%zz", "\u{FFFD}"]),
    ])
    func `parameters are parsed from the text of a form`(text: String, expected: [String]) {
        let items = Parameters(parsing: text).items

        #expect(items.flatMap { [$0.key, $0.value.text] } == expected)
    }
}

extension ParameterValue {
    fileprivate var text: String {
        if case .string(let text) = self { return text }
        return ""
    }
}
