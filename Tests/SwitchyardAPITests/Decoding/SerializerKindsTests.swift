import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardMarkup
import SwitchyardServices
import Testing

@testable import SwitchyardAPI

/// The results of each kind of serializer.
@Suite struct SerializerKindsTests {
    private static func raw(_ text: String, type: String? = nil, status: Int = 200) -> RawResponse {
        ResponseSerializerTests.json(text, status: status, type: type)
    }

    @Test func `the data serializer returns the unchanged bytes`() throws {
        let bytes = Data([0, 0xFF, 10])

        #expect(try ResponseSerializer.data.value(of: RawResponse(data: bytes)) == bytes)
    }

    @Test func `a JSON tree may be a single value, and a copy of a tree can be changed`() throws {
        for (text, value) in [("7", 7 as JSONValue), ("\"a\"", "a"), ("null", nil), (" true ", true)] {
            #expect(try ResponseSerializer.json.value(of: Self.raw(text)) == value)
        }
        #expect(try ResponseSerializer.decodable(Int.self).value(of: Self.raw("7")) == 7)
        let tree = try ResponseSerializer.json.value(of: Self.raw(#"{"a":[1]}"#))
        guard case .object(var members) = tree else { throw CancellationError() }
        members["a"] = nil
        #expect(tree["a"]?[0] == 1 && members.isEmpty)
    }

    @Test func `XML is parsed to events`() throws {
        let text = #"<?xml version="1.0"?><a x='1' y="&lt;2"><!-- c --><b/>t &amp; &#x4E2D;<![CDATA[<raw>]]></a>"#
        let events = try ResponseSerializer.xmlEvents.value(of: Self.raw(text, type: "application/xml"))

        #expect(
            events == [
                .start(name: "a", attributes: [.init(name: "x", value: "1"), .init(name: "y", value: "<2")]),
                .comment(" c "), .start(name: "b", attributes: []), .end(name: "b"), .text("t & 中"), .text("<raw>"),
                .end(name: "a"),
            ]
        )
    }

    @Test func `XML is parsed to a tree`() throws {
        let text = "<list><topic id=\"1\"><title>One <b>bold</b></title></topic><topic id=\"2\"/></list>"
        let root = try ResponseSerializer.xml.value(of: Self.raw(text, type: "application/atom+xml; charset=utf-8"))

        #expect(root.name == "list" && root.elements(named: "topic").map { $0.attributes["id"] } == ["1", "2"])
        #expect(root["topic"]?["title"]?.text == "One bold")
    }

    @Test(arguments: [
        "", "<a>", "</a>", "<a></b>", "<a/><b/>", "text<a/>", "<a b=1/>", "<a b='1' b='2'/>", "<a b='<'/>",
        "<a>&x;</a>",
        "<a>&#0;</a>", "<a>&amp</a>", "<a><!-- </a>", "<1/>", "<a b='1'c='2'/>",
        "<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>",
        "<a>" + String(repeating: "<b>", count: 500),
    ])
    func `malformed or dangerous XML in a response is a typed error`(text: String) {
        let error = #expect(throws: APIError.self) { try ResponseSerializer.xml.value(of: Self.raw(text)) }
        guard case .body(let reason) = error?.reason else {
            return #expect(Bool(false), "\(String(describing: error))")
        }
        #expect(reason == .empty || !reason.summary.isEmpty)
    }

    @Test func `random XML never crashes the XML parser`() {
        var random = SeededGenerator(seed: 3)
        let pieces = [
            "<", ">", "/", "a", "=", "'", "\"", "&", ";", "!", "--", "[CDATA[", "]]>", "?", " ", "#", "9", "é",
        ]
        for _ in 0..<3_000 {
            let text = (0..<Int.random(in: 0..<20, using: &random)).map { _ in
                pieces.randomElement(using: &random) ?? ""
            }
            _ = try? XMLTree(parsing: text.joined().utf8)
        }
        #expect(throws: DecodingFailure.self) { try XMLTree(parsing: [0x3C, 0x61, 0xFF, 0x2F, 0x3E]) }
    }

    @Test func `an image serializer uses the app's closure and accepts only image types`() throws {
        struct Image: Sendable, Equatable { var bytes: Int }
        let serializer = ResponseSerializer<Image>.image { Image(bytes: $0.count) }

        #expect(try serializer.value(of: Self.raw("GIF8", type: "image/gif")) == Image(bytes: 4))
        #expect(throws: APIError.self) { try serializer.value(of: Self.raw("GIF8", type: "text/html")) }
    }

    @Test func `the empty serializer accepts any body`() throws {
        for text in ["", "{}", "whatever"] {
            #expect(try ResponseSerializer.empty.value(of: Self.raw(text)) == EmptyBody())
        }
        #expect(throws: APIError(.status(500))) { try ResponseSerializer.empty.value(of: Self.raw("", status: 500)) }
    }

    @Test func `a serializer that a call sets applies to that call only`() throws {
        struct Refused: Error {}
        let csv = ResponseSerializer(accepting: [MediaType("text/csv")].compactMap(\.self)) { response in
            guard let text = String(data: response.data, encoding: .utf8) else { throw Refused() }
            return text.split(separator: ",").map(String.init)
        }

        #expect(try csv.value(of: Self.raw("a,b", type: "text/csv")) == ["a", "b"])
        #expect(try ResponseSerializer.string.value(of: Self.raw("a,b", type: "text/csv")) == "a,b")
        let error = #expect(throws: APIError.self) { try csv.value(of: RawResponse(data: Data([0xFF]))) }
        #expect(error?.context.underlying is Refused)
    }

    @Test func `every status is accepted if the response rules are off`() throws {
        for status in [100, 199, 200, 299, 304, 404, 500, 599] {
            let answer = Self.raw("x", status: status)
            #expect((try? ResponseSerializer.data.value(of: answer, rules: .off)) != nil)
            #expect(((try? ResponseSerializer.data.value(of: answer)) != nil) == (200...299).contains(status))
        }
    }

    @Test func `a response without a body is accepted whatever its content type is`() throws {
        #expect(try ResponseSerializer.decodable(Int?.self).value(of: Self.raw("", type: nil)) == nil)
        #expect(try ResponseSerializer.decodable(Int?.self).value(of: Self.raw("", type: "image/png")) == nil)
    }

    @Test func `the content type is checked against the Accept field of the request`() throws {
        let rules = ResponseRules(contentType: .requested)
        func accepts(_ accept: String?, _ type: String) -> Bool {
            let headers: HTTPHeaders = ["Content-Type": type]
            let answer = RawResponse(headers: headers, data: Data("x".utf8), accept: accept)
            return (try? ResponseSerializer.data.value(of: answer, rules: rules)) != nil
        }

        #expect(accepts("application/json, text/*;q=0.5", "text/plain"))
        #expect(accepts("*/*", "image/png") && accepts(nil, "image/png"))
        #expect(!accepts("application/json", "text/html"))
    }

    @Test(arguments: [
        ("application/json, text/html;q=0", "text/html", false), ("*/*, text/html; Q=0.000", "text/html", false),
        ("*/*, text/html;q=0", "text/plain", true), ("text/*;q=0, text/html", "text/html", true),
        ("text/html;q=0.5, */*;q=0", "text/html", true), ("text/html, */*;q=0", "image/png", false),
    ])
    func `a response is rejected if its content type has the weight 0 in the request's Accept`(
        accept: String,
        type: String,
        isAccepted: Bool
    ) {
        let answer = RawResponse(headers: ["Content-Type": type], data: Data("x".utf8), accept: accept)
        let value = try? ResponseSerializer.data.value(of: answer, rules: ResponseRules(contentType: .requested))

        #expect((value != nil) == isAccepted)
    }

    @Test func `a response without a content type is accepted only if any type is accepted`() {
        func accepts(_ types: [String]) -> Bool {
            let rules = ResponseRules(contentType: .only(types.compactMap { MediaType($0) }))
            return (try? ResponseSerializer.data.value(of: Self.raw("x", type: nil), rules: rules)) != nil
        }

        #expect(accepts(["text/css", "*/*"]))
        #expect(!accepts(["text/css", "text/*"]))
    }

    @Test(arguments: ["application/problem+json", "model/gltf+json"])
    func `a content type with the suffix +json counts as JSON`(type: String) throws {
        #expect(try ResponseSerializer.json.value(of: Self.raw("[1]", type: type)) == [1])
    }

    @Test func `an optional value is nil if the response body is empty`() throws {
        #expect(try ResponseSerializer.decodable([Int]?.self).value(of: Self.raw("", status: 204)) == nil)
        #expect(try ResponseSerializer.decodable([Int]?.self).value(of: Self.raw("[1]")) == [1])
    }

    @Test func `a number or a string at a key path of the JSON response is decoded`() throws {
        let text = #"{"user":{"profile":{"age":36,"name":"Ada"}}}"#

        #expect(try ResponseSerializer.decodable(Int.self, at: "user.profile.age").value(of: Self.raw(text)) == 36)
        #expect(
            try ResponseSerializer.decodable(String.self, at: "user.profile.name").value(of: Self.raw(text)) == "Ada"
        )
    }

