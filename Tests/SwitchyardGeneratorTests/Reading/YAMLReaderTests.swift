import Testing

@testable import SwitchyardGenerator

@Suite struct YAMLReaderTests {
    @Test(arguments: [
        ("a: 1\nb: x", #"{"a":1,"b":"x"}"#),
        ("- 1\n- x\n-\n- - y", #"[1,"x",null,["y"]]"#),
        ("a:\n- 1\n- 2\nb: 3", #"{"a":[1,2],"b":3}"#),
        ("a:\n  - b: 1\n    c: 2\n  - d", #"{"a":[{"b":1,"c":2},"d"]}"#),
        ("a: [1, {b: c}, 'd', \"e\"]", #"{"a":[1,{"b":"c"},"d","e"]}"#),
        ("a: [\n  1,\n  2\n]", #"{"a":[1,2]}"#),
        ("{a: , b}", #"{"a":null,"b":null}"#),
        ("---\na: 1\n...\n", #"{"a":1}"#),
        ("%YAML 1.2\n---\na: 1", #"{"a":1}"#),
        ("# note\na: 1 # note\n# note", #"{"a":1}"#),
        ("a: x#y", #"{"a":"x#y"}"#),
        ("'200': a\n404: b", #"{"200":"a","404":"b"}"#),
        ("? long key\n: b: 1\n  c: 2", #"{"long key":{"b":1,"c":2}}"#),
        ("[&x 1, !!str 2, *x, !!int \"3\", &y ]", #"[1,"2",1,3,null]"#),
        ("security: [key: [], oauth: [read]]", #"{"security":[{"key":[]},{"oauth":["read"]}]}"#),
        ("[a: b, 'c': d, \"e\":f, g:h, i: , j:]", #"[{"a":"b"},{"c":"d"},{"e":"f"},"g:h",{"i":null},{"j":null}]"#),
        ("[a:\n  b,\n c]", #"[{"a":"b"},"c"]"#),
        ("\u{FEFF}a: 1", #"{"a":1}"#),
        ("", "null"),
    ])
    func `YAML collections are parsed`(text: String, expected: String) throws {
        let node = try read(text)

        #expect(json(node) == expected)
    }

    @Test(arguments: [
        ("a: |\n  x\n   y\n\n  z\n", #"{"a":"x\n y\n\nz\n"}"#),
        ("a: |-\n  x\n", #"{"a":"x"}"#),
        ("a: |+\n  x\n\n", #"{"a":"x\n\n"}"#),
        ("a: |2\n   x\n", #"{"a":" x\n"}"#),
        ("a: |\n  x\n  ", #"{"a":"x\n"}"#),
        ("a: >\n  x\n  y\n\n  z\n", #"{"a":"x y\nz\n"}"#),
        ("a: >-\n  x\n    y\n  z\n", #"{"a":"x\n  y\nz"}"#),
        // YAML 1.2.2, example 8.10.
        (
            "a: >\n\n  folded\n  line\n\n  next\n  line\n    * bullet\n\n    * list\n    * lines\n\n  last\n  line\n",
            #"{"a":"\nfolded line\nnext line\n  * bullet\n\n  * list\n  * lines\n\nlast line\n"}"#
        ),
        ("a: x\n  y\n\n  z\nb: 1", #"{"a":"x y\nz","b":1}"#),
        ("a: \"x\\n\\u00e9\\ud83d\\ude00 \\\n  y\"", #"{"a":"x\né😀 y"}"#),
        ("a: 'it''s\n  two'", #"{"a":"it's two"}"#),
        ("a: \"x\\t\n  y  \n  z\"", #"{"a":"x\t y z"}"#),
        ("a: https://x.example/y", #"{"a":"https://x.example/y"}"#),
    ])
    func `YAML scalars of all styles are parsed`(text: String, expected: String) throws {
        let node = try read(text)

        #expect(json(node) == expected)
    }

    @Test(arguments: [
        ("yes", "\"yes\""), ("no", "\"no\""), ("on", "\"on\""), ("true", "true"), ("False", "false"), ("~", "null"),
        ("null", "null"), ("1.5e3", "1.5e3"), ("0x1F", "0x1F"), ("1.4.0", "\"1.4.0\""),
        ("2020-01-01", "\"2020-01-01\""),
        ("-", "[null]"), ("+1", "+1"), ("!!str 1", "\"1\""), (".5", ".5"), ("1_000", "\"1_000\""),
    ])
    func `plain scalars follow the core schema of YAML`(text: String, expected: String) throws {
        let node = try read(text)

        #expect(json(node) == expected)
    }

    @Test func `a YAML alias refers to the node of its anchor`() throws {
        let node = try read("a: &x\n  b: 1\nc: *x\nd: [*x]")

        #expect(json(node) == #"{"a":{"b":1},"c":{"b":1},"d":[{"b":1}]}"#)
    }

    @Test(arguments: [
        ("a: 1\na: 2", "api.yaml:2:1: the key \"a\" occurs twice in one object"),
        ("{a: 1, a: 2}", "api.yaml:1:8: the key \"a\" occurs twice in one object"),
        ("a: &x &y b", "api.yaml:1:7: a node must have at most one anchor and one tag"),
        ("a: \"\\ud83d\\u0041\"", "api.yaml:1:17: the escape is not a valid character"),
        ("a: \"\\ud83dx\"", "api.yaml:1:11: the escape is not a valid character"),
        ("a: \"\\xg0\"", "api.yaml:1:7: expected 2 hexadecimal digits"),
        ("a:\n\tb: 1", "api.yaml:2:2: a tab must not be used for indentation"),
        ("a: b: c", "api.yaml:1:5: a value must not contain \": \" unless it is quoted"),
        ("a:\n  b: 1\n c: 2", "api.yaml:3:2: the line is indented more than its object"),
        ("a: [1, 2", "api.yaml:1:9: the document ends within a flow collection"),
        ("a: \"x", "api.yaml:1:4: the text has no closing quotation mark"),
        ("a: *x", "api.yaml:1:4: the anchor \"x\" is undefined"),
        ("<<: {a: 1}", "api.yaml:1:1: the merge key \"<<\" is not supported"),
        ("a: !custom x", "api.yaml:1:4: the tag !custom is not supported"),
        ("a: 1\n---\nb: 2", "api.yaml:2:1: a second document in one file is not supported"),
        ("? [a]\n: 1", "api.yaml:1:3: a key must be a scalar"),
        ("a: @x", "api.yaml:1:4: a value must not start with \"@\""),
        ("a: \"\\q\"", "api.yaml:1:5: the escape is invalid in YAML"),
        ("é: 1\nb\nc: 1", "api.yaml:2:1: expected a key and \":\""),
    ])
    func `invalid YAML is an error with line and column`(text: String, expected: String) {
        let error = #expect(throws: GeneratorError.self) { try read(text) }

        #expect(error?.description == expected)
    }

    @Test(arguments: [
        ("a: |\n \n  \n   \n x", "api.yaml:5:2: the first line is indented less than a blank line before it"),
        ("a: |\n\t\nb: 1", "api.yaml:2:1: a tab must not be used for indentation"),
        ("a: [b,\nc]", "api.yaml:2:1: the line is indented less than its flow collection"),
        ("a: {\nb\n:\nc\n}", "api.yaml:2:1: the line is indented less than its flow collection"),
        ("a: [b\n#\n  c]", "api.yaml:3:3: expected \",\" or \"]\""),
        ("[a\n : b]", "api.yaml:2:2: a key within a list must be on the line of its \":\""),
        ("[\"a\n b\": c]", "api.yaml:2:4: a key within a list must be on the line of its \":\""),
        ("[[a]: b]", "api.yaml:1:2: a key must be a scalar"),
        ("[<<: b]", "api.yaml:1:2: the merge key \"<<\" is not supported"),
        ("[a: b: c]", "api.yaml:1:6: expected \",\" or \"]\""),
        ("[-]", "api.yaml:1:2: a value must not start with \"-\""),
        ("[-, ?]", "api.yaml:1:2: a value must not start with \"-\""),
        ("- [\n\tb,\n c\n ]", "api.yaml:2:2: a tab must not be used for indentation"),
        ("a: \"b\nc\"", "api.yaml:2:1: the line is indented less than its text"),
        ("a: \"b\n\tc\"", "api.yaml:2:2: the line is indented less than its text"),
        ("--- a: b\n    c: d", "api.yaml:1:6: a value must not contain \": \" unless it is quoted"),
        ("a: b\n  c # d\n  e", "api.yaml:3:3: the line is indented more than its object"),
        ("a # b\nc", "api.yaml:2:1: expected the end of the document; check the indentation"),
        ("a: &b c\nd: &e *b", "api.yaml:2:7: an alias must not have an anchor or a tag"),
        ("-\t- a", "api.yaml:1:3: a tab must not be used for indentation"),
        ("- \ta: b", "api.yaml:1:4: a tab must not be used for indentation"),
        ("?\t- a", "api.yaml:1:3: a key must be a scalar"),
        ("? a\n:\t- b", "api.yaml:2:3: a tab must not be used for indentation"),
        ("%YAML 1.2\n", "api.yaml:2:1: expected \"---\" after a directive"),
        ("%YAML 1.2\n...\n", "api.yaml:2:1: expected \"---\" after a directive"),
        ("%YAML 1.2 a\n---\n", "api.yaml:1:1: the directive is invalid: must be \"%YAML 1.2\""),
        ("%YAML 1.1#.\n---\n", "api.yaml:1:1: the directive is invalid: must be \"%YAML 1.2\""),
        ("%YAML 1.2\n%YAML 1.2\n---\n", "api.yaml:2:1: the directive %YAML occurs twice"),
    ])
    func `YAML with mistakes that other parsers repair is an error with line and column`(text: String, expected: String)
    {
        let error = #expect(throws: GeneratorError.self) { try read(text) }

        #expect(error?.description == expected)
    }

    @Test func `YAML that is nested beyond the limit is an error`() {
        let error = #expect(throws: GeneratorError.self) { try read(String(repeating: "[", count: 100_000)) }

        #expect(error?.message == "nesting is deeper than 200 levels")
    }

    @Test func `YAML aliases that expand to too many nodes are rejected`() {
        var text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
        for level in 1...9 {
            text += "a\(level): &a\(level) [" + (0..<10).map { _ in "*a\(level - 1)" }.joined(separator: ", ") + "]\n"
        }

        let error = #expect(throws: GeneratorError.self) { try read(text) }
        #expect(error?.message == "aliases expand to more than 1000000 nodes")
    }

    @Test func `YAML aliases that expand to too many nodes together are rejected`() {
        let list = Array(repeating: "x", count: 1_000).joined(separator: ", ")
        let text = "a: &a [\(list)]\n" + (0..<1_001).map { "b\($0): *a\n" }.joined()

        let error = #expect(throws: GeneratorError.self) { try read(text) }
        #expect(error?.message == "aliases expand to more than 1000000 nodes")
    }
}
