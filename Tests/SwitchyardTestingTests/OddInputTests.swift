import Foundation
import SwitchyardClient
import SwitchyardHTTP
import Testing

@testable import SwitchyardTesting

/// Input that no correct server or client sends.
@Suite struct OddInputTests {
    private func head(_ text: String) throws(LoopbackError) -> RequestHead? {
        var parser = RequestParser()
        parser.feed(Array(text.utf8))
        guard case .head(let head)? = try parser.next() else { return nil }
        return head
    }

    // `ByteRanges` is public. `0..<-1` and `length - Int.max` would trap.
    @Test(arguments: ["bytes=-5", "bytes=-99999999999999999999", "bytes=0-", "bytes=0-4", "bytes=-0"], [-1, -7, .min])
    func `no range of a LoopbackContent with a negative length can be satisfied`(field: String, length: Int) {
        #expect(ByteRanges(field, length: length) == .unsatisfiable)
    }

    @Test(arguments: [-5, -1, 0, .min]) func `a loopback response body of negative length can be truncated`(length: Int)
    {
        let response = LoopbackResponse.stream(length: length) { _ in }
        for byReset in [false, true] {
            let reply = Reply(response, to: nil, closes: false, fault: .cut(after: nil, byReset: byReset))
            #expect(reply.opening().ending == (byReset ? .reset : .close))
        }
    }

    // RFC 9112 section 6.1: this framing "MUST" be treated as faulty with HTTP/1.0, and the connection closed.
    @Test func `a chunked request of an HTTP/1.0 client closes the connection`() throws {
        let text = "POST / HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"

        #expect(try head(text)?.keepsAlive == false)
    }

    // RFC 9112 section 7.1: a chunk-size consists of hexadecimal digits only.
    @Test(arguments: [" 1", "\t1"]) func `a chunk size after whitespace is rejected`(size: String) throws {
        var parser = RequestParser()
        let head = "PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        parser.feed(Array("\(head)\(size)\r\na\r\n0\r\n\r\n".utf8))
        _ = try parser.next()

        #expect(throws: LoopbackError.self) { _ = try parser.next() }
    }

    // Compared as bytes, because a combining mark and the delimiter before it form one `Character`.
    @Test(arguments: ["/topics?\u{301}x=1", "/topics?\u{200D}=1", "http://a.example/topics?\u{301}"])
    func `a combining mark after the question mark does not hide the question mark`(target: String) throws {
        #expect(try head("GET \(target) HTTP/1.1\r\nHost: x\r\n\r\n")?.path == "/topics")
    }

    @Test func `a combining mark after a slash does not hide the slash`() {
        #expect(LoopbackRoute(.get, "/users/{id}").matches(path: "/users/\u{301}x"))
        #expect(!LoopbackRoute(.get, "/users").matches(path: "/users/\u{301}x"))
        #expect(LoopbackRoute(.get, "/users/{id}").values(in: "/users/\u{301}x") == ["id": "\u{301}x"])
    }

    @Test func `a combining character after a separator in a query does not hide the separator`() {
        let items = LoopbackRequest.items(ofForm: "a=\u{301}1&\u{301}b=2")

        #expect(items.map(\.name) == ["a", "\u{301}b"])
        #expect(items.map(\.value) == ["\u{301}1", "2"])
    }

    // "Fields that the request has, among others": the test has several fields with one name.
    @Test func `an expected header field matches any of several fields with the same name`() throws {
        let url = try RequestURL(validating: "http://a.example/x")
        let two = HTTPHeaders([.init(name: "X-Tag", value: "a"), .init(name: "x-tag", value: "b")])
        let request = HTTPRequest(url: url, headers: two)

        #expect(RequestExpectation(.get, "/x", headers: ["X-Tag": "b"]).differences(from: request).isEmpty)
        #expect(RequestExpectation(.get, "/x", headers: two).differences(from: request).isEmpty)
        #expect(RequestExpectation(.get, "/x", headers: ["X-Tag": "c"]).differences(from: request).count == 1)
    }
}