    @Test func `an empty response body is an error or an empty value, depending on the response rules of the call`()
        throws
    {
        let lists = ResponseSerializer.decodable([Int]?.self).map { $0 ?? [] }

        #expect(try lists.value(of: Self.raw("")) == [])
        #expect(throws: APIError(.body(.empty))) {
            try lists.value(of: Self.raw(""), rules: ResponseRules(emptyBody: .never))
        }
    }

    @Test func `a StatusPolicy accepts a list, a range, successes, redirects or what its closure accepts`() {
        let exact = StatusPolicy.only([201])
        #expect(exact.accepts(201) && !exact.accepts(200))
        #expect(StatusPolicy.range(200...204).accepts(204) && !StatusPolicy.range(200...204).accepts(205))
        #expect(StatusPolicy.success.accepts(299) && !StatusPolicy.success.accepts(300))
        #expect(StatusPolicy.successOrRedirect.accepts(399) && !StatusPolicy.successOrRedirect.accepts(400))
        #expect(StatusPolicy { $0 % 2 == 0 }.accepts(404))
    }

    @Test func `the typed accessors of a JSON value return the value or nil`() throws {
        let tree = try JSONValue(parsing: #"{"n":1,"s":"x","list":[1],"flag":true}"#.utf8)

        #expect(tree["n"]?.int ?? 0 == 1 && tree["s"]?.int ?? 7 == 7 && tree["missing"]?.string ?? "-" == "-")
        #expect(tree["list"]?.array?.count == 1 && tree["flag"]?.bool == true && tree["s"]?.object == nil)
    }

    @Test func `a decoded value can be returned together with the response body`() throws {
        let both = try ResponseSerializer.decodable([Int].self).keepingData.value(of: Self.raw("[1, 2]"))

        #expect(both.value == [1, 2] && both.data == Data("[1, 2]".utf8))
    }

    @Test func `if a JSON object repeats a key, the JSON tree has the last value of the key`() throws {
        struct Pair: Decodable, Sendable { var a: Int }
        let text = Self.raw(#"{"a":1,"a":2}"#)

        #expect(try ResponseSerializer.json.value(of: text)["a"] == 2)
        // Foundation does not document which value it takes.
        #expect([1, 2].contains(try ResponseSerializer.decodable(Pair.self).value(of: text).a))
    }

    @Test(arguments: ["oodlefratz", "utf-7", ""])
    func `text in an unknown charset is a typed error`(charset: String) {
        let answer = Self.raw("é", type: "text/plain; charset=\(charset)")

        if charset.isEmpty {
            #expect((try? ResponseSerializer.string.value(of: answer)) == "é")
        } else {
            #expect(throws: APIError(.body(.text(encoding: charset)))) {
                try ResponseSerializer.string.value(of: answer)
            }
        }
    }

    @Test(arguments: [
        "{}", #"{"data": null}"#, #"{"data": {}}"#, #"{"data": {"page": null}}"#,
        #"{"data": {"page": {"items": null}}}"#,
    ])
    func `an optional value is nil if any key of its path is missing or null`(text: String) throws {
        let serializer = ResponseSerializer<[Int]?>.decodable(at: "data.page.items")

        #expect(try serializer.value(of: Self.raw(text)) == nil)
        #expect(throws: APIError.self) {
            try ResponseSerializer<[Int]>.decodable(at: "data.page.items").value(of: Self.raw(text))
        }
    }

    @Test func `a key path through a value that is not an object is an error`() {
        #expect(throws: APIError.self) {
            try ResponseSerializer<[Int]?>.decodable(at: "data.items").value(of: Self.raw(#"{"data": [1]}"#))
        }
    }

    @Test(arguments: ["1970-01-01T00:00:10,5Z", "1970-01-01T00:00:10.5Z", "1970-01-01T01:00:10,5+01:00"])
    func `the fraction of a second in an ISO 8601 date may follow a point or a comma`(text: String) throws {
        let dates = try ResponseSerializer.decodable([Date].self).value(of: Self.raw("[\"\(text)\"]"))

        #expect(dates == [Date(timeIntervalSince1970: 10.5)])
    }

    @Test(
        arguments: [
            ("iso8859-1", [0xE9], "é"), ("l1", [0xE9], "é"), ("cp1252", [0x80], "€"), ("CP1251", [0xC6], "Ж"),
            ("x-sjis", [0x82, 0xA0], "あ"), ("x-gbk", [0xC4, 0xE3], "你"), ("unicode-1-1-utf-8", [0xC3, 0xA9], "é"),
        ] as [(String, [UInt8], String)]
    )
    func `encodings have the alias names of the WHATWG Encoding Standard`(
        charset: String,
        bytes: [UInt8],
        text: String
    ) throws {
        let answer = RawResponse(headers: ["Content-Type": "text/plain; charset=\(charset)"], data: Data(bytes))

        #expect(try ResponseSerializer.string.value(of: answer) == text)
    }

    @Test func `a charset parameter with an invalid value is skipped, and the next charset parameter counts`() {
        #expect(MediaType("text/html;charset=\"\u{2003}x\";charset=gbk")?.charset == "gbk")
        #expect(MediaType("text/html;charset=\"\u{FF}\";charset=gbk")?.charset == "\u{FF}")
    }
}
