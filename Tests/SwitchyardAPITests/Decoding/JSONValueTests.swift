import Foundation
import SwitchyardServices
import Testing

@testable import SwitchyardAPI

@Suite struct JSONValueTests {
    private static func parse(_ text: String) throws(DecodingFailure) -> JSONValue {
        try JSONValue(parsing: text.utf8)
    }

    @Test func `JSON text becomes a tree with access by key path`() throws {
        let value = try Self.parse(#"{"data":{"items":[{"name":"a"},{"name":"b"}]},"ok":true,"none":null}"#)

        #expect(value.value(at: "data.items.1.name")?.string == "b")
        #expect(value["ok"]?.bool == true)
        #expect(value["none"]?.isNull == true)
        #expect(value["data"]?["items"]?[2] == nil)
        #expect(value["ok"]?["deeper"] == nil)
    }

    @Test func `no digit of a JSON number is lost`() throws {
        #expect(try Self.parse("12345678901234567890123").number?.text == "12345678901234567890123")
        #expect(try Self.parse("9007199254740993").int == 9_007_199_254_740_993)
        #expect(try Self.parse("18446744073709551615").number?.unsigned == .max)
        #expect(try Self.parse("1e2").int == 100)
        #expect(try Self.parse("1.5").int == nil)
        #expect(try Self.parse("1e400").double == .infinity)
    }

    @Test func `JSON numbers are equal regardless of their notation, and a JSON Boolean is not a number`() throws {
        #expect(try Self.parse("1.0") == Self.parse("1"))
        #expect(try Self.parse("1.0").hashValue == Self.parse("1").hashValue)
        #expect(try Self.parse("1") != Self.parse("true"))
        #expect(try Self.parse("0.1") != Self.parse("0.2"))
    }

    @Test(arguments: [
        ("1e30", "1000000000000000000000000000000", true), ("-0.0", "0", true), ("2.50e-400", "0.25e-399", true),
        ("1e400", "1e500", false), ("100000000000000000001.0", "100000000000000000002.0", false),
        ("0.1", "0.10000000000000000001", false), ("1e30", "-1e30", false),
    ])
    func `JSON numbers are compared by all their digits`(left: String, right: String, areEqual: Bool) throws {
        let (left, right) = (try Self.parse(left), try Self.parse(right))

        #expect((left == right) == areEqual)
        #expect(!areEqual || left.hashValue == right.hashValue)
    }

    @Test(arguments: [
        ("", 0), ("[1,]", 3), ("{\"a\" 1}", 5), ("[1 2]", 3), ("tru", 0), ("\"a", 2), ("[1]x", 3), ("-", 1), ("01", 1),
        ("\"\u{1}\"", 1), ("\"\\x\"", 2), ("\"\\ud800\"", 7), ("[", 1), ("1.", 2), ("1e+", 3),
    ])
    func `the error for invalid JSON has the byte offset of the mistake`(text: String, offset: Int) {
        #expect(throws: DecodingFailure(.malformed(offset: offset))) { try Self.parse(text) }
    }

    @Test func `JSON names with different forms of an accent are different names`() throws {
        let value = try Self.parse("{\"\\u00e9\":1,\"e\\u0301\":2}")

        #expect(value == ["\u{E9}": 1, "e\u{301}": 2])
    }

    @Test func `escapes and surrogate pairs in JSON are decoded`() throws {
        #expect(try Self.parse(#""a\u00e9\ud83d\ude00\n\/""#).string == "aé😀\n/")
    }

    @Test func `the nesting depth of JSON is limited, however deep the text is`() {
        let deep = String(repeating: "[", count: 1_000_000)

        #expect(throws: DecodingFailure(.tooDeep(limit: 128))) { try Self.parse(deep) }
        #expect(throws: Never.self) {
            try Self.parse(String(repeating: "[", count: 128) + String(repeating: "]", count: 128))
        }
    }

    @Test func `the JSON parser skips a byte order mark and rejects other encodings than UTF-8`() throws {
        #expect(try Self.parse("\u{FEFF}1").int == 1)
        #expect(throws: DecodingFailure.self) { try JSONValue(parsing: [0xFF, 0xFE, 0x31, 0x00]) }
        #expect(throws: DecodingFailure.self) { try JSONValue(parsing: [0x22, 0xC3, 0x28, 0x22]) }
    }

    @Test func `a JSON value equals itself after it is written and parsed again`() throws {
        let value: JSONValue = ["b": [1, 2.5, "x\"\\\n\u{1}é", nil, true], "a": ["c": [:]]]

        #expect(try JSONValue(parsing: value.data) == value)
        #expect(value.text.hasPrefix(#"{"a":{"c":{}},"b":[1,2.5,"#))
    }

    @Test func `null members of a JSON value are removed at any depth`() throws {
        let value: JSONValue = ["a": nil, "b": [nil, 1, ["c": nil]]]

        #expect(value.removingNulls() == ["b": [1, [:]]])
    }

