import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardMarkup
import SwitchyardRequests
import SwitchyardServices
import Testing

@testable import SwitchyardAPI

@Suite struct ResponseSerializerTests {
    struct Topic: Decodable, Equatable, Sendable {
        var id: Int
        var title: String
    }

    static func json(_ text: String, status: Int = 200, type: String? = "application/json") -> RawResponse {
        var headers = HTTPHeaders()
        headers["Content-Type"] = type
        return RawResponse(status: status, headers: headers, data: Data(text.utf8))
    }

    static func failure(of text: String) -> DecodingFailure? {
        let error = #expect(throws: APIError.self) {
            try ResponseSerializer.decodable([Topic].self, at: "data.items").value(of: json(text))
        }
        guard case .body(.decoding(let failure)) = error?.reason else { return nil }
        return failure
    }

    @Test func `a value is decoded from the root of the JSON or from a key path`() throws {
        let topic = Topic(id: 1, title: "a")

        #expect(try ResponseSerializer.decodable(Topic.self).value(of: Self.json(#"{"id":1,"title":"a"}"#)) == topic)
        let framed = Self.json(#"{"data":{"items":[{"id":1,"title":"a"}]}}"#)
        #expect(try ResponseSerializer.decodable([Topic].self, at: "data.items").value(of: framed) == [topic])
        #expect(
            try ResponseSerializer.decodable(Int.self, at: "data.n").value(of: Self.json(#"{"data":{"n":7}}"#)) == 7
        )
    }

    @Test func `a root value that is well-formed but cannot be decoded fails as corrupted, not as malformed`() {
        enum Colour: String, Decodable, Sendable { case red }
        func failure<Value: Decodable & Sendable>(_ type: Value.Type, _ text: String) -> DecodingFailure? {
            let error = #expect(throws: APIError.self) {
                try ResponseSerializer.decodable(type).value(of: Self.json(text))
            }
            guard case .body(.decoding(let failure)) = error?.reason else { return nil }
            return failure
        }

        #expect(failure(Colour.self, #""blue""#)?.kind == .corrupted)
        #expect(failure(Int8.self, "300")?.kind == .corrupted)
        #expect(failure(Colour.self, #""red"#)?.kind == .malformed(offset: 4))
    }

    @Test func `a decoding failure names its kind and key path`() {
        #expect(
            Self.failure(of: #"{"data":{"items":[{"id":1,"title":"a"},{"id":2}]}}"#)?.keyPath == "data.items[1].title"
        )
        #expect(
            Self.failure(of: #"{"data":{"items":[{"id":"1"}]}}"#)
                == .init(.wrongType(expected: "Int"), keyPath: "data.items[0].id")
        )
        #expect(Self.failure(of: #"{"data":{"items":[{"id":null}]}}"#)?.keyPath == "data.items[0].id")
        #expect(Self.failure(of: #"{"data":{}}"#) == .init(.missingKey, keyPath: "data.items"))
        #expect(Self.failure(of: #"{"data":"#) == .init(.malformed(offset: 8)))
        #expect(Self.failure(of: "<html>") == .init(.malformed(offset: 0)))
    }

    @Test func `JSON nested 10,000 deep is a typed error, even for a recursive type`() {
        struct Tree: Decodable, Sendable { var children: [Tree]? }
        let deep = String(repeating: #"{"children":["#, count: 10_000) + String(repeating: "]}", count: 10_000)
        let expected = APIError(.body(.decoding(DecodingFailure(.tooDeep(limit: 128)))))

        #expect(throws: expected) { try ResponseSerializer.decodable(Tree.self).value(of: Self.json(deep)) }
        #expect(throws: expected) { try ResponseSerializer.json.value(of: Self.json(deep)) }
    }

    @Test func `brackets within JSON strings do not count as nesting depth`() throws {
        let text = "[\"" + String(repeating: "[{\\\"", count: 500) + "\"]"

        #expect(try ResponseSerializer.decodable([String].self).value(of: Self.json(text)).count == 1)
    }

    @Test func `a huge JSON array is rejected if the call expects a small object`() {
        let large = "[" + String(repeating: "1,", count: 1_000_000) + "1]"

        #expect(throws: APIError.self) { try ResponseSerializer.decodable(Topic.self).value(of: Self.json(large)) }
    }

    @Test
    func `response rules are checked in the order status, content type, decoding, and the first violation is thrown`() {
        let serializer = ResponseSerializer.decodable(Topic.self)

        #expect(throws: APIError(.status(500))) {
            try serializer.value(of: Self.json("{", status: 500, type: "text/html"))
        }
        let wrongType = #expect(throws: APIError.self) { try serializer.value(of: Self.json("{", type: "text/html")) }
        #expect(wrongType?.reason.summary.contains("content type is text/html") == true)
        let undecodable = #expect(throws: APIError.self) {
            try serializer.value(of: Self.json("{", type: "text/html"), rules: .lenient)
        }
        #expect(undecodable?.reason.summary.contains("malformed") == true)
    }

    @Test func `response rules can be replaced for a call`() throws {
        let topic = #"{"id":1,"title":"a"}"#
        let serializer = ResponseSerializer.decodable(Topic.self)

        #expect(try serializer.value(of: Self.json(topic, status: 418), rules: .init(status: .only([418]))).id == 1)
        #expect(try serializer.value(of: Self.json(topic, status: 500, type: "a/b"), rules: .off).id == 1)
        #expect(try serializer.value(of: Self.json(topic, type: "text/html"), rules: .lenient).id == 1)
    }

    @Test(arguments: [
        nil, "application/json", "application/json; charset=utf-8", "application/problem+json", "text/javascript",
    ])
    func `a call that expects JSON accepts JSON content types and a missing content type`(type: String?) {
        #expect(throws: Never.self) { try ResponseSerializer.json.value(of: Self.json("{}", type: type)) }
    }

    @Test(arguments: ["text/html", "text/plain", "application/xml", "nonsense", "image/png"])
    func `a response whose content type is not accepted is rejected`(type: String) {
        #expect(throws: APIError.self) { try ResponseSerializer.json.value(of: Self.json("{}", type: type)) }
    }

    @Test func `an empty response body is an error unless the value may be empty`() throws {
        for text in ["", " ", "\r\n"] {
            #expect(throws: APIError(.body(.empty))) {
                try ResponseSerializer.decodable(Topic.self).value(of: Self.json(text))
            }
            #expect(try ResponseSerializer.decodable(Topic?.self).value(of: Self.json(text)) == nil)
            #expect(throws: APIError(.body(.empty))) { try ResponseSerializer.json.value(of: Self.json(text)) }
        }
        #expect(try ResponseSerializer.data.value(of: RawResponse(status: 204)) == Data())
        #expect(try ResponseSerializer.empty.value(of: Self.json("whatever")) == EmptyBody())
        #expect(throws: APIError(.body(.empty))) {
            try ResponseSerializer.empty.value(
                of: RawResponse(),
                rules: .init(emptyBody: .onlyWith(statuses: [204, 205]))
            )
        }
    }

    @Test func `an empty body does not match a declared JSON shape`() {
        let rules = ResponseRules(shape: .object(["id": .integer]))

        #expect(throws: APIError(.body(.empty))) {
            try ResponseSerializer.decodable(Topic?.self).value(of: Self.json(""), rules: rules)
        }
    }

    @Test func `a violation of the JSON shape names its key path`() {
        let rules = ResponseRules(shape: .object(["items": .array(of: .object(["id": .integer]))]))
        let violation = ShapeViolation(.kind(expected: "integer", found: "string"), keyPath: "items[1].id")

        #expect(throws: APIError(.body(.shape(violation)))) {
            try ResponseSerializer.json.value(of: Self.json(#"{"items":[{"id":1},{"id":"2"}]}"#), rules: rules)
        }
    }

    @Test(arguments: [#"{"role":"admin","role":"user"}"#, #"{"role":"user","role":"admin"}"#])
    func `a duplicate member name cannot bypass the check of the JSON shape, whichever value the decoder takes`(
        text: String
    ) throws {
        let rules = ResponseRules(shape: .object(["role": .string.oneOf(["user"])]))
        let violation = APIError(.body(.shape(ShapeViolation(.rule("one of 1 values"), keyPath: "role"))))

        #expect(throws: violation) {
            try ResponseSerializer.decodable([String: String].self).value(of: Self.json(text), rules: rules)
        }
        let same = Self.json(#"{"role":"user","role":"user"}"#)
        #expect(try ResponseSerializer.json.value(of: same, rules: rules) == ["role": "user"])
    }

    @Test func `a JSON shape is checked to the maximum depth that the module sets`() throws {
        let text = String(repeating: "[", count: 200) + String(repeating: "]", count: 200)
        let rules = ResponseRules(shape: .array())
        let deep = ResponseSerializer.json(using: JSONDecoding(maximumDepth: 300))

        #expect(try deep.value(of: Self.json(text), rules: rules).array?.count == 1)
        #expect(throws: APIError(.body(.decoding(DecodingFailure(.tooDeep(limit: 128)))))) {
            try ResponseSerializer.json.value(of: Self.json(text), rules: rules)
        }
    }

    @Test func `a prefix of the body is removed before decoding`() throws {
        var rules = ResponseRules.strict
        rules.removePrefix(")]}',\n")

        #expect(try ResponseSerializer.json.value(of: Self.json(")]}',\n[1]"), rules: rules) == [1])
        #expect(try ResponseSerializer.json.value(of: Self.json("[1]"), rules: rules) == [1])
    }

    @Test func `the inspect rule can reject a response because of its content`() {
        var rules = ResponseRules.strict
        rules.inspect = { response in
            if response.data.count < 10 { throw UserError.userNotFound.error() }
        }

        #expect(throws: UserError.userNotFound.error()) {
            try ResponseSerializer.json.value(of: Self.json("{}"), rules: rules)
        }
    }

    @Test func `the inspect rule also receives responses without a body`() {
        var rules = ResponseRules.strict
        rules.inspect = { response in
            if response.headers["X-Signature"] == nil { throw UserError.userNotFound.error() }
        }

        #expect(throws: UserError.userNotFound.error()) {
            try ResponseSerializer<EmptyBody>.empty.value(of: RawResponse(status: 204), rules: rules)
        }
    }

    @Test(arguments: [
        ("ISO-8859-15", "A4", "€"), ("iso-8859-7", "E1", "α"), ("windows-1256", "C7", "ا"), ("KOI8-R", "C1", "а"),
        ("EUC-KR", "B0A1", "가"), ("Big5", "A4A4", "中"), ("windows-1257", "E0", "ą"), ("GBK", "C4E3", "你"),
    ])
    func `legacy charsets of many languages are decoded`(name: String, hex: String, expected: String) throws {
        let digits = hex.compactMap(\.hexDigitValue)
        let bytes = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
        let headers: HTTPHeaders = ["Content-Type": "text/plain; charset=\(name)"]

        #expect(try ResponseSerializer.string.value(of: RawResponse(headers: headers, data: Data(bytes))) == expected)
    }

    @Test func `text is decoded in the charset of the response, and a byte order mark takes precedence`()
        throws
    {
        func text(_ bytes: [UInt8], _ type: String) throws(APIError) -> String {
            try ResponseSerializer.string.value(of: RawResponse(headers: ["Content-Type": type], data: Data(bytes)))
        }

        #expect(try text([0xE9], "text/plain; charset=ISO-8859-1") == "é")
        #expect(try text([0xC3, 0xA9], "text/plain") == "é")
        #expect(try text([0xEF, 0xBB, 0xBF, 0x61], "text/plain; charset=iso-8859-1") == "a")
        #expect(try text([0xFE, 0xFF, 0x00, 0x61], "text/plain") == "a")
        #expect(try text([0xFF, 0xFE, 0, 0, 0x61, 0, 0, 0], "text/plain; charset=utf-32") == "a")
        #expect(throws: APIError(.body(.text(encoding: "UTF-8")))) { try text([0xD8], "text/plain") }
        #expect(throws: APIError(.body(.text(encoding: "oodle")))) { try text([0x61], "text/plain; charset=oodle") }
    }

    @Test func `JSON in another charset or with a byte order mark is decoded`() throws {
        let utf16 = RawResponse(
            headers: ["Content-Type": "application/json; charset=utf-16le"],
            data: Data([0x5B, 0, 0x31, 0, 0x5D, 0])
        )
        let marked = RawResponse(
            headers: ["Content-Type": "application/json"],
            data: Data([0xEF, 0xBB, 0xBF, 0x5B, 0x31, 0x5D])
        )

        #expect(try ResponseSerializer.decodable([Int].self).value(of: utf16) == [1])
        #expect(try ResponseSerializer.decodable([Int].self).value(of: marked) == [1])
    }

    @Test(arguments: [("windows-874", [0xE1, 0xB4, 0xA7], "แดง"), ("cp866", [0xE2, 0xA0, 0xAA], "так")])
    func `JSON in an encoding whose words may be valid UTF-8 has the declared charset`(
        name: String,
        bytes: [UInt8],
        text: String
    ) throws {
        let headers: HTTPHeaders = ["Content-Type": "application/json; charset=\(name)"]
        let answer = RawResponse(headers: headers, data: Data(#"[""#.utf8) + Data(bytes) + Data(#""]"#.utf8))

        #expect(try ResponseSerializer.decodable([String].self).value(of: answer) == [text])
    }

    @Test(arguments: ["ISO-8859-1", "windows-1252", "utf8mb4", "latin9", "iso-8859-9", "cp1256"])
    func `JSON in UTF-8 is decoded as UTF-8 whatever charset is declared`(name: String) throws {
        let headers: HTTPHeaders = ["Content-Type": "application/json; charset=\(name)"]
        let answer = RawResponse(headers: headers, data: Data(#"["é"]"#.utf8))
        let latin = RawResponse(headers: headers, data: Data([0x5B, 0x22, 0xE9, 0x22, 0x5D]))

        #expect(try ResponseSerializer.decodable([String].self).value(of: answer) == ["é"])
        #expect(try ResponseSerializer.json.value(of: answer) == ["é"])
        let honest = try? ResponseSerializer.decodable([String].self).value(of: latin)
        #expect(honest == (name == "utf8mb4" ? nil : ["é"]))
    }

    @Test func `text that nests too deeply is rejected even if it has a byte order mark or another charset`() throws {
        let deep = String(repeating: "[", count: 200) + String(repeating: "]", count: 200)
        let marked = RawResponse(
            headers: ["Content-Type": "application/json"],
            data: Data([0xEF, 0xBB, 0xBF]) + Data(deep.utf8)
        )
        let wide = RawResponse(
            headers: ["Content-Type": "application/json; charset=utf-16le"],
            data: Data(deep.utf8.flatMap { [$0, 0] })
        )
        let plain = RawResponse(headers: ["Content-Type": "application/json"], data: Data(deep.utf8))
        let tooDeep = APIError(.body(.decoding(DecodingFailure(.tooDeep(limit: JSONDepth.standard)))))

        for response in [marked, wide, plain] {
            #expect(throws: tooDeep) { try ResponseSerializer.decodable([Int].self).value(of: response) }
        }
    }

    @Test(arguments: [1, 16])
    func `a response body of only a few spaces counts as empty`(_ count: Int) throws {
        let blank = RawResponse(
            headers: ["Content-Type": "application/json"],
            data: Data(repeating: 0x20, count: count)
        )

        #expect(throws: APIError(.body(.empty))) { try ResponseSerializer.decodable([Int].self).value(of: blank) }
        #expect(try ResponseSerializer.decodable([Int]?.self).value(of: blank) == nil)
    }

    @Test func `a response is decoded by the first serializer that matches, such as one for property lists`() throws {
        let list = try PropertyListSerialization.data(
            fromPropertyList: ["id": 1, "title": "a"],
            format: .xml,
            options: 0
        )
        let response = RawResponse(headers: ["Content-Type": "application/xml"], data: list)
        let either = ResponseSerializer.first(of: [.decodable(Topic.self), .propertyList(Topic.self)])

        #expect(try ResponseSerializer.propertyList(Topic.self).value(of: response).id == 1)
        #expect(try either.value(of: response).title == "a")
        #expect(try either.value(of: Self.json(#"{"id":2,"title":"b"}"#)).id == 2)
        #expect(throws: APIError.self) { try either.value(of: Self.json("{}")) }
    }

    @Test func `a serializer can transform the decoded value`() throws {
        let titles = ResponseSerializer.decodable([Topic].self).map { $0.map(\.title) }

        #expect(try titles.value(of: Self.json(#"[{"id":1,"title":"a"}]"#)) == ["a"])
    }

    @Test func `dates in JSON are decoded from ISO 8601 with or without fractions of a second`() throws {
        let dates = try ResponseSerializer.decodable([Date].self).value(
            of: Self.json(#"["2024-02-29T12:00:00Z","2024-02-29T12:00:00.250Z"]"#)
        )

        #expect(dates[1].timeIntervalSince(dates[0]) == 0.25)
        #expect(throws: APIError.self) {
            try ResponseSerializer.decodable([Date].self).value(of: Self.json(#"["today"]"#))
        }
    }

    @Test func `a module can configure the decoder for its responses`() throws {
        struct Model: Decodable, Sendable { var firstName: String }
        let decoding = JSONDecoding { $0.keyDecodingStrategy = .convertFromSnakeCase }

        let model = try ResponseSerializer.decodable(Model.self, using: decoding).value(
            of: Self.json(#"{"first_name":"Ada"}"#)
        )
        #expect(model.firstName == "Ada")
    }

    @Test func `one broken element does not make the decoding of a lossy array fail`() throws {
        let text = #"[{"id":1,"title":"a"},{"id":"x"},null,{"id":4,"title":"d"}]"#

        let array = try ResponseSerializer.decodable(LossyArray<Topic>.self).value(of: Self.json(text))

        #expect(array.elements.map(\.id) == [1, 4])
        #expect(array.failures.map(\.index) == [1, 2])
        #expect(array.failures.first?.failure.keyPath == "[1].id")
    }

    @Test func `a custom serializer is subject to all response rules`() throws {
        struct Odd: Error {}
        let own = ResponseSerializer(accepting: [.json]) { response -> Int in
            guard response.data.count % 2 == 0 else { throw Odd() }
            return response.data.count
        }

        #expect(try own.value(of: Self.json("{}")) == 2)
        #expect(throws: APIError(.status(404))) { try own.value(of: Self.json("{}", status: 404)) }
        #expect(throws: APIError(.body(.decoding(.init(.corrupted))))) { try own.value(of: Self.json("{ }")) }
    }
}
