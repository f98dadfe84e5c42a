import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardTesting
import Testing

@Suite(.timeLimit(.minutes(5)), .prompt) struct ResponseFaultTests {
    let server: LoopbackServer

    init() throws {
        server = try .running()
    }

    /// Everything that is received for a request until the end of the connection.
    private func answer(
        to target: String = "/fixed",
        method: String = "GET",
        body: String? = nil
    ) async throws -> RawSocket.Rest {
        let socket = try server.connect()
        try await socket.send(RawSocket.request(target, method: method, body: body))
        return try await socket.receiveToEnd()
    }

    @Test(arguments: ["GET", "POST"]) func `a reset fault before the head sends no byte of the response`(
        method: String
    ) async throws {
        server.fault = .resetBeforeHead

        let rest = try await answer(to: "/echo", method: method, body: "hello")

        #expect(rest == RawSocket.Rest(bytes: Data(), end: .reset))
        #expect(server.requests.map(\.text) == ["hello"])
    }

    @Test(arguments: ["/fixed", "/topics", "/chunks"]) func `a reset fault in the body sends half of the body first`(
        target: String
    ) async throws {
        let whole = try await server.connect().get(target).text
        server.fault = .resetInBody()

        let rest = try await answer(to: target)

        let parts = rest.text.components(separatedBy: "\r\n\r\n")
        #expect(parts[0].hasPrefix("HTTP/1.1 200 OK"))
        #expect(!parts[1].isEmpty)
        #expect(parts[1].count < whole.count)
        #expect(rest.end == .reset)
    }

    @Test func `a truncated body ends with a closed connection before its announced length`() async throws {
        server.fault = .truncate(after: 2)

        let rest = try await answer()

        #expect(rest.text.contains("Content-Length: 5\r\n"))
        #expect(rest.text.hasSuffix("\r\n\r\nfi"))
        #expect(rest.end == .closed)
    }

    @Test func `a truncated chunked body has no last chunk`() async throws {
        server.fault = .truncate(after: 6)

        let rest = try await answer(to: "/chunks")

        #expect(rest.text.hasSuffix("\r\n\r\n4\r\none \r\n2\r\ntw\r\n"))
        #expect(rest.end == .closed)
    }

    @Test func `over a real connection, a response without a body is truncated in its head`() async throws {
        server.fault = .truncate()

        let rest = try await answer(to: "/empty")

        #expect(rest.text.hasPrefix("HTTP/1.1 "))
        #expect(!rest.text.contains("\r\n\r\n"))
        #expect(rest.end == .closed)
    }

    @Test func `a status fault responds without calling the handler`() async throws {
        server.fault = .status(503, retryAfter: 7)
        let socket = try server.connect()

        try await socket.send(RawSocket.request("/echo", method: "POST", body: "hello"))
        let response = try await socket.receiveResponse()

        #expect(response.statusLine == "HTTP/1.1 503 Service Unavailable")
        #expect(response["Retry-After"] == "7")
        #expect(response.body.isEmpty)
        server.fault = nil
        #expect(try await socket.get("/fixed").status == 200)
    }

    @Test func `a Content-Length that is too large makes the client wait`() async throws {
        server.fault = .wrongContentLength(by: 3)
        let socket = try server.connect()

        try await socket.send(RawSocket.request("/fixed"))
        let head = try await (0..<4).asyncMap { _ in try await socket.receiveLine() }
        let body = try await socket.receive(exactly: 5)

        #expect(head.contains("Content-Length: 8"))
        #expect(String(decoding: body, as: UTF8.self) == "fixed")
        #expect(try await socket.staysSilent())
    }

    @Test func `a Content-Length that is too small leaves bytes before the next response`() async throws {
        server.fault = .wrongContentLength(by: -2)
        let socket = try server.connect()

        let first = try await socket.get("/fixed")
        try await socket.send(RawSocket.request("/fixed"))

        #expect(first.text == "fix")
        #expect(try await socket.receiveLine() == "edHTTP/1.1 200 OK")
    }

    @Test(arguments: [(Int.max, "Content-Length: \(Int.max)"), (Int.min, "Content-Length: 0")])
    func `a Content-Length may be wrong by any integer`(difference: Int, expected: String) async throws {
        server.fault = .wrongContentLength(by: difference)
        let socket = try server.connect()

        try await socket.send(RawSocket.request("/fixed"))
        let head = try await (0..<4).asyncMap { _ in try await socket.receiveLine() }

        #expect(head.contains(expected))
    }

    @Test func `a garbage response is not HTTP`() async throws {
        server.fault = .garbage

        let rest = try await answer()

        #expect(!rest.bytes.isEmpty)
        #expect(!rest.text.hasPrefix("HTTP/"))
        #expect(rest.end == .closed)
    }

    @Test func `a garbage response may be any bytes`() async throws {
        server.fault = .garbage(Data("HTTP/1.1 abc\r\n\r\n".utf8))

        #expect(try await answer().text == "HTTP/1.1 abc\r\n\r\n")
    }

    @Test func `a client that expects 100-continue gets the 100 response before a fault`() async throws {
        server.fault = .resetBeforeHead
        let socket = try server.connect()

        try await socket.send(
            "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"
        )
        #expect(try await socket.receiveResponse().status == 100)
        try await socket.send("ok")

        #expect(try await socket.receiveToEnd().end == .reset)
    }

    // MARK: routes

    @Test func `a fault of a route does not affect other routes`() async throws {
        server.setFault(.status(500), on: "/topics")
        let socket = try server.connect()

        #expect(try await socket.get("/topics").status == 500)
        #expect(try await socket.get("/fixed").status == 200)
        server.setFault(nil, on: "/topics")
        #expect(try await socket.get("/topics").status == 200)
    }

    @Test func `the fault of the best matching route takes precedence over the fault of the server`() async throws {
        server.fault = .status(500)
        server.setFault(.status(501), on: "*")
        server.setFault(.status(502), on: LoopbackRoute(.get, "/topics"))
        let socket = try server.connect()

        #expect(try await socket.get("/topics").status == 502)
        #expect(try await socket.get("/topics", method: "DELETE").status == 501)
        #expect(try await socket.get("/fixed").status == 501)
        server.clearFaults()
        #expect(try await socket.get("/topics").status == 200)
    }

    @Test func `a refusal fault on a route is a reset, and a black hole fault on a route is a hang`() async throws {
        server.setFault(.refuse, on: "/fixed")
        #expect(try await answer().end == .reset)

        server.setFault(.blackHole, on: "/fixed")
        let socket = try server.connect()
        try await socket.send(RawSocket.request("/fixed"))
        await server.waitForRequests(2)
        #expect(try await socket.staysSilent())
    }
}

extension Range<Int> {
    fileprivate func asyncMap<Value>(_ transform: (Int) async throws -> Value) async throws -> [Value] {
        var values: [Value] = []
        for index in self { values.append(try await transform(index)) }
        return values
    }
}
