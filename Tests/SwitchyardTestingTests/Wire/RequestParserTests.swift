import Foundation
import SwitchyardClient
import SwitchyardHTTP
import Testing

@testable import SwitchyardTesting

@Suite struct RequestParserTests {
    /// Feeds text in chunks of `size` bytes and collects the events.
    private func events(of text: String, size: Int = .max) throws(LoopbackError) -> [RequestEvent] {
        var parser = RequestParser(headLimit: 256)
        var rest = Array(text.utf8)[...]
        var events: [RequestEvent] = []
        while !rest.isEmpty {
            parser.feed(rest.prefix(size))
            rest = rest.dropFirst(size)
            while let event = try parser.next() { events.append(event) }
        }
        return events
    }

    private func heads(of events: [RequestEvent]) -> [RequestHead] {
        events.compactMap { if case .head(let head) = $0 { head } else { nil } }
    }

    private func body(of events: [RequestEvent]) -> String {
        let pieces = events.compactMap { if case .body(let piece) = $0 { piece } else { nil } }
        return String(decoding: pieces.reduce(Data(), +), as: UTF8.self)
    }

    @Test func `the head of a request is parsed into its parts`() throws {
        let text = "POST /a?b=c HTTP/1.1\r\nHost: x\r\nX-Two:  1 \r\nx-two:2\r\nContent-Length: 0\r\n\r\n"

        let head = try #require(heads(of: try events(of: text)).first)

        #expect(head.method == .post)
        #expect(head.target == "/a?b=c")
        #expect(head.path == "/a")
        #expect(head.headers.map(\.name) == ["Host", "X-Two", "x-two", "Content-Length"])
        #expect(head.headers.values(of: "X-Two") == ["1", "2"])
        #expect(head.framing == .length(0))
        #expect(head.raw == Data(text.utf8))
    }

    @Test(arguments: [
        ("http://a.example:8080/topics?x=/1", "/topics"), ("HTTP://a.example", "/"), ("http://a.example?x=1", "/"),
        ("/to?url=http://b.example/", "/to"), ("/http://b.example/", "/http://b.example/"), ("*", "*"),
    ])
    func `the target of a parsed request may be an absolute URL`(target: String, path: String) throws {
        let head = try #require(heads(of: try events(of: "GET \(target) HTTP/1.1\r\nHost: x\r\n\r\n")).first)

        #expect(head.path == path)
    }

    @Test(arguments: [1, 2, 3, 7, 1000])
    func `the events of the request parser do not depend on the size of the chunks`(size: Int) throws {
        let text = """
            POST /1 HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello\
            POST /2 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n\
            3;name=value\r\nabc\r\nA\r\n0123456789\r\n0\r\nX-Sum: 7\r\n\r\n\
            GET /3 HTTP/1.0\r\n\r\n
            """

        let events = try events(of: text, size: size)

        #expect(heads(of: events).map(\.target) == ["/1", "/2", "/3"])
        #expect(body(of: events) == "helloabc0123456789")
        let ends = events.compactMap { if case .end(let trailers) = $0 { trailers } else { nil } }
        #expect(ends == [[:], ["X-Sum": "7"], [:]])
    }

    @Test func `calling next of the request parser parses one event and leaves the other bytes in the buffer`() throws {
        var parser = RequestParser()
        parser.feed(Array("GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\n\r\n".utf8))

        #expect(heads(of: [try #require(try parser.next())]).map(\.target) == ["/1"])
        #expect(try parser.next() == .end(trailers: [:]))
        #expect(parser.bufferedCount == 28)
    }

    @Test func `empty lines before a request are skipped`() throws {
        #expect(heads(of: try events(of: "\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", size: 1)).count == 1)
    }

    @Test func `a long body in many chunks is passed on completely`() throws {
        var parser = RequestParser()
        parser.feed(Array("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 300000\r\n\r\n".utf8))
        var count = 0
        for index in 0..<300 {
            parser.feed([UInt8](repeating: UInt8(index % 251), count: 1000))
            while let event = try parser.next() { if case .body(let piece) = event { count += piece.count } }
        }

        #expect(count == 300_000)
        #expect(parser.bufferedCount == 0)
    }

    @Test(arguments: [
        ("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", false),
        ("GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, Close\r\n\r\n", false),
        ("GET / HTTP/1.1\r\nHost: x\r\n\r\n", true),
        ("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", true),
        ("GET / HTTP/1.0\r\n\r\n", false),
    ])
    func `version and Connection determine whether the connection is kept`(text: String, stays: Bool) throws {
        #expect(heads(of: try events(of: text)).map(\.keepsAlive) == [stays])
    }

    static let malformed: [(String, Int)] = [
        ("GET /\r\n\r\n", 400),
        ("GET / HTTP/1.1 \r\nHost: x\r\n\r\n", 400),
        ("GET  / HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        ("G@T / HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        ("GET /\u{1} HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        ("GET / HTTP/2.0\r\nHost: x\r\n\r\n", 505),
        ("GET / FTP/1.1\r\nHost: x\r\n\r\n", 400),
        ("GET / HTTP/1.1\nHost: x\n\n", 400),
        ("GET / HTTP/1.1\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost : x\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: x\u{0}y\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: x\r\n: empty\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1, 1\r\n\r\nx", 400),
        ("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx", 400),
        ("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding:\r\nContent-Length: 2\r\n\r\nab", 400),
        ("GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501),
        ("GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\nab", 400),
        ("GET / HTTP/1.1\r\nHost: x\r\nX: \(String(repeating: "y", count: 300))", 431),
        ("\u{16}\u{3}\u{1}", 400),
    ]

    @Test(arguments: malformed) func `an invalid request is rejected with the status that its mistake requires`(
        text: String,
        status: Int
    ) throws {
        let error = #expect(throws: LoopbackError.self) { _ = try events(of: text) }

        guard case .badRequest(status, _) = error else {
            Issue.record("not rejected with \(status): \(String(describing: error))")
            return
        }
    }
}
