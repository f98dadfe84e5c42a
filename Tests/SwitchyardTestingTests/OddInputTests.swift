import Foundation
import SwitchyardClient
import SwitchyardHTTP
import Testing

@testable import SwitchyardTesting

/// Input as no server and no client should send it.
@Suite struct OddInputTests {
    private func head(_ text: String) throws(LoopbackError) -> RequestHead? {
        var parser = RequestParser()
        parser.feed(Array(text.utf8))
        guard case .head(let head)? = try parser.next() else { return nil }
        return head
    }

    // `ByteRanges` is public; `0..<-1` and `length - Int.max` end the process.
    @Test(arguments: ["bytes=-5", "bytes=-99999999999999999999", "bytes=0-", "bytes=0-4", "bytes=-0"], [-1, -7, .min])
    func `a content of a negative length has no ranges`(field: String, length: Int) {
        #expect(ByteRanges(field, length: length) == .unsatisfiable)
    }

    @Test(arguments: [-5, -1, 0, .min]) func `a body of a negative length can be cut`(length: Int) {
        let response = LoopbackResponse.stream(length: length) { _ in }
        for byReset in [false, true] {
            let reply = Reply(response, to: nil, closes: false, fault: .cut(after: nil, byReset: byReset))
            #expect(reply.opening().ending == (byReset ? .reset : .close))
        }
    }

    // RFC 9112 section 6.1: with HTTP/1.0 the framing "MUST" be treated as faulty, and the connection closed.
    @Test func `chunks of an HTTP/1.0 client end the connection`() throws {
        let text = "POST / HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"

        #expect(try head(text)?.keepsAlive == false)
    }

    // RFC 9112 section 7.1: a chunk-size is hexadecimal digits, with nothing in front.
    @Test(arguments: [" 1", "\t1"]) func `a chunk size after a blank is refused`(size: String) throws {
        var parser = RequestParser()
        let head = "PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        parser.feed(Array("\(head)\(size)\r\na\r\n0\r\n\r\n".utf8))
        _ = try parser.next()

        #expect(throws: LoopbackError.self) { _ = try parser.next() }
    }

    // By bytes: a mark that joins a delimiter makes one character of both.
    @Test(arguments: ["/topics?\u{301}x=1", "/topics?\u{200D}=1", "http://a.example/topics?\u{301}"])
    func `what is joined to the question mark does not hide it`(target: String) throws {
        #expect(try head("GET \(target) HTTP/1.1\r\nHost: x\r\n\r\n")?.path == "/topics")
    }

    @Test func `what is joined to a slash does not hide it`() {
        #expect(LoopbackRoute(.get, "/users/{id}").matches(path: "/users/\u{301}x"))
        #expect(!LoopbackRoute(.get, "/users").matches(path: "/users/\u{301}x"))
        #expect(LoopbackRoute(.get, "/users/{id}").values(in: "/users/\u{301}x") == ["id": "\u{301}x"])
    }

    @Test func `pairs of a query are parted by bytes`() {
        let items = LoopbackRequest.items(ofForm: "a=\u{301}1&\u{301}b=2")

        #expect(items.map(\.name) == ["a", "\u{301}b"])
        #expect(items.map(\.value) == ["\u{301}1", "2"])
    }

    // "Fields that the request has, among others": of several of one name only the first is looked at.
    @Test func `of several fields of one name each is looked for`() throws {
        let url = try RequestURL(validating: "http://a.example/x")
        let two = HTTPHeaders([.init(name: "X-Tag", value: "a"), .init(name: "x-tag", value: "b")])
        let request = HTTPRequest(url: url, headers: two)

        #expect(RequestExpectation(.get, "/x", headers: ["X-Tag": "b"]).differences(from: request).isEmpty)
        #expect(RequestExpectation(.get, "/x", headers: two).differences(from: request).isEmpty)
        #expect(RequestExpectation(.get, "/x", headers: ["X-Tag": "c"]).differences(from: request).count == 1)
    }
}