    @Test func `a model can have a JSONValue member, which holds any JSON`() throws {
        struct Model: Codable, Equatable { var extra: JSONValue }
        let text = Data(#"{"extra":{"a":[1,-2,1.5,"x",null,false,18446744073709551615]}}"#.utf8)
        let model = try JSONDecoder().decode(Model.self, from: text)

        #expect(model.extra == ["a": [1, -2, 1.5, "x", nil, false, .number(JSONNumber(UInt64.max))]])
        #expect(try JSONDecoder().decode(Model.self, from: JSONEncoder().encode(model)) == model)
    }

    private struct Model: Codable, Equatable { var extra: JSONValue }

    @Test(arguments: [
        "12345678901234567890", "-9223372036854775808", "18446744073709551616", "0.1234567890123456789", "0.1",
        "-1.5", "12345678901234567890123456789012345678", "3.141592653589793238462643383279502884", "1e-20", "1.5e300",
        "-1e-300", "9007199254740993.5", "0", "-0.0", "1e2",
    ])
    func `a number in a model keeps its value when it is decoded and encoded`(text: String) throws {
        let model = try JSONDecoder().decode(Model.self, from: Data(#"{"extra":[\#(text)]}"#.utf8))
        let back = try JSONValue(parsing: JSONEncoder().encode(model))

        #expect(try model.extra == [Self.parse(text)])
        #expect(try back["extra"] == [Self.parse(text)])
    }

    @Test(arguments: [
        "0.1234567890123456789", "12345678901234567890123456789012345678", "-9007199254740993.5", "0.1", "1.5",
        "-3.1415926535897932384626433832795028841", "1.00000000000000000001", "4503599627370497.25",
    ])
    func `a number in a model keeps its digits when it is decoded and encoded`(text: String) throws {
        let model = try JSONDecoder().decode(Model.self, from: Data(#"{"extra":[\#(text)]}"#.utf8))
        let back = try JSONValue(parsing: JSONEncoder().encode(model))

        #expect(model.extra[0]?.number?.text == text)
        #expect(back["extra"]?[0]?.number?.text == text)
    }

    @Test(arguments: [
        ("1e-400", "0"), ("3.14159265358979323846264338327950288419716939937510", "3.14159"), ("1.5e300", "1.5e+300"),
        ("123456789012345678901234567890123456789012345678901", "12345678901234567890123456789012345678"),
    ])
    func `a JSON number with more digits than a model's type holds is rounded`(
        text: String,
        start: String
    ) throws {
        let model = try JSONDecoder().decode(Model.self, from: Data(#"{"extra":[\#(text)]}"#.utf8))
        let number = try #require(model.extra[0]?.number)

        #expect(try number.double == Self.parse(text).double)
        #expect(number.text.hasPrefix(start))
        #expect(throws: Never.self) { try JSONEncoder().encode(model) }
    }

    @Test func `numbers of a JSON value can be encoded as a property list`() throws {
        for text in ["1.5", "7", "-3", "18446744073709551615"] {
            let model = try Model(extra: [Self.parse(text)])
            let list = try PropertyListEncoder().encode(model)

            #expect(try PropertyListDecoder().decode(Model.self, from: list) == model)
        }
    }

    @Test(
        arguments: [
            ("9007199254740993.0", 9_007_199_254_740_993), ("9223372036854775807.0", .max),
            ("-9223372036854775808e0", .min),
            ("92233720368547758.07e2", .max), ("1e2", 100), ("-1.50e1", -15), ("100e-2", 1), ("0.001e3", 1),
            ("0e99999", 0),
            ("0.000e-9223372036854775808", 0), ("9223372036854775808.0", nil), ("1.5", nil), ("1e-1", nil),
            ("1.00000000000000000001", nil), ("1e9223372036854775807", nil), ("1e99999999999999999999", nil),
            ("1e-99999999999999999999", nil),
        ] as [(String, Int?)]
    )
    func `a whole JSON number is read exactly, whatever its notation`(text: String, number: Int?) throws {
        #expect(try Self.parse(text).int == number)
    }

    @Test(arguments: [
        ("1e400", true), ("1e99999999999999999999", true), ("0.0", true), ("12.30e1", true), ("12.34e1", false),
        ("1.00000000000000000001", false), ("1e-400", false), ("9007199254740993.5", false),
    ])
    func `a JSON number is recognized as whole regardless of its size`(text: String, isWhole: Bool) throws {
        #expect(try Self.parse(text).number?.isInteger == isWhole)
    }

    @Test func `a whole JSON number above Int.max is exact`() throws {
        #expect(try Self.parse("18446744073709551615.0").number?.unsigned == .max)
        #expect(try Self.parse("18446744073709551616.0").number?.unsigned == nil)
        #expect(try Self.parse("9007199254740993.0") != .number(JSONNumber(9_007_199_254_740_992)))
    }
}
