import Testing

@testable import SwitchyardGenerator

@Suite struct JSONReaderTests {
    @Test func `a parsed JSON document keeps the order of its members and all digits`() throws {
        let text = #"{"b": [1.50, -0, 1e400], "a": {"x": null, "y": true}, "s": "a\"\\\/\u00e9\ud83d\ude00\n"}"#

        let expected = #"{"b":[1.50,-0,1e400],"a":{"x":null,"y":true},"s":"a\"\\/é😀\n"}"#
        let node = try read(text, as: "api.json")

        #expect(json(node) == expected)
    }

    @Test(arguments: [
        ("", "api.json:1:1: expected a value"),
        ("{\n  \"a\": 1,\n}", "api.json:3:1: expected a name in quotation marks"),
        ("{\"a\": 1 \"b\": 2}", "api.json:1:9: expected \",\" or \"}\""),
        ("[1 2]", "api.json:1:4: expected \",\" or \"]\""),
        ("{\"a\": 1, \"a\": 2}", "api.json:1:10: the name \"a\" occurs twice in one object"),
        ("[\"x]", "api.json:1:2: the string has no closing quotation mark"),
        ("[\"\\ud800\"]", "api.json:1:3: a surrogate is not part of a pair"),
        ("[01]", "api.json:1:3: expected \",\" or \"]\""),
        ("[1] x", "api.json:1:5: expected the end of the document after the value"),
        ("[tru]", "api.json:1:2: expected a value"),
    ])
    func `invalid JSON in a document is an error with line and column`(text: String, expected: String) {
        let error = #expect(throws: GeneratorError.self) { try read(text, as: "api.json") }

        #expect(error?.description == expected)
    }

    @Test func `JSON that is nested beyond the limit is an error`() {
        let error = #expect(throws: GeneratorError.self) {
            try read(String(repeating: "[", count: 1_000_000), as: "api.json")
        }

        #expect(error?.message == "nesting is deeper than 200 levels")
    }

    @Test func `JSON with bytes that are not UTF-8 is an error`() {
        var reader = JSONReader([0x22, 0xFF, 0x22])

        #expect(throws: ReadingError("the string is not valid UTF-8", at: Position(line: 1, column: 1))) {
            try reader.document()
        }
    }

    @Test(arguments: ["{\"a\": [1, \"x\", {\"b\": null}]}", "a: [1, x]\nb: |\n  text\nc: &d {e: 'f'}\n"])
    func `truncated or changed text does not crash the JSON and YAML readers`(text: String) {
        let bytes = ContiguousArray(text.utf8)
        for index in bytes.indices {
            for byte: UInt8 in [0, 0x0A, 0x22, 0x5B, 0x7B, 0x2A, 0xFF, 0x3A] {
                var changed = bytes
                changed[index] = byte
                var json = JSONReader(changed)
                var yaml = YAMLReader(ContiguousArray(changed.prefix(index + 1)))
                var whole = YAMLReader(changed)
                _ = try? json.document()
                _ = try? yaml.document()
                _ = try? whole.document()
            }
        }
    }
}
