import Testing

@testable import SwitchyardServices

@Suite struct JSONParserTests {
    @Test(arguments: [
        (#" {"a" : [1, -2.5e3, true, false, null, "x"]} "#, #"a"#), (#"{"é\n\u00e9\ud83d\ude00\/": {}}"#, "é\né😀/"),
    ])
    func `values and escapes are read`(json: String, key: String) throws {
        guard case .object(let members) = try JSONParser.parse(Array(json.utf8)) else {
            Issue.record("not an object")
            return
        }

        #expect(members.map(\.key) == [key])
    }

    @Test(arguments: [
        "{", "[1,]", "{,}", #"{"a":}"#, #"{"a" 1}"#, "01", "1.", "-", "+1", ".5", "1e", "nul", "truex", #""\x""#,
        #""\ud800""#, #""\u12""#, "\"a\nb\"", "\"a", "[1 2]", "NaN", "1e999", "'a'", "",
        "2.e3", "0.e1", "-01", "00", "--1", "1.5.5", "1e5e5", "1e+", "-.5", "\u{FEFF}", "1\u{FEFF}",
    ])
    func `what is not JSON is refused`(json: String) {
        #expect(throws: JSONParser.Failure.self) { try JSONParser.parse(Array(json.utf8)) }
    }

    @Test func `a string that is not UTF-8 is refused`() {
        #expect(throws: JSONParser.Failure.self) { try JSONParser.parse([0x22, 0xC3, 0x28, 0x22]) }
    }

    @Test(arguments: ["0", "-0", "1.50", "-0.5e-3", "10E+2", "\u{FEFF}1"])
    func `numbers are read, behind a byte order mark too`(json: String) throws {
        let text = json.filter { $0 != "\u{FEFF}" }

        #expect(try JSONParser.parse(Array(json.utf8)) == .number(#require(Double(text))))
    }

    @Test(arguments: [
        (#"{"a": {"b": 1, "b": 2}}"#, "a.b"), (#"{"a": [1, {"b": {"c.d": 1, "c.d": 2}}]}"#, "a[1].b.c.d"),
        (#"[{"a": 1}, {"a": 1, "b": 1, "a": 2}]"#, "[1].a"),
    ])
    func `a key that stands twice is named from the top`(json: String, path: String) {
        let failure = #expect(throws: JSONParser.Failure.self) { try JSONParser.parse(Array(json.utf8)) }

        #expect(failure?.duplicateKey == path)
    }

    @Test func `a key that stands twice is named with its line`() {
        let failure = #expect(throws: JSONParser.Failure.self) {
            try JSONParser.parse(Array("{\"a\": 1,\n\"a\": 2}".utf8))
        }

        #expect(failure?.duplicateKey == "a")
        #expect(failure?.line == 2)
    }
}

@Suite struct ServiceFormatTests {
    @Test func `the table describes every key that the reader knows`() {
        let names = ServiceFormat.keys.map(\.path)

        #expect(ServiceFormat.names(in: "") == ["service", "defaultEnvironment", "servers", "switching"])
        #expect(ServiceFormat.names(in: "servers[]") == ["name", "baseURLs", "cdnURLs", "weight"])
        for object in ["switching", "switching.hedging", "switching.admission"] {
            let below = names.filter { $0.hasPrefix("\(object).") && !$0.dropFirst(object.count + 1).contains(".") }
            #expect(ServiceFormat.names(in: object).count == below.count && !below.isEmpty)
        }
        #expect(Set(names).count == names.count)
        #expect(ServiceFormat.keys.allSatisfy { !$0.type.isEmpty && !$0.meaning.isEmpty })
    }
}
