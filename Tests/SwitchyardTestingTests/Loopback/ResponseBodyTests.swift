import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@Suite(.timeLimit(.minutes(5)), .prompt) struct ResponseBodyTests {
    let server: LoopbackServer

    init() throws {
        server = try .running()
    }

    @Test func `a loopback response that is created from a status may have header fields and a body`() async throws {
        server.route(.get, "/gone") { _ in .status(410) }
        server.route(.get, "/busy") { _ in .status(503, headers: ["Retry-After": "7"], body: Data("later".utf8)) }

        let gone = try await server.connect().get("/gone")
        let busy = try await server.connect().get("/busy")

        #expect(gone.status == 410 && gone["Content-Length"] == "0" && gone.text.isEmpty)
        #expect(busy.status == 503 && busy["Retry-After"] == "7" && busy.text == "later")
    }

    @Test func `the loopback server sends a streamed body in chunks`() async throws {
        let response = try await server.connect().get("/chunks")

        #expect(response["Transfer-Encoding"] == "chunked")
        #expect(response["Content-Length"] == nil)
        #expect(response.text == "one two three")
    }

    @Test func `a streamed response body of known length has a Content-Length`() async throws {
        server.route(.get, "/length") { _ in
            .stream(length: 6) { writer in
                try await writer.write("abc")
                try await writer.write("def")
            }
        }

        let response = try await server.connect().get("/length")

        #expect(response["Content-Length"] == "6")
        #expect(response.text == "abcdef")
    }

    @Test func `a response body without a length ends when the loopback server closes the connection`() async throws {
        server.route(.get, "/close", answering: LoopbackResponse(body: .data(Data("x".utf8)), framing: .untilClose))
        let socket = try server.connect()

        let response = try await socket.get("/close")

        #expect(response["Content-Length"] == nil)
        #expect(response.text == "x")
    }

    @Test func `the trailers of a chunked response follow its chunks`() async throws {
        server.route(.get, "/trailers") { _ in
            .stream { writer in
                try await writer.write("body")
                writer.setTrailers(["X-Sum": "4"])
            }
        }

        let response = try await server.connect().get("/trailers")

        #expect(response.text == "body")
        #expect(response.trailers == ["X-Sum: 4"])
    }

    @Test func `a response body that is sent as a whole in chunks may have trailers`() async throws {
        let response = LoopbackResponse(body: .data(Data("body".utf8)), trailers: ["X-Sum": "4"], framing: .chunked)
        server.route(.get, "/whole", answering: response)

        let received = try await server.connect().get("/whole")

        #expect(received["Trailer"] == "X-Sum")
        #expect(received.text == "body")
        #expect(received.trailers == ["X-Sum: 4"])
    }

    @Test(arguments: ["/topics", "/fixed", "/chunks"]) func `HEAD gets the head of GET and no body`(
        path: String
    ) async throws {
        let socket = try server.connect()

        let head = try await socket.get(path, method: "HEAD")
        let whole = try await socket.get(path)

        #expect(head.statusLine == whole.statusLine)
        #expect(head.fields == whole.fields)
    }

    @Test func `each chunk arrives before the next chunk is written`() async throws {
        let (steps, step) = AsyncStream.makeStream(of: String.self)
        server.route(.get, "/steps") { _ in
            .stream { writer in
                for await text in steps { try await writer.write(text) }
            }
        }
        let socket = try server.connect()
        try await socket.send(RawSocket.request("/steps"))
        for _ in 0..<3 { _ = try await socket.receiveLine() }

        for text in ["a", "bb"] {
            step.yield(text)
            #expect(try await socket.receive(exactly: text.count + 5) == Data("\(text.count)\r\n\(text)\r\n".utf8))
        }
        step.finish()

        #expect(try await socket.receive(exactly: 5) == Data("0\r\n\r\n".utf8))
    }

    @Test func `the writer of a streamed response is never far ahead of the client that reads it`() async throws {
        let written = Locked(0)
        server.route(.get, "/large") { _ in
            .stream(length: 64 * 1_048_576) { writer in
                for _ in 0..<64 {
                    try await writer.write(Data(count: 1_048_576))
                    written.withLock { $0 += 1 }
                }
            }
        }
        let socket = try server.connect()
        try await socket.send(RawSocket.request("/large"))
        for _ in 0..<3 { _ = try await socket.receiveLine() }

        for received in 1...64 {
            _ = try await socket.receive(exactly: 1_048_576)
            // The difference is at most what the system's buffers hold.
            #expect(written.withLock { $0 } - received < 24)
        }

        #expect(await server.wait { $0.responsesSent == 1 })
    }

    @Test func `the writer of a streamed response fails when its client disconnects`() async throws {
        let (failures, report) = AsyncStream.makeStream(of: LoopbackError.self)
        server.route(.get, "/endless") { _ in
            .stream { writer in
                do throws(LoopbackError) {
                    while true { try await writer.write(Data(count: 65_536)) }
                } catch {
                    report.yield(error)
                }
            }
        }
        do {
            let socket = try server.connect()
            try await socket.send(RawSocket.request("/endless"))
            _ = try await socket.receive(exactly: 100_000)
        }

        #expect(await failures.first { _ in true } == .connectionClosed)
    }

    @Test func `a writer that throws truncates its streamed response`() async throws {
        struct Oops: Error {}
        server.route(.get, "/oops") { _ in
            .stream { writer in
                try await writer.write("half")
                throw Oops()
            }
        }
        let socket = try server.connect()

        try await socket.send(RawSocket.request("/oops"))
        let rest = try await socket.receiveToEnd()

        #expect(rest.text.hasSuffix("\r\n\r\n4\r\nhalf\r\n"))
        #expect(rest.end == .closed)
    }

    @Test func `the loopback server sends raw bytes unchanged`() async throws {
        server.route(.get, "/raw", answering: .raw(Data("HTTP/1.1 299 Odd\r\nX:y\r\n\r\nrest".utf8)))
        let socket = try server.connect()

        try await socket.send(RawSocket.request("/raw"))
        let rest = try await socket.receiveToEnd()

        #expect(rest.text == "HTTP/1.1 299 Odd\r\nX:y\r\n\r\nrest")
        #expect(rest.end == .closed)
    }
}
