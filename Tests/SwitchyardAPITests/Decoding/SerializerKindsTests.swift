import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardMarkup
import SwitchyardServices
import Testing

@testable import SwitchyardAPI

/// What each kind of serialiser makes of a body.
@Suite struct SerializerKindsTests {
    private static func raw(_ text: String, type: String? = nil, status: Int = 200) -> RawResponse {
        ResponseSerializerTests.json(text, status: status, type: type)
    }

    @Test func `G1: bytes as they came`() throws {
        let bytes = Data([0, 0xFF, 10])

        #expect(try ResponseSerializer.data.value(of: RawResponse(data: bytes)) == bytes)
    }

    @Test func `G3: JSON may be a single value, and a tree is the reader's own to change`() throws {
        for (text, value) in [("7", 7 as JSONValue), ("\"a\"", "a"), ("null", nil), (" true ", true)] {
            #expect(try ResponseSerializer.json.value(of: Self.raw(text)) == value)
        }
        #expect(try ResponseSerializer.decodable(Int.self).value(of: Self.raw("7")) == 7)
        let tree = try ResponseSerializer.json.value(of: Self.raw(#"{"a":[1]}"#))
        guard case .object(var members) = tree else { throw CancellationError() }
        members["a"] = nil
        #expect(tree["a"]?[0] == 1 && members.isEmpty)
    }

    @Test func `G6: XML is read as events`() throws {
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

    @Test func `G7: XML is read as a tree`() throws {
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
    func `what is no XML, or would grow or name files, is a typed error`(text: String) {
        let error = #expect(throws: APIError.self) { try ResponseSerializer.xml.value(of: Self.raw(text)) }
        guard case .body(let reason) = error?.reason else {
            return #expect(Bool(false), "\(String(describing: error))")
        }
        #expect(reason == .empty || !reason.summary.isEmpty)
    }

    @Test func `XML never traps, whatever the bytes`() {
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

    @Test func `G9: an image is made by the app's means, from answers that are images`() throws {
        struct Image: Sendable, Equatable { var bytes: Int }
        let serializer = ResponseSerializer<Image>.image { Image(bytes: $0.count) }

        #expect(try serializer.value(of: Self.raw("GIF8", type: "image/gif")) == Image(bytes: 4))
        #expect(throws: APIError.self) { try serializer.value(of: Self.raw("GIF8", type: "text/html")) }
    }

    @Test func `G11: a call without a body of interest takes any body and none`() throws {
        for text in ["", "{}", "whatever"] {
            #expect(try ResponseSerializer.empty.value(of: Self.raw(text)) == EmptyBody())
        }
        #expect(throws: APIError(.status(500))) { try ResponseSerializer.empty.value(of: Self.raw("", status: 500)) }
    }

    @Test func `G12, G13: a serialiser of one's own serves one call, others serve the next`() throws {
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

    @Test func `G16: every status is a response until the rules judge it`() throws {
        for status in [100, 199, 200, 299, 304, 404, 500, 599] {
            let answer = Self.raw("x", status: status)
            #expect((try? ResponseSerializer.data.value(of: answer, rules: .off)) != nil)
            #expect(((try? ResponseSerializer.data.value(of: answer)) != nil) == (200...299).contains(status))
        }
    }

    @Test func `G18: no content type is needed where there is no body`() throws {
        #expect(try ResponseSerializer.decodable(Int?.self).value(of: Self.raw("", type: nil)) == nil)
        #expect(try ResponseSerializer.decodable(Int?.self).value(of: Self.raw("", type: "image/png")) == nil)
    }

    @Test func `G19: the content type is checked against the request's Accept, with wildcards`() throws {
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
    func `a type that Accept gives the weight 0 is not accepted`(accept: String, type: String, isAccepted: Bool) {
        let answer = RawResponse(headers: ["Content-Type": type], data: Data("x".utf8), accept: accept)
        let value = try? ResponseSerializer.data.value(of: answer, rules: ResponseRules(contentType: .requested))

        #expect((value != nil) == isAccepted)
    }

    @Test func `G19: a response without a type is taken where any type is`() {
        func accepts(_ types: [String]) -> Bool {
            let rules = ResponseRules(contentType: .only(types.compactMap { MediaType($0) }))
            return (try? ResponseSerializer.data.value(of: Self.raw("x", type: nil), rules: rules)) != nil
        }

        #expect(accepts(["text/css", "*/*"]))
        #expect(!accepts(["text/css", "text/*"]))
    }

    @Test(arguments: ["application/problem+json", "model/gltf+json"])
    func `JSON of any kind is named by its suffix`(type: String) throws {
        #expect(try ResponseSerializer.json.value(of: Self.raw("[1]", type: type)) == [1])
    }

    @Test func `G24: an optional result is nil for an empty body`() throws {
        #expect(try ResponseSerializer.decodable([Int]?.self).value(of: Self.raw("", status: 204)) == nil)
        #expect(try ResponseSerializer.decodable([Int]?.self).value(of: Self.raw("[1]")) == [1])
    }

    @Test func `G30: a value is at a key path, a single one too`() throws {
        let text = #"{"user":{"profile":{"age":36,"name":"Ada"}}}"#

        #expect(try ResponseSerializer.decodable(Int.self, at: "user.profile.age").value(of: Self.raw(text)) == 36)
        #expect(
            try ResponseSerializer.decodable(String.self, at: "user.profile.name").value(of: Self.raw(text)) == "Ada"
        )
    }

    @Test func `G31: an empty body fails a mapping, or gives the empty value, as the call says`() throws {
        let lists = ResponseSerializer.decodable([Int]?.self).map { $0 ?? [] }

        #expect(try lists.value(of: Self.raw("")) == [])
        #expect(throws: APIError(.body(.empty))) {
            try lists.value(of: Self.raw(""), rules: ResponseRules(emptyBody: .never))
        }
    }

    @Test func `G32: statuses are filtered exactly, by range, or with redirects`() {
        let exact = StatusPolicy.only([201])
        #expect(exact.accepts(201) && !exact.accepts(200))
        #expect(StatusPolicy.range(200...204).accepts(204) && !StatusPolicy.range(200...204).accepts(205))
        #expect(StatusPolicy.success.accepts(299) && !StatusPolicy.success.accepts(300))
        #expect(StatusPolicy.successOrRedirect.accepts(399) && !StatusPolicy.successOrRedirect.accepts(400))
        #expect(StatusPolicy { $0 % 2 == 0 }.accepts(404))
    }

    @Test func `G39: typed accessors give what is there, or the reader's default`() throws {
        let tree = try JSONValue(parsing: #"{"n":1,"s":"x","list":[1],"flag":true}"#.utf8)

        #expect(tree["n"]?.int ?? 0 == 1 && tree["s"]?.int ?? 7 == 7 && tree["missing"]?.string ?? "-" == "-")
        #expect(tree["list"]?.array?.count == 1 && tree["flag"]?.bool == true && tree["s"]?.object == nil)
    }

    @Test func `G40: the value can be had together with the body that it was made of`() throws {
        let both = try ResponseSerializer.decodable([Int].self).keepingData.value(of: Self.raw("[1, 2]"))

        #expect(both.value == [1, 2] && both.data == Data("[1, 2]".utf8))
    }

    @Test func `of a key that is repeated the last value holds, in trees and types alike`() throws {
        struct Pair: Decodable, Sendable { var a: Int }
        let text = Self.raw(#"{"a":1,"a":2}"#)

        #expect(try ResponseSerializer.json.value(of: text)["a"] == 2)
        // Which of them Foundation takes it does not say; one of them it is, and no trap.
        #expect([1, 2].contains(try ResponseSerializer.decodable(Pair.self).value(of: text).a))
    }

    @Test(arguments: ["oodlefratz", "utf-7", ""])
    func `text in an unknown charset is a typed error, never wrong text`(charset: String) {
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
    func `a value that may be missing is missing when any key of its path is`(text: String) throws {
        let serializer = ResponseSerializer<[Int]?>.decodable(at: "data.page.items")

        #expect(try serializer.value(of: Self.raw(text)) == nil)
        #expect(throws: APIError.self) {
            try ResponseSerializer<[Int]>.decodable(at: "data.page.items").value(of: Self.raw(text))
        }
    }

    @Test func `a key of the path that is no object is an error also where the value may be missing`() {
        #expect(throws: APIError.self) {
            try ResponseSerializer<[Int]?>.decodable(at: "data.items").value(of: Self.raw(#"{"data": [1]}"#))
        }
    }

    @Test(arguments: ["1970-01-01T00:00:10,5Z", "1970-01-01T00:00:10.5Z", "1970-01-01T01:00:10,5+01:00"])
    func `the fraction of a date may follow a point or a comma`(text: String) throws {
        let dates = try ResponseSerializer.decodable([Date].self).value(of: Self.raw("[\"\(text)\"]"))

        #expect(dates == [Date(timeIntervalSince1970: 10.5)])
    }

    @Test(
        arguments: [
            ("iso8859-1", [0xE9], "é"), ("l1", [0xE9], "é"), ("cp1252", [0x80], "€"), ("CP1251", [0xC6], "Ж"),
            ("x-sjis", [0x82, 0xA0], "あ"), ("x-gbk", [0xC4, 0xE3], "你"), ("unicode-1-1-utf-8", [0xC3, 0xA9], "é"),
        ] as [(String, [UInt8], String)]
    )
    func `encodings have the other names of the WHATWG's standard too`(
        charset: String,
        bytes: [UInt8],
        text: String
    ) throws {
        let answer = RawResponse(headers: ["Content-Type": "text/plain; charset=\(charset)"], data: Data(bytes))

        #expect(try ResponseSerializer.string.value(of: answer) == text)
    }

    @Test func `a charset with characters that no parameter may hold gives way to the next`() {
        #expect(MediaType("text/html;charset=\"\u{2003}x\";charset=gbk")?.charset == "gbk")
        #expect(MediaType("text/html;charset=\"\u{FF}\";charset=gbk")?.charset == "\u{FF}")
    }
}
