import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardTesting
import Testing

@Suite(.timeLimit(.minutes(5)), .prompt) struct BadInputTests {
    let server: LoopbackServer

    init() throws {
        server = try .running(limits: LoopbackLimits(headBytes: 1024))
    }

    /// Everything that is received for some bytes until the end of the connection.
    private func answer(to bytes: Data) async throws -> String {
        let socket = try server.connect()
        try await socket.send(bytes)
        return try await socket.receiveToEnd().text
    }

    @Test(arguments: [
        ("hello\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\n\r\n", 400),
        ("GET / HTTP/3.0\r\nHost: x\r\n\r\n", 505),
        ("GET / HTTP/1.1\r\nHost: x\r\nX: \(String(repeating: "y", count: 2000))\r\n\r\n", 431),
        ("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        ("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n", 400),
        ("POST /fixed HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcX", 400),
        ("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", 501),
    ])
    func `an invalid request gets its status and a closed connection`(text: String, status: Int) async throws {
        let answer = try await answer(to: Data(text.utf8))

        #expect(answer.hasPrefix("HTTP/1.1 \(status) "))
        #expect(answer.contains("Connection: close\r\n"))
        #expect(server.statistics.badRequests == 1)
        #expect(try await server.connect().get("/fixed").text == "fixed")
    }

    @Test func `random bytes never crash the loopback server`() async throws {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<50 {
            let bytes = Data((0..<500).map { _ in UInt8.random(in: 0...255, using: &random) } + Array("\r\n\r\n".utf8))
            _ = try await answer(to: bytes)
        }

        #expect(try await server.connect().get("/fixed").text == "fixed")
    }

    @Test func `a valid request before an invalid request gets its response`() async throws {
        let answer = try await answer(to: Data((RawSocket.request("/fixed") + "GARBAGE\r\n\r\n").utf8))

        #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(answer.contains("\r\n\r\nfixedHTTP/1.1 400 Bad Request\r\n"))
    }

    @Test func `an invalid chunk after the response head closes the connection`() async throws {
        server.route(.post, "/stream") { request in
            .stream { writer in
                for try await piece in request.body { try await writer.write(piece) }
            }
        }
        let socket = try server.connect()

        try await socket.send("POST /stream HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n")
        for _ in 0..<5 { _ = try await socket.receiveLine() }
        try await socket.send("zzz\r\n")

        #expect(try await socket.receiveToEnd().bytes.isEmpty)
        #expect(await server.wait { $0.connectionsOpen == 0 })
    }

    @Test func `a client that connects to a server without sending a request blocks no other client`() async throws {
        let silent = try server.connect()

        #expect(try await server.connect().get("/fixed").text == "fixed")
        #expect(try await silent.get("/fixed").text == "fixed")
    }
}
