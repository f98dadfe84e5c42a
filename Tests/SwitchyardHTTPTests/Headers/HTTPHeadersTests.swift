import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardRequests
import Testing

@Suite struct HTTPHeadersTests {
    @Test func `names of header fields are case-insensitive and keep their order`() {
        var headers: HTTPHeaders = ["B": "1", "A": "2"]
        headers.set("b", "3")
        headers.add("a", "4")

        #expect(headers.map(\.name) == ["b", "A", "a"])
        #expect(headers["A"] == "2")
        #expect(headers.values(of: "a") == ["2", "4"])
        #expect(headers.sorted().map(\.name) == ["A", "a", "b"])
    }

    @Test func `removing a header field removes all fields of its name`() {
        var headers: HTTPHeaders = ["a": "1", "b": "2", "A": "3"]

        headers["A"] = nil

        #expect(headers == ["b": "2"])
    }

    @Test func `each convenience method for a header field sets the right name and value`() {
        let headers: HTTPHeaders = [.bearer("t"), .accept("a/b"), .basic(user: "Aladdin", password: "open sesame")]

        #expect(headers[0] == HTTPHeaders.Field(name: "Authorization", value: "Bearer t"))
        #expect(headers[2].value == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
    }

    // RFC 7617 section 2: the first colon ends the user name.
    @Test(arguments: ["a:b", ":", "a:\u{301}b"])
    func `a user name with a colon makes an invalid Authorization field`(user: String) throws {
        let configuration = APIConfiguration(headers: [.basic(user: user, password: "c")])

        let expected = RequestError.header(name: "Authorization", reason: .colonInUserName)
        #expect(BuiltRequest.failure(configuration) == expected)
        #expect(expected.message.contains("colon"))
        #expect(HTTPHeaders.Field.basic(user: "a", password: "b:c").isValid)
    }

    @Test func `each convenience method for a header field sets a different name`() {
        let headers: HTTPHeaders = [
            .accept("v"), .acceptCharset("v"), .acceptEncoding("v"), .acceptLanguage("v"), .authorization("v"),
            .cacheControl("v"), .contentDisposition("v"), .contentEncoding("v"), .contentType("v"), .cookie("v"),
            .ifMatch("v"), .ifModifiedSince("v"), .ifNoneMatch("v"), .origin("v"), .range("v"), .referer("v"),
            .webSocketProtocol("v"), .userAgent("v"),
        ]

        #expect(
            headers.map(\.name) == [
                "Accept", "Accept-Charset", "Accept-Encoding", "Accept-Language", "Authorization", "Cache-Control",
                "Content-Disposition", "Content-Encoding", "Content-Type", "Cookie", "If-Match", "If-Modified-Since",
                "If-None-Match", "Origin", "Range", "Referer", "Sec-WebSocket-Protocol", "User-Agent",
            ]
        )
        #expect(headers.allSatisfy { $0.value == "v" })
    }

    @Test func `authorization fields can be removed`() {
        var headers: HTTPHeaders = [.bearer("t"), .accept("a/b"), .init(name: "proxy-authorization", value: "x")]

        headers.removeAuthorization()

        #expect(headers.map(\.name) == ["Accept"])
    }

    @Test(arguments: [
        (["en-GB"], "en-GB"), (["en_GB", "de"], "en-GB, de;q=0.9"), ([], ""),
        (["a", "b", "c", "d", "e", "f", "g"], "a, b;q=0.9, c;q=0.8, d;q=0.7, e;q=0.6, f;q=0.5"),
        (["x\r\ny", "de"], "de"),
    ])
    func `the preferred languages have decreasing weights`(languages: [String], expected: String) {
        #expect(HTTPHeaders.acceptLanguage(of: languages) == expected)
    }

    #if os(Linux)
        @Test func `the default User-Agent names the running program`() throws {
            let agent = try #require(HTTPHeaders.standard["User-Agent"])

            let program = HTTPHeaders.userAgent(name: ProcessInfo.processInfo.processName, version: "", details: [])
            #expect(agent.hasPrefix(String(program.prefix { $0 != " " })))
            #expect(agent.hasSuffix(") Switchyard"))
        }
    #endif

    @Test(arguments: [
        (
            "Demo", "1.2", ["com.example", "build:7", "iOS 17.0.0"],
            "Demo/1.2 (com.example; build:7; iOS 17.0.0) Switchyard"
        ),
        ("My App", "", [], "My-App Switchyard"), ("Ünïcode", "1", ["(x)\r\n"], "Unicode/1 (x) Switchyard"),
    ])
    func `a User-Agent is plain ASCII`(name: String, version: String, details: [String], expected: String) {
        #expect(HTTPHeaders.userAgent(name: name, version: version, details: details) == expected)
    }

    @Test func `a non-ASCII User-Agent is transliterated and valid`() {
        let value = HTTPHeaders.userAgent(name: "话题", version: "1", details: ["东京"])

        #expect(value.utf8.allSatisfy { $0 >= 32 && $0 < 127 })
        #expect(HTTPHeaders([.userAgent(value)]).firstInvalidField == nil)
    }

    @Test(arguments: [
        (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
        (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
    ])
    func `HTTP dates are written and parsed`(seconds: Double, text: String) {
        let date = Date(timeIntervalSince1970: seconds)

        #expect(HTTPDate.text(for: date) == text)
        #expect(HTTPDate.date(from: text) == date)
    }

    @Test(arguments: [("10", 10), ("0", 0), ("-1", nil), ("+10", nil), ("1 0", nil), ("", nil), ("ten", nil)])
    func `a Content-Length consists of digits only`(text: String, length: Int64?) {
        #expect(HTTPHeaders([HTTPHeaders.Field(name: "Content-Length", value: text)]).contentLength == length)
    }

    @Test(arguments: ["Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"])
    func `the obsolete HTTP date formats are parsed`(text: String) {
        #expect(HTTPDate.date(from: text) == Date(timeIntervalSince1970: 784_111_777))
    }

    @Test(arguments: ["1 Jan 0001 00:00:00 GMT", "Mon, 1 Jan 001 00:00:00 GMT"])
    func `a four-digit year in an HTTP date is taken literally, and a three-digit year is invalid`(text: String) {
        #expect(HTTPDate.date(from: "Mon, 01 Jan 0001 00:00:00 GMT")?.timeIntervalSince1970 == -62_135_596_800)
        #expect(HTTPDate.date(from: text) == nil)
    }

    @Test(arguments: [
        "", "yesterday", "Sun, 06 Nov 1994 08:49:37 PST", "Sun, 31 Feb 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 +0800", "Sun, 06 Nov 1994 08:49:37 -0800", "Sun, 06 Nov 1994 08:49:37 GMT+1",
    ])
    func `parsing text that is not an HTTP date returns nil`(text: String) {
        #expect(HTTPDate.date(from: text) == nil)
    }
}
