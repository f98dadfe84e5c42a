import Foundation
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardMarkup
import Testing

@testable import SwitchyardClient

@Suite struct JSONBodyTests {
    static func text(_ body: RequestBody, _ change: (inout RequestGenerator) -> Void = { _ in }) throws -> String {
        var generator = RequestGenerator()
        change(&generator)
        let configuration = APIConfiguration(method: .post, body: body)
        let request = try generator.request(for: configuration, on: BaseURL("https://h"))
        guard case .data(let data) = request.body else { return "" }
        return String(decoding: data, as: UTF8.self)
    }

    @Test func `parameters become a JSON object with sorted names`() throws {
        let text = try Self.text(
            .json([
                "z": nil, "a": "q\"\\/\n\u{1}é", "n": [1, -2.5, true] as ParameterValue, "u": UInt64.max,
                "d": Date(timeIntervalSince1970: 0), "e": [:] as Parameters,
            ])
        )

        let expected =
            #"{"a":"q\"\\/\n\u0001é","d":"1970-01-01T00:00:00Z","e":{},"n":[1,-2.5,true],"u":18446744073709551615,"z":null}"#
        #expect(text == expected)
    }

    @Test func `Foundation can parse the JSON that the library writes`() throws {
        let text = try Self.text(.json(["a": ["b": [1.5, 2]], "c": "👍\t"]))

        let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        #expect(object["c"] as? String == "👍\t")
        #expect((object["a"] as? [String: [Double]])?["b"] == [1.5, 2])
    }

    @Test func `JSON output can keep the order of its keys and be indented`() throws {
        let text = try Self.text(.json(["b": [1] as [Int], "a": 2])) {
            $0.jsonOptions.sortsKeys = false
            $0.jsonOptions.isPretty = true
        }

        #expect(text == "{\n  \"b\" : [\n    1\n  ],\n  \"a\" : 2\n}")
    }

    @Test func `a list or a single value may be a whole JSON body`() throws {
        #expect(try Self.text(.json([1, "x"] as ParameterValue)) == #"[1,"x"]"#)
        #expect(try Self.text(.json(.null)) == "null")
    }

    @Test func `any Encodable value is written as JSON with the same options`() throws {
        struct Topic: Encodable, Sendable {
            var title = "a/b"
            var at = Date(timeIntervalSince1970: 0.5)
        }

        #expect(try Self.text(.json(Topic())) == #"{"at":"1970-01-01T00:00:00Z","title":"a/b"}"#)
        #expect(
            try Self.text(.json(Topic())) { $0.jsonOptions.dates = .secondsSince1970 } == #"{"at":0.5,"title":"a/b"}"#
        )
    }

    @Test func `the JSON body of an Encodable value is encoded with the encoder that the request sets`() throws {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase

        #expect(try Self.text(.json(["pageSize": 1], encoder: encoder)) == #"{"pageSize":1}"#)
        struct Page: Encodable, Sendable { var pageSize = 1 }
        #expect(try Self.text(.json(Page(), encoder: encoder)) == #"{"page_size":1}"#)
    }

    @Test func `the error for a value without a JSON form has the path of the value`() {
        #expect(throws: RequestError.parameter(keyPath: "a[b]", reason: .notFinite)) {
            _ = try Self.text(.json(["a": ["b": Double.nan]] as Parameters))
        }
        #expect(throws: RequestError.parameter(keyPath: "a", reason: .repeatedName)) {
            _ = try Self.text(.json(["a": 1, "a": 2] as Parameters))
        }
        #expect(throws: RequestError.self) { _ = try Self.text(.json(["x": Double.infinity] as [String: Double])) }
    }

    @Test func `a JSON body that is nested too deeply is an error and not a crash`() {
        var value = ParameterValue.null
        for _ in 0..<1000 { value = .array([value]) }

        #expect(throws: RequestError.self) { _ = try Self.text(.json(value)) }
    }

    @Test(arguments: [(PropertyListSerialization.PropertyListFormat.binary, "bplist"), (.xml, "<?xml")])
    func `a property list can be a body`(
        format: PropertyListSerialization.PropertyListFormat,
        start: String
    ) throws {
        let configuration = APIConfiguration(method: .post, body: .propertyList(["a": [1, 2]], format: format))
        let request = try RequestGenerator().request(for: configuration, on: BaseURL("https://h"))

        guard case .data(let data) = request.body else { return #expect(Bool(false)) }
        #expect(data.starts(with: start.utf8))
        #expect(try PropertyListDecoder().decode([String: [Int]].self, from: data) == ["a": [1, 2]])
        #expect(request.headers["Content-Type"] == "application/x-plist")
    }

    @Test func `text is encoded in its character set or rejected`() throws {
        let body = RequestBody.text("é", encoding: .isoLatin1)
        let request = try RequestGenerator().request(
            for: APIConfiguration(method: .post, body: body),
            on: BaseURL("https://h")
        )

        guard case .data(let data) = request.body else { return #expect(Bool(false)) }
        #expect(data == Data([0xE9]))
        #expect(request.headers["Content-Type"] == "text/plain; charset=iso-8859-1")
        #expect(throws: RequestError.body(kind: "text", reason: .notInCharacterSet)) {
            _ = try Self.text(.text("漢", encoding: .isoLatin1))
        }
    }
}
