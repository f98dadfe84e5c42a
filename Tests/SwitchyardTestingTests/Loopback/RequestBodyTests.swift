import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardTesting
import Testing

@Suite(.timeLimit(.minutes(5)), .prompt) struct RequestBodyTests {
    let server: LoopbackServer

    init() throws {
        server = try .running()
    }

    @Test func `a handler can collect a request body of known length`() async throws {
        let socket = try server.connect()

        try await socket.send(RawSocket.request("/echo", method: "POST", body: "hello"))

        #expect(try await socket.receiveResponse().text == "hello")
    }

    @Test func `a handler can collect a chunked request body with its trailers`() async throws {
        server.route(.post, "/trailers") { request in
            let body = try await request.body.collect()
            return .text("\(body.count) \(request.body.trailers["X-Sum"] ?? "none")")
        }
        let socket = try server.connect()

        try await socket.send(
            "POST /trailers HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "5\r\nhello\r\n6;a=b\r\n world\r\n0\r\nX-Sum: 11\r\n\r\n"
        )

        #expect(try await socket.receiveResponse().text == "11 11")
        #expect(server.requests.first?.trailers == ["X-Sum": "11"])
        #expect(server.requests.first?.text == "hello world")
    }

    @Test func `a handler can read a request body chunk by chunk while it arrives`() async throws {
        server.route(.post, "/count") { request in
            .stream { writer in
                for try await piece in request.body { try await writer.write("\(piece.count) ") }
            }
        }
        let socket = try server.connect()

        try await socket.send("POST /count HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\n")
        let head = [try await socket.receiveLine(), try await socket.receiveLine(), try await socket.receiveLine()]
        var pieces: [String] = []
        for piece in ["a", "bcd", "ef"] {
            try await socket.send(piece)
            _ = try await socket.receiveLine()
            pieces.append(try await socket.receiveLine())
        }

        #expect(head == ["HTTP/1.1 200 OK", "Transfer-Encoding: chunked", ""])
        #expect(pieces == ["1 ", "3 ", "2 "])
    }

    @Test(arguments: [0, 1]) func `a loopback server with a tiny buffer reads a whole request body`(_ kept: Int)
        async throws
    {
        let server = try LoopbackServer.running(limits: LoopbackLimits(bufferedBodyBytes: kept))
        let socket = try server.connect()

        try await socket.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\n")
        await server.wait { $0.requestsReceived == 1 }
        for piece in ["ab", "cd", "ef"] { try await socket.send(piece) }

        #expect(try await socket.receiveResponse().text == "abcdef")
    }

    @Test func `a handler that does not read makes the client wait`() async throws {
        let (opened, open) = AsyncStream.makeStream(of: Void.self)
        server.route(.post, "/late") { request in
            for await _ in opened {}
            return .text("\(try await request.body.collect().count)")
        }
        let socket = try server.connect()
        let size = 64 * 1_048_576
        try await socket.send("POST /late HTTP/1.1\r\nHost: x\r\nContent-Length: \(size)\r\n\r\n")

        let sent = try await socket.sendUntilBlocked(Data(count: size))
        let buffered = try #require(server.requests.first?.bodyCount)
        open.finish()
        try await socket.send(Data(count: size - sent))

        #expect(sent < size)
        #expect(buffered <= 65_536 * 2)
        #expect(try await socket.receiveResponse().text == "\(size)")
    }

    @Test func `the loopback server discards the unread body of a request`() async throws {
        server.route(.post, "/ignore") { _ in .text("ignored") }
        let socket = try server.connect()
        let body = String(repeating: "x", count: 1_000_000)

        for _ in 0..<2 {
            try await socket.send(RawSocket.request("/ignore", method: "POST", body: body))
            #expect(try await socket.receiveResponse().text == "ignored")
        }

        await server.waitForRequests(2)
        #expect(server.requests.map(\.bodyCount) == [1_000_000, 1_000_000])
    }

    @Test func `a request body above the handler's limit gets a 413`() async throws {
        server.route(.post, "/small") { request in .data(try await request.body.collect(upTo: 4)) }
        let socket = try server.connect()

        try await socket.send(RawSocket.request("/small", method: "POST", body: "hello"))

        #expect(try await socket.receiveResponse().status == 413)
    }

    @Test func `reading a truncated request body fails`() async throws {
        let (failures, report) = AsyncStream.makeStream(of: LoopbackError?.self)
        server.route(.post, "/broken") { request in
            do throws(LoopbackError) {
                return .data(try await request.body.collect())
            } catch {
                report.yield(error)
                throw error
            }
        }
        do {
            let socket = try server.connect()
            try await socket.send("POST /broken HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf")
            await server.wait { $0.requestsReceived == 1 }
        }

        #expect(await failures.first { _ in true } == .connectionClosed)
        #expect(server.requests.first?.isComplete == false)
    }
}
