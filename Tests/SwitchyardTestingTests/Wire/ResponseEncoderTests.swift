import Foundation
import SwitchyardClient
import SwitchyardHTTP
import Testing

@testable import SwitchyardTesting

@Suite struct ResponseEncoderTests {
    private func head(_ method: HTTPMethod = .get, minorVersion: Int = 1, _ headers: HTTPHeaders = [:]) -> RequestHead {
        RequestHead(
            method: method,
            target: "/",
            minorVersion: minorVersion,
            headers: headers,
            framing: .length(0),
            raw: Data()
        )
    }

    private func text(_ encoder: ResponseEncoder) -> String {
        String(decoding: encoder.head, as: UTF8.self)
    }

    @Test func `a body of known length is sent with its Content-Length`() {
        let encoder = ResponseEncoder(.text("hello"), to: head(), closes: false)

        #expect(
            text(encoder) == """
                HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 5\r\n\r\n
                """
        )
        #expect(encoder.keepsAlive)
    }

    @Test func `a body of unknown length is sent in chunks`() {
        let encoder = ResponseEncoder(.stream { _ in }, to: head(), closes: false)

        #expect(text(encoder) == "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        #expect(String(decoding: encoder.frame(Data("0123456789ab".utf8)), as: UTF8.self) == "c\r\n0123456789ab\r\n")
        #expect(encoder.frame(Data()).isEmpty)
        #expect(String(decoding: encoder.end(trailers: ["X": "y"]), as: UTF8.self) == "0\r\nX: y\r\n\r\n")
    }

    @Test func `the loopback server sends no chunks to an HTTP/1.0 client`() {
        let encoder = ResponseEncoder(.stream { _ in }, to: head(minorVersion: 0), closes: false)

        #expect(text(encoder) == "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
        #expect(encoder.framing == .untilClose)
        #expect(!encoder.keepsAlive)
    }

    @Test func `a response to HEAD announces a body that is not sent`() {
        let encoder = ResponseEncoder(.text("hello"), to: head(.head), closes: false)

        #expect(text(encoder).contains("Content-Length: 5\r\n"))
        #expect(encoder.framing == .none)
        #expect(encoder.keepsAlive)
    }

    @Test(arguments: [204, 304]) func `a response whose status forbids a body is sent without a length`(status: Int) {
        let encoder = ResponseEncoder(.text("hello", status: status), to: head(), closes: false)

        #expect(!text(encoder).contains("Content-Length"))
        #expect(encoder.framing == .none)
    }

    @Test func `a Content-Length of the handler is sent unchanged`() {
        let response = LoopbackResponse(headers: ["content-length": "99"], body: .data(Data("x".utf8)))

        let encoder = ResponseEncoder(response, to: head(), closes: false)

        #expect(text(encoder) == "HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n")
    }

    @Test(arguments: [(3, "8"), (-2, "3"), (-9, "0")]) func `a handler can send a wrong Content-Length on purpose`(
        difference: Int,
        announced: String
    ) {
        let encoder = ResponseEncoder(.text("hello"), to: head(), closes: false, lengthError: difference)

        #expect(text(encoder).contains("Content-Length: \(announced)\r\n"))
    }

    @Test func `trailers are announced in the Trailer field`() {
        let response = LoopbackResponse(body: .data(Data("x".utf8)), trailers: ["X-Sum": "1"], framing: .chunked)

        #expect(text(ResponseEncoder(response, to: head(), closes: false)).contains("Trailer: X-Sum\r\n"))
    }
}
