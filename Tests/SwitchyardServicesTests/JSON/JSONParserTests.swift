import Foundation
import Testing

@testable import SwitchyardServices

/// The parser that the readers of service files and of responses share.
@Suite struct JSONParserTests {
    private func parse(_ bytes: some Sequence<UInt8>) throws(JSONParser.Failure) -> JSONValue {
        var parser = JSONParser(ContiguousArray(bytes), maximumDepth: 32, repeatedNames: .refused)
        return try parser.document()
    }

    private func failure(of json: String) -> JSONParser.Failure? {
        #expect(throws: JSONParser.Failure.self) { try parse(json.utf8) }
    }

    @Test(arguments: [
        (#" {"a" : [1, -2.5e3, true, false, null, "x"]} "#, #"a"#), (#"{"é\n\u00e9\ud83d\ude00\/": {}}"#, "é\né😀/"),
    ])
    func `JSON values and escapes are parsed`(json: String, key: String) throws {
        #expect(try parse(json.utf8).object.map { Array($0.keys) } == [key])
    }

    @Test(arguments: [
        "{", "[1,]", "{,}", #"{"a":}"#, #"{"a" 1}"#, "01", "1.", "-", "+1", ".5", "1e", "nul", "truex", #""\x""#,
        #""\ud800""#, #""\u12""#, "\"a\nb\"", "\"a", "[1 2]", "NaN", "'a'", "",
        "2.e3", "0.e1", "-01", "00", "--1", "1.5.5", "1e5e5", "1e+", "-.5", "\u{FEFF}", "1\u{FEFF}",
    ])
    func `invalid JSON is rejected`(json: String) {
        #expect(throws: JSONParser.Failure.self) { try parse(json.utf8) }
    }

    @Test func `a JSON string that is not UTF-8 is rejected`() {
        #expect(throws: JSONParser.Failure.self) { try parse([0x22, 0xC3, 0x28, 0x22]) }
    }

    @Test(arguments: ["0", "-0", "1.50", "-0.5e-3", "10E+2", "\u{FEFF}1"])
    func `JSON numbers are parsed, even after a byte order mark`(json: String) throws {
        let text = json.filter { $0 != "\u{FEFF}" }

        #expect(try parse(json.utf8) == .number(#require(Double(text).flatMap(JSONNumber.init))))
    }

    @Test(arguments: [
        (#"{"a": {"b": 1, "b": 2}}"#, ".a.b"), (#"{"a": [1, {"b": {"c.d": 1, "c.d": 2}}]}"#, ".a[1].b.c.d"),
        (#"[{"a": 1}, {"a": 1, "b": 1, "a": 2}]"#, "[1].a"),
    ])
    func `the error for a repeated JSON name has the full path`(json: String, path: String) {
        #expect(failure(of: json)?.kind == .repeatedName(path: path))
    }

    @Test(arguments: [(JSONParser.RepeatedNames.lastHolds, 2), (.firstHolds, 1)])
    func `the rule for repeated JSON names decides whether the first or the last value counts`(
        rule: JSONParser.RepeatedNames,
        value: Int
    ) throws {
        var parser = JSONParser(ContiguousArray(#"{"a": 1, "a": 2}"#.utf8), maximumDepth: 1, repeatedNames: rule)

        #expect(try parser.document() == ["a": .number(JSONNumber(value))])
        #expect(parser.hasRepeatedNames)
    }

    @Test(arguments: [
        (#"{"a": }"#, "a value", 6), ("[1 2]", "a comma or ]", 3), (#"{"a" 1}"#, "a colon", 5),
        ("{1}", "a key in quotes", 1),
        (#"{"a": 1 "b"}"#, "a comma or }", 8), ("1.", "a digit", 2), ("nul", "null", 0),
        ("1 2", "nothing after the value", 2),
        (#""\x""#, "a valid escape", 2), ("\"a", "the closing quote of a string", 2),
    ])
    func `a JSON syntax error says what was expected at which offset`(json: String, expected: String, offset: Int) {
        let failure = failure(of: json)

        #expect(failure?.kind == .malformed(expected: expected))
        #expect(failure?.offset == offset)
    }
}

/// Secondary threads of Apple systems have 512 KiB.
@Suite struct JSONStackTests {
    @Test(arguments: ["[", "{\"a\":"])
    func `JSON of the standard depth is parsed on a small stack`(opening: String) async {
        let closing = opening == "[" ? "]" : "}"
        let depth = JSONDepth.standard
        let text = String(repeating: opening, count: depth) + "1" + String(repeating: closing, count: depth)

        let isParsed = await withCheckedContinuation { continuation in
            let thread = Thread {
                var parser = JSONParser(ContiguousArray(text.utf8), maximumDepth: depth, repeatedNames: .refused)
                continuation.resume(returning: (try? parser.document()) != nil)
            }
            thread.stackSize = 512 * 1024
            thread.start()
        }

        #expect(isParsed)
    }
}
