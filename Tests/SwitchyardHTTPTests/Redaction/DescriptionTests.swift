import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardRequests
import Testing

@Suite struct DescriptionTests {
    static let secret = "S3CR3T"

    private func secretRequest() throws -> HTTPRequest {
        try BuiltRequest.request(
            APIConfiguration(
                path: "x",
                method: .post,
                query: ["token": Self.secret, "page": 1],
                body: .json(["user": ["password": Self.secret, "name": "n"], "list": [1, 2]] as Parameters),
                headers: [
                    .bearer(Self.secret), .cookie("sid=\(Self.secret)"), .init(name: "X-API-Key", value: Self.secret),
                ]
            )
        )
    }

    @Test func `descriptions of a request contain no credentials`() throws {
        let request = try secretRequest()

        let texts = [
            request.curlDescription(), request.headers.redactedDescription, Redaction.standard.url(request.url.text),
        ]

        #expect(texts.allSatisfy { !$0.contains(Self.secret) })
        #expect(request.curlDescription().contains(#"Authorization: Bearer ***"#))
        #expect(request.curlDescription().contains("page=1"))
        #expect(request.curlDescription(redaction: .none).contains(Self.secret))
    }

    @Test(arguments: [
        ("https://u:p@h/x?token=a&b=c", "https://***@h/x?token=***&b=c"),
        ("https://h/x?user%5Bpassword%5D=1", "https://h/x?user%5Bpassword%5D=***"),
        ("https://h/x", "https://h/x"), ("https://h/x?a", "https://h/x?a"), ("https://h/x#top", "https://h/x#top"),
        ("https://h/x?a=1#token=b&c=d", "https://h/x?a=1#token=***&c=d"),
        // Signed URLs: a URL grants access to the resource that it was signed for.
        (
            "https://h/x?X-Amz-Date=1&X-Amz-Credential=b&X-Amz-Security-Token=c&X-Amz-Signature=d",
            "https://h/x?X-Amz-Date=1&X-Amz-Credential=***&X-Amz-Security-Token=***&X-Amz-Signature=***"
        ), ("https://h/x?X-Goog-Expires=9&X-Goog-Signature=a", "https://h/x?X-Goog-Expires=9&X-Goog-Signature=***"),
        ("https://h/x?se=1&sig=a", "https://h/x?se=1&sig=***"),
        ("https://h/x?Signature=a", "https://h/x?Signature=***"),
        ("https://h/x#/login?token=b", "https://h/x#/login?token=***"),
        // A semicolon may separate two parameters or be part of a value.
        ("https://h/x?page=7;token=a", "https://h/x?page=7;token=***"),
        ("https://h/x?token=a;b&page=7", "https://h/x?token=***&page=7"),
        // All elements of a list and all members of a value are secret.
        ("https://h/x?token[0]=a&token%5Ba%5D%5B%5D=b", "https://h/x?token[0]=***&token%5Ba%5D%5B%5D=***"),
        ("https://h/x?token.c=d", "https://h/x?token.c=***"),
    ])
    func `secrets in a URL are redacted`(url: String, expected: String) {
        #expect(Redaction.standard.url(url) == expected)
    }

    @Test(arguments: [
        "Private-Token", "X-Vault-Token", "X-Goog-Api-Key", "Ocp-Apim-Subscription-Key", "X-XSRF-Token", "apikey",
    ])
    func `header fields with common API key names are redacted`(name: String) {
        let headers: HTTPHeaders = [name: "s3cret"]

        #expect(headers.redactedDescription == "\(name): ***")
    }

    @Test(arguments: [
        ("Location", "https://h/back?code=a&b=c#token=d", "https://h/back?code=***&b=c#token=***"),
        ("referer", "https://u:p@h/", "https://***@h/"), ("Refresh", "5; url=/x?token=a", "5; url=/x?token=***"),
        (
            "Link", "<https://h/x?token=a&page=2>; rel=next, <https://h/x?token=a>; rel=\"last\"",
            "<https://h/x?token=***&page=2>; rel=next, <https://h/x?token=***>; rel=\"last\""
        ),
        ("X-Note", "a?token=b", "a?token=b"),
    ])
    func `secrets in the URLs of header fields are redacted`(name: String, value: String, expected: String) {
        #expect(Redaction.standard.value(value, ofHeader: name) == expected)
        #expect(Redaction.none.value(value, ofHeader: name) == value)
    }

