import SwitchyardServices
import Testing

@testable import SwitchyardAPI
@testable import SwitchyardRequests

@Suite struct JSONShapeTests {
    private static let user = JSONShape.object([
        "id": .integer,
        "name": .string.length(1...5),
        "nick": .optional(.string),
        "boss": .nullable(.object(["id": .integer])),
    ])

    private static func violation(_ value: JSONValue, _ shape: JSONShape = user) -> ShapeViolation? {
        do throws(ShapeViolation) {
            try shape.check(value)
            return nil
        } catch {
            return error
        }
    }

    @Test func `a JSON shape distinguishes required, optional and nullable keys`() {
        #expect(Self.violation(["id": 1, "name": "a", "boss": nil]) == nil)
        #expect(Self.violation(["id": 1, "name": "a", "boss": ["id": 2], "nick": "n"]) == nil)
        #expect(Self.violation(["id": 1, "name": "a"]) == .init(.missingKey, keyPath: "boss"))
        #expect(Self.violation(["id": nil, "name": "a", "boss": nil]) == .init(.null, keyPath: "id"))
        #expect(
            Self.violation(["id": 1, "name": "a", "boss": ["id": "2"]])
                == .init(.kind(expected: "integer", found: "string"), keyPath: "boss.id")
        )
    }

    @Test func `a required member of a JSON shape must be present, even if its own shape is optional`() {
        let shape = JSONShape.object(["nick": JSONShape.optional(.string).required])

        #expect(Self.violation([:], shape) == .init(.missingKey, keyPath: "nick"))
        #expect(Self.violation(["nick": "n"], shape) == nil)
    }

    @Test func `ResponseRules return the JSON shape that was set`() {
        var rules = ResponseRules(shape: .string)
        #expect(rules.shape?.accepts("a") == true && rules.shape?.accepts(1) == false)

        rules.shape = nil
        #expect(rules.shape == nil)
    }

    @Test func `a JSON shape distinguishes Booleans and numbers`() {
        #expect(!JSONShape.number.accepts(true))
        #expect(!JSONShape.bool.accepts(1))
        #expect(JSONShape.integer.accepts(1.0))
        #expect(!JSONShape.integer.accepts(1.5))
    }

    @Test func `every kind of JSON shape accepts or rejects values of every kind without a crash`() {
        let values: [JSONValue] = [nil, true, 1, "a", [], [1], [:], ["a": [nil]]]
        let shapes: [JSONShape] = [
            .any, .null, .bool, .number, .integer, .string, .object(["a": .array(of: .string)]), .array(of: .object()),
            .nullable(.string), .anyOf([.string, .null]), .anyOf([]),
        ]
        for shape in shapes { #expect(values.filter(shape.accepts).count <= values.count) }
        #expect(values.filter(JSONShape.any.accepts).count == values.count)
        #expect(values.filter(JSONShape.anyOf([]).accepts).isEmpty)
    }

    @Test func `an invalid pattern in a JSON shape matches nothing, and the error gives the reason`() {
        #expect(
            Self.violation("a", .string.pattern("("))
                == .init(.rule("pattern (, which is not a valid regular expression"), keyPath: "")
        )
    }

    @Test func `JSON shape rules restrict the values, elements and further members that are accepted`() {
        #expect(Self.violation(["id": 1, "name": "toolong", "boss": nil])?.keyPath == "name")
        #expect(JSONShape.number.range(1...3).accepts(2) && !JSONShape.number.range(1...3).accepts(4))
        #expect(JSONShape.string.pattern("^a+$").accepts("aa") && !JSONShape.string.pattern("^a+$").accepts("b"))
        #expect(JSONShape.any.oneOf([1, "x"]).accepts("x") && !JSONShape.any.oneOf([1, "x"]).accepts("y"))
        #expect(Self.violation(["a": 1, "b": 2], .object(["a": .any], others: .forbidden))?.keyPath == "b")
        #expect(Self.violation(["a": 1, "b": 2], .object(["a": .any], others: .shaped(.string)))?.keyPath == "b")
        #expect(!JSONShape.array().count(1...2).accepts([]))
        #expect(!JSONShape.number.rule("even") { $0.int.map { $0 % 2 == 0 } ?? true }.accepts(3))
    }

    @Test func `a JSON shape compares texts by Unicode scalars`() {
        let shape = JSONShape.any.oneOf(["caf\u{E9}", ["caf\u{E9}": 1]])

        #expect(shape.accepts("caf\u{E9}") && shape.accepts(["caf\u{E9}": 1]))
        #expect(!shape.accepts("cafe\u{301}") && !shape.accepts(["cafe\u{301}": 1]))
    }

    @Test(arguments: [
        ("9007199254740993", 9_007_199_254_740_992), ("1.5", 1), ("1e400", 1e300),
    ])
    func `a JSON shape rejects a number beyond its bound, whichever digit exceeds the bound`(
        text: String,
        bound: Double
    ) throws {
        let (above, below) = (try JSONValue(parsing: text.utf8), try JSONValue(parsing: "-\(text)".utf8))

        #expect(JSONShape.number.minimum(bound).accepts(above) && JSONShape.number.maximum(-bound).accepts(below))
        #expect(!JSONShape.number.maximum(bound).accepts(above) && !JSONShape.number.minimum(-bound).accepts(below))
        #expect(!JSONShape.number.range(-bound...bound).accepts(above))
        #expect(!JSONShape.number.range(-bound...bound).accepts(below))
        #expect(JSONShape.number.range(-bound...bound).accepts(.number(try #require(JSONNumber(bound)))))
    }

    @Test func `a JSON shape compares numbers above Int64.max including the last digit`() throws {
        let bound = 9_223_372_036_854_775_808.0

        #expect(JSONShape.number.maximum(bound).accepts(try JSONValue(parsing: "9223372036854775808".utf8)))
        #expect(!JSONShape.number.maximum(bound).accepts(try JSONValue(parsing: "9223372036854775809".utf8)))
    }
}
