import Foundation
import SwitchyardFixtures
import SwitchyardTesting
import Testing

@testable import SwitchyardClient
@testable import SwitchyardHTTP
@testable import SwitchyardTransport

/// Non-ASCII field values are sent back to servers with their original bytes.
@Suite(.timeLimit(.minutes(5)), .prompt) struct OpaqueTextTests {
    private static let samples: [[UInt8]] = [
        Array("caf".utf8) + [0xE9], [0x80], [0xFF, 0xFE, 0x41], [0xC3], Array("a".utf8) + [0xC2, 0x41], [0xEF, 0x41],
        Array("\"".utf8) + (0x80...0xFF).map { UInt8($0) } + Array("\"".utf8),
    ]

    private static func latin1(_ bytes: [UInt8]) -> String {
        String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }

    @Test(arguments: samples)
    func `bytes of a header field that are not UTF-8 are restored from its text`(_ bytes: [UInt8]) {
        let field = HTTPHeaders.Field(name: "ETag", latin1: Self.latin1(bytes))

        #expect(field.value == Self.latin1(bytes))
        #expect(OpaqueText.bytes(of: field.echo) == bytes)
        #expect(OpaqueText.unmarked(field.echo) == field.value)
        #expect(HTTPHeaders.Field(name: "If-None-Match", echo: field.echo).echo == field.echo)
    }

    @Test(arguments: ["", "plain", "café", "漢字", "e\u{301}", "\u{EF}\u{B7}\u{90}", "a\u{34F}e", "é\u{34F}"])
    func `text that an app sets is sent as UTF-8`(_ text: String) {
        let field = HTTPHeaders.Field(name: "X-Text", value: text)

        #expect(OpaqueText.bytes(of: field.echo) == Array(text.utf8))
        #expect(OpaqueText.percentEncoded(text) == text)
    }

    @Test func `setting the value of a header field discards its original bytes`() {
        var field = HTTPHeaders.Field(name: "ETag", latin1: "é")
        field.value = "é"

        #expect(field.echo == "é")
    }

    @Test func `non-UTF-8 bytes in a Location field are percent-encoded in the URL`() {
        let place = HTTPHeaders.Field(name: "Location", latin1: "/caf\u{E9}/\u{FF}?q=a").echo

        #expect(OpaqueText.percentEncoded(place) == "/caf%E9/%FF?q=a")
    }

    @Test func `the marker of a non-UTF-8 byte is plain text unless it follows a non-ASCII Latin-1 character`() {
        let mark = String(decoding: [0xEF, 0xB7, 0x90], as: UTF8.self)
        for text in ["a\(mark)", "漢\(mark)", mark] { #expect(OpaqueText.bytes(of: text) == Array(text.utf8)) }
    }

    @Test func `a cookie that is not UTF-8 is sent back with its original bytes`() throws {
        let jar = CookieJar()
        var headers = HTTPHeaders()
        headers.add(HTTPHeaders.Field(name: "Set-Cookie", latin1: "a=caf\u{E9}; Path=/"))
        let url = try #require(RequestURL("http://a.test/"))
        jar.store(from: headers, of: url)

        let field = try #require(jar.header(for: url))

        #expect(OpaqueText.bytes(of: field) == Array("a=caf".utf8) + [0xE9])
    }

    // RFC 7616 section 3.4.2: the hash covers the bytes of the realm.
    @Test func `a Digest response hashes and sends the original bytes of the realm`() throws {
        var headers = HTTPHeaders()
        headers.add(HTTPHeaders.Field(name: "WWW-Authenticate", latin1: "Digest realm=\"caf\u{E9}\", nonce=\"n\""))
        let challenges = AuthenticationChallenge.all(in: headers)
        let answer = try #require(DigestResponse.best(of: challenges))
        let url = try #require(RequestURL("http://a.test/"))

        let field = try answer.field(
            user: "u",
            password: "p",
            request: HTTPRequest(url: url),
            count: 1,
            clientNonce: "c"
        )

        #expect(challenges.first?.realm == "café")
        let secret = MessageDigest.md5(Array("u:caf".utf8) + [0xE9] + Array(":p".utf8)).hexText
        let what = MessageDigest.md5(Array("GET:/".utf8)).hexText
        let response = MessageDigest.md5(Array("\(secret):n:\(what)".utf8)).hexText
        #expect(field.contains("response=\"\(response)\""))
        let sent = OpaqueText.bytes(of: field)
        #expect(String(sent.map { Character(Unicode.Scalar($0)) }).contains("realm=\"caf\u{E9}\""))
    }

    #if os(Linux)
        /// Serves one response with these bytes, and returns the bytes of the request.
        private func exchange(_ answer: [UInt8], _ headers: HTTPHeaders) async throws -> (HTTPResponse, [UInt8]) {
            let listener = try TCPListener()
            async let request = listener.serveOne { connection -> [UInt8] in
                let request = RawHTTP.request(on: connection)
                _ = answer.withUnsafeBytes { write(connection, $0.baseAddress, $0.count) }
                return request
            }
            let url = try #require(RequestURL("http://127.0.0.1:\(listener.port)/"))
            let response = try await CurlTransport().send(HTTPRequest(url: url, headers: headers))
            return (response, await request)
        }

        @Test(arguments: samples)
        func `an ETag that is not UTF-8 is sent back with its original bytes`(_ bytes: [UInt8]) async throws {
            let start = Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nETag: ".utf8)
            let (first, _) = try await exchange(start + bytes + Array("\r\n\r\n".utf8), [:])
            let tag = try #require(first.headers.echo(of: "ETag"))

            let (_, request) = try await exchange(
                start + Array("\r\n\r\n".utf8),
                HTTPHeaders([HTTPHeaders.Field(name: "If-None-Match", echo: tag)])
            )

            let line = Array("If-None-Match: ".utf8) + bytes + Array("\r\n".utf8)
            #expect(request.indices.contains { request[$0...].starts(with: line) })
        }
    #endif
}