    @Test(arguments: [
        (#"{"password": "a\"b", "x": 1}"#, #"{"password": "***", "x": 1}"#),
        (#"{"token":{"a":[1,{"b":2}]},"c":3}"#, #"{"token":"***","c":3}"#), (#"["token", 1]"#, #"["token", 1]"#),
        (#"{"a":"token","key":12}"#, #"{"a":"token","key":"***"}"#), (#"{"token":"#, #"{"token":"#),
        (#"{"idToken":"a","clientSecret":"b"}"#, #"{"idToken":"***","clientSecret":"***"}"#),
        (#"{"old_password":"a","newPassword":"b"}"#, #"{"old_password":"***","newPassword":"***"}"#),
        (#"{"password":"a","password_confirmation":"a"}"#, #"{"password":"***","password_confirmation":"***"}"#),
        (#"{"monkey":"a","tokens":2,"passwordHint":"b"}"#, #"{"monkey":"a","tokens":2,"passwordHint":"b"}"#),
    ])
    func `only the secrets in JSON are redacted`(text: String, expected: String) {
        let hidden = Redaction.standard.body(Data(text.utf8), contentType: "application/json")

        #expect(String(decoding: hidden, as: UTF8.self) == expected)
    }

    @Test func `an app can add names to the lists of redacted names`() {
        var redaction = Redaction.standard
        redaction.parameterNames.insert("voucher")
        redaction.headerNames.insert("x-voucher")

        #expect(redaction.url("https://h/x?Voucher=a&token=b&c=d") == "https://h/x?Voucher=***&token=***&c=d")
        #expect(redaction.value("a", ofHeader: "X-Voucher") == "***")
        #expect(Redaction.standard.url("https://h/x?Voucher=a") == "https://h/x?Voucher=a")
    }

    @Test(arguments: [("a=1&password=x", "a=1&password=***"), ("[a]=1&password=x", "[a]=1&password=***")])
    func `secrets in a form are redacted`(text: String, expected: String) {
        let hidden = Redaction.standard.body(
            Data(text.utf8),
            contentType: "application/x-www-form-urlencoded; charset=utf-8"
        )

        #expect(String(decoding: hidden, as: UTF8.self) == expected)
    }

    @Test(arguments: [nil, "text/html", "application/octet-stream", "application/x-www-form-urlencoded"])
    func `secrets in JSON with another content type are redacted`(type: String?) {
        let hidden = Redaction.standard.body(Data(" {\"token\": 1}".utf8), contentType: type)

        #expect(String(decoding: hidden, as: UTF8.self) == " {\"token\": \"***\"}")
    }

    @Test func `secrets in JSON after a byte order mark are redacted`() {
        let hidden = Redaction.standard.body(Data("\u{FEFF}{\"token\": 1}".utf8), contentType: "text/plain")

        #expect(hidden == Data("\u{FEFF}{\"token\": \"***\"}".utf8))
    }

    @Test func `only the secrets in a multipart form are redacted`() throws {
        let parts: [MultipartPart] = [
            .field("user", "me"), .field("password", Self.secret), .field("note", "a\r\n\r\nb"),
        ]
        let form = MultipartForm(parts: parts, boundary: "x.y")
        guard case .data(let data) = try form.body() else {
            throw RequestError.body(kind: "form", reason: .notInMemory)
        }

        let hidden = Redaction.standard.body(data, contentType: "multipart/form-data; boundary=\"x.y\"")

        let expected = String(decoding: data, as: UTF8.self).replacing(Self.secret, with: "***")
        #expect(String(decoding: hidden, as: UTF8.self) == expected)
        #expect(expected.contains("***"))
    }

    @Test(arguments: ["application/json", nil])
    func `secrets in a JSON part of a multipart form are redacted`(type: String?) throws {
        let json = Data(#"{"token": "\#(Self.secret)", "a": 1}"#.utf8)
        let part = MultipartPart.data(json, name: "call", contentType: type)
        let form = MultipartForm(parts: [part, .field("note", "b")], boundary: "x")
        guard case .data(let data) = try form.body() else {
            throw RequestError.body(kind: "form", reason: .notInMemory)
        }

        let hidden = Redaction.standard.body(data, contentType: form.contentType)

        let expected = String(decoding: data, as: UTF8.self).replacing(Self.secret, with: "***")
        #expect(String(decoding: hidden, as: UTF8.self) == expected)
    }

    @Test(arguments: 0...9) func `secrets in nested multipart forms are redacted at any depth`(depth: Int) {
        var form = "--b0\r\nContent-Disposition: form-data; name=password\r\n\r\n\(Self.secret)\r\n--b0--\r\n"
        for level in 0..<depth {
            let type = "Content-Type: multipart/mixed; boundary=b\(level)"
            form = "--b\(level + 1)\r\n\(type)\r\n\r\n\(form)\r\n--b\(level + 1)--\r\n"
        }

        let hidden = Redaction.standard.body(Data(form.utf8), contentType: "multipart/mixed; boundary=b\(depth)")

        let text = String(decoding: hidden, as: UTF8.self)
        #expect(!text.contains(Self.secret))
        #expect(text.contains("***"))
    }
}
