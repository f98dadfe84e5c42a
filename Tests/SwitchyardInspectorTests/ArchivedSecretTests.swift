import Foundation
import SwitchyardDiagnostics
import SwitchyardFixtures
import SwitchyardInspector
import Testing

/// Archives of other programs are shown without their secrets: on the page, in the curl command and in copied text.
@Suite(.timeLimit(.minutes(5)), .prompt) struct ArchivedSecretTests {
    private static let secret = "s3cr3t-0123456789"
    private static let json = Data(#"{"access_token":"\#(secret)","user":"ada?>"}"#.utf8)

    private static func archive(
        content: String = #""text": """#,
        request: String = "",
        url: String = "https://shop.example/a",
        comment: String = ""
    ) throws -> HARArchive {
        let json = """
            {"log": {"version": "1.2", "creator": {"name": "Proxy", "version": "1"}, "entries": [
            {"startedDateTime": "2024-05-06T07:08:09.123Z", "time": 12.5, "cache": {}, "comment": "\(comment)",
            "timings": {"send": 0.5, "wait": 4, "receive": 1},
            "request": {"method": "POST", "url": "\(url)", "httpVersion": "h2",
            "cookies": [], "headers": [], "queryString": [], "headersSize": -1, "bodySize": 9\(request)},
            "response": {"status": 200, "statusText": "", "httpVersion": "h2", "cookies": [], "headers": [],
            "content": {"size": 20, "mimeType": "application/json", \(content)},
            "redirectURL": "", "headersSize": -1, "bodySize": 9}}]}}
            """
        return try HARArchive(data: Data(json.utf8))
    }

    /// The bodies of the only call as text, and everything else on the page.
    private func shown(_ archive: HARArchive) throws -> (request: String, response: String?, all: String) {
        let record = InspectorRecord(of: archive, name: "a")
        let attempt = try #require(record.details["1"]?.attempts.first)
        func text(_ body: CallDetail.Body?) -> String? {
            body?.text ?? body?.base64.flatMap { Data(base64Encoded: $0) }.map { String(decoding: $0, as: UTF8.self) }
        }
        let request = text(attempt.request.body) ?? ""
        return (request, text(attempt.response?.body), request + (attempt.curl ?? "") + "\(record)")
    }

    /// Base64 in sloppy forms, with its label.
    private static let encodings: [(text: String, label: String)] = {
        let plain = json.base64EncodedString()
        let lines = stride(from: 0, to: plain.count, by: 20).map { String(plain.dropFirst($0).prefix(20)) }
        let forURLs = plain.replacing("+", with: "-").replacing("/", with: "_")
        let bare = String(plain.prefix { $0 != "=" })
        return [
            (plain, "base64"), (lines.joined(separator: "\\r\\n"), "base64"), (lines.joined(separator: " "), "base64"),
            (lines.joined(separator: "\\n") + "\\n", "BASE64"), (bare, "Base64"), (forURLs, "base64url"),
            (bare.replacing("+", with: "-"), "base-64"), ("\\t" + plain, " base64 "), (plain + "!", "base64"),
            (plain + plain, "base64"),
        ]
    }()

    @Test(arguments: encodings.indices)
    func `a base64 response body in a HAR is decoded as leniently as in a browser`(index: Int) throws {
        let (text, label) = Self.encodings[index]
        let archive = try Self.archive(content: #""text": "\#(text)", "encoding": "\#(label)""#)

        let (_, response, all) = try shown(archive)

        #expect(response?.hasPrefix(#"{"access_token":"***","user":"ada?>"}"#) == true, "\(text)")
        #expect(!all.contains(Self.secret))
        #expect(!all.contains(String(Self.json.base64EncodedString().prefix(20))))
    }

    @Test(arguments: ["encoding", "_encoding"], encodings.indices)
    func `a base64 request body in a HAR is decoded under both names of the encoding member`(member: String, index: Int)
        throws
    {
        let (text, label) = Self.encodings[index]
        let data = #", "postData": {"mimeType": "application/json", "text": "\#(text)", "\#(member)": "\#(label)"}"#

        let (request, _, all) = try shown(Self.archive(request: data))

        #expect(request.hasPrefix(#"{"access_token":"***","user":"ada?>"}"#))
        #expect(!all.contains(Self.secret))
        #expect(!all.contains(String(Self.json.base64EncodedString().prefix(20))))
    }

    @Test(arguments: ["quoted-printable", "hex", "rot13", "base85", "gzip"])
    func `a body in an unknown encoding is not shown, and a note gives the reason`(label: String) throws {
        let text = Data("password=\(Self.secret)".utf8).map { String($0, radix: 16) }.joined()
        let data = #", "postData": {"mimeType": "text/plain", "text": "\#(text)", "encoding": "\#(label)"}"#
        let archive = try Self.archive(content: #""text": "\#(text)", "encoding": "\#(label)""#, request: data)

        let record = InspectorRecord(of: archive, name: "a")

        let attempt = try #require(record.details["1"]?.attempts.first)
        #expect(attempt.response?.body.note == "the encoding \(label) of the body is not supported")
        #expect(attempt.request.body.note == "the encoding \(label) of the body is not supported")
        #expect(attempt.curl == nil)
        #expect(!"\(record)".contains(text))
    }

    @Test(arguments: ["hello world", #"{\"a\":1}"#, "true", "<p>no</p>", "plain text, no base64!", "OK."])
    func `a body that is wrongly declared as base64 is shown as text`(text: String) throws {
        let archive = try Self.archive(content: #""text": "\#(text)", "encoding": "base64""#)

        let body = InspectorRecord(of: archive, name: "a").details["1"]?.attempts.first?.response?.body

        #expect(body?.text == text.replacing("\\", with: ""))
    }

    @Test func `a binary body in a HAR archive stays binary`() throws {
        let picture = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 255, 254, 0, 1])
        let text = picture.base64EncodedString(options: .lineLength64Characters)
        let data = #", "postData": {"mimeType": "image/png", "text": "\#(text)", "encoding": "base64"}"#

        let record = InspectorRecord(of: try Self.archive(request: data), name: "a")

        #expect(record.details["1"]?.attempts.first?.request.body.base64 == picture.base64EncodedString())
    }

    @Test(arguments: ["multipart/form-data; boundary=x", "multipart/form-data", "application/json", "text/plain", ""])
    func `the fields of a form in an archive are redacted by name regardless of the form's type`(type: String) throws {
        let fields = #"[{"name": "user", "value": "ada"}, {"name": "password", "value": "\#(Self.secret)"}]"#
        let data = #", "postData": {"mimeType": "\#(type)", "params": \#(fields)}"#

        let (request, _, all) = try shown(Self.archive(request: data))

        #expect(request == "user=ada&password=***")
        #expect(all.contains("curl") && !all.contains(Self.secret))
    }

    /// Bodies whose type does not describe their content.
    private static let misnamed: [(type: String, text: String)] = [
        ("multipart/form-data", #"--x\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nSECRET\r\n--x--"#),
        (
            "multipart/form-data; boundary=y",
            #"--x\nContent-Disposition: form-data; name=\"password\"\n\nSECRET\n--x--"#
        ),
        (
            "multipart/form-data; boundary=x",
            #"--x\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a?token=SECRET\"\r\n\r\n1\r\n--x--"#
        ),
        ("application/json", "user=ada&password=SECRET"), ("application/json", #")]}',\n{\"token\": \"SECRET\"}"#),
        (" Application/X-WWW-Form-Urlencoded", "a=1&password=SECRET"),
        ("text/html", #"<img src=\"data:application/json;base64,BASE64\">"#),
        ("text/plain", "see data:application/json;base64,BASE64"),
    ]

    @Test(arguments: misnamed.indices)
    func `secrets in a body of an archive are redacted even if its type is wrong or incomplete`(index: Int) throws {
        let (type, text) = Self.misnamed[index]
        let encoded = Data(#"{"token":"\#(Self.secret)"}"#.utf8).base64EncodedString()
        let written = text.replacing("SECRET", with: Self.secret).replacing("BASE64", with: encoded)
        let data = #", "postData": {"mimeType": "\#(type)", "text": "\#(written)"}"#

        let (_, _, all) = try shown(Self.archive(request: data))

        #expect(!all.contains(Self.secret) && !all.contains(encoded), "\(written)")
    }

    @Test func `secrets in a UTF-16 body are redacted`() throws {
        let wide = try #require(String(decoding: Self.json, as: UTF8.self).data(using: .utf16LittleEndian))
        let text = (Data([0xFF, 0xFE]) + wide).base64EncodedString()

        let body = InspectorRecord(
            of: try Self.archive(content: #""text": "\#(text)", "encoding": "base64""#),
            name: "a"
        ).details["1"]?.attempts.first?.response?.body

        let data = try #require(body?.base64.flatMap { Data(base64Encoded: $0) })
        let shown = try #require(String(data: data.dropFirst(2), encoding: .utf16LittleEndian))
        #expect(shown == #"{"access_token":"***","user":"ada?>"}"#)
    }

    @Test(arguments: [
        "data:application/json;base64,BASE64", "DATA:;base64,BASE64", "data:text/plain,password%3DSECRET",
    ])
    func `secrets in a data URL are redacted`(form: String) throws {
        let encoded = Data(#"{"token":"\#(Self.secret)"}"#.utf8).base64EncodedString()
        let url = form.replacing("SECRET", with: Self.secret).replacing("BASE64", with: encoded)

        let (_, _, all) = try shown(Self.archive(url: url))

        #expect(!all.contains(Self.secret) && !all.contains(encoded))
    }

    @Test func `no member of a HAR archive shows a secret on the inspector page`() throws {
        let text = """
            {"log": {"creator": {"name": "token=\(Self.secret)"}, "pages": [{"title": "?token=\(Self.secret)"}],
            "entries": [{"startedDateTime": "token=\(Self.secret)", "comment": "#1 a/b/token=\(Self.secret), round 1, attempt 1",
            "_webSocketMessages": [{"data": "\(Self.secret)"}], "_initiator": {"url": "\(Self.secret)"},
            "request": {"method": "GET", "url": "https://a.example/?token=\(Self.secret)",
            "cookies": [{"name": "a", "value": "\(Self.secret)"}],
            "headers": [{"name": ":path", "value": "/?token=\(Self.secret)"}],
            "queryString": [{"name": "token", "value": "\(Self.secret)"}]},
            "response": {"status": 302, "statusText": "token=\(Self.secret)", "redirectURL": "/?token=\(Self.secret)",
            "cookies": [{"name": "a", "value": "\(Self.secret)"}],
            "headers": {"Location": "/?token=\(Self.secret)", "Set-Cookie": "a=\(Self.secret)"},
            "_error": "token=\(Self.secret)"}}, "token=\(Self.secret)"]}}
            """

        let record = InspectorRecord(of: try HARArchive(data: Data(text.utf8)), name: "a")

        #expect(record.feed.calls.count == 1)
        #expect(try !InspectorPage().html(showing: record).contains(Self.secret))
    }

    // If the time grew with the third power of the length, this test would not finish.
    @Test func `a comment of 20,000 slashes in an archive is parsed`() throws {
        let comment = "#1 a" + String(repeating: "/", count: 20_000)
        let archive = try Self.archive(comment: comment)

        #expect(InspectorRecord(of: archive, name: "a").details.count == 1)
    }
}
