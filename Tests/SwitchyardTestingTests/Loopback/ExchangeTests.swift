import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardTesting
import Testing

@Suite(.timeLimit(.minutes(5)), .prompt) struct ExchangeTests {
    let server: LoopbackServer

    init() throws {
        server = try .running()
    }

    @Test func `a handler of the loopback server responds to a request`() async throws {
        let response = try await server.connect().get("/topics?page=2")

        #expect(response.statusLine == "HTTP/1.1 200 OK")
        #expect(response["content-type"] == "application/json")
        #expect(response.text == #"{"page": 2}"#)
    }

    @Test func `the loopback server sends a fixed response to a request`() async throws {
        #expect(try await server.connect().get("/fixed").text == "fixed")
    }

    @Test func `one connection to the loopback server serves several requests`() async throws {
        let socket = try server.connect()

        for _ in 0..<3 { #expect(try await socket.get("/fixed").text == "fixed") }

        #expect(server.statistics.connectionsAccepted == 1)
        #expect(server.requests.map(\.connection) == [1, 1, 1])
    }

    @Test func `the connection is closed after a request with Connection: close`() async throws {
        let socket = try server.connect()

        let response = try await socket.get("/fixed", fields: ["Connection: close"])

        #expect(response["Connection"] == "close")
        #expect(try await socket.receiveToEnd() == RawSocket.Rest(bytes: Data(), end: .closed))
    }

    @Test func `an HTTP/1.0 client gets the body without chunks`() async throws {
        let socket = try server.connect()

        try await socket.send("GET /chunks HTTP/1.0\r\n\r\n")
        let response = try await socket.receiveResponse()

        #expect(response["Transfer-Encoding"] == nil)
        #expect(response.text == "one two three")
    }

    @Test func `an HTTP/1.0 client can keep the connection open`() async throws {
        let socket = try server.connect()

        for _ in 0..<2 {
            try await socket.send("GET /fixed HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            let response = try await socket.receiveResponse()
            #expect(response["Connection"] == "keep-alive")
            #expect(response.text == "fixed")
        }
    }

    @Test func `pipelined requests get their responses in order`() async throws {
        let socket = try server.connect()
        let targets = ["/topics?page=1", "/fixed", "/topics?page=2", "/chunks", "/empty", "/topics?page=3"]

        try await socket.send(targets.map { RawSocket.request($0) }.joined())
        var bodies: [String] = []
        for _ in targets { bodies.append(try await socket.receiveResponse().text) }

        #expect(
            bodies == [#"{"page": 1}"#, "fixed", #"{"page": 2}"#, "one two three", "", #"{"page": 3}"#]
        )
        #expect(server.statistics.connectionsAccepted == 1)
    }

    @Test func `a thousand pipelined requests do not overflow the stack`() async throws {
        let socket = try server.connect()

        try await socket.send(String(repeating: RawSocket.request("/fixed"), count: 1000))
        for _ in 0..<1000 { #expect(try await socket.receiveResponse().text == "fixed") }

        #expect(server.statistics.requestsCompleted == 1000)
    }

    @Test func `a request may arrive byte by byte`() async throws {
        let socket = try server.connect()

        for byte in RawSocket.request("/echo", method: "POST", body: "slow").utf8 {
            try await socket.send(Data([byte]))
        }

        #expect(try await socket.receiveResponse().text == "slow")
    }

    @Test func `a handler that throws causes a 500`() async throws {
        struct Oops: Error {}
        server.route(.get, "/oops") { _ in throw Oops() }
        let socket = try server.connect()

        let response = try await socket.get("/oops")

        #expect(response.status == 500)
        #expect(response.text == "Oops()\n")
        #expect(try await socket.get("/fixed").status == 200)
    }

    @Test func `a handler is cancelled when its client disconnects`() async throws {
        let (cancelled, continuation) = AsyncStream.makeStream(of: Void.self)
        server.route(.get, "/forever") { _ in
            await withTaskCancellationHandler {
                for await _ in AsyncStream<Never>.makeStream().stream {}
            } onCancel: {
                continuation.finish()
            }
            throw CancellationError()
        }
        do {
            let socket = try server.connect()
            try await socket.send(RawSocket.request("/forever"))
            await server.waitForRequests(1)
        }

        for await _ in cancelled {}

        #expect(await server.wait { $0.connectionsOpen == 0 && $0.requestsInProgress == 0 })
    }
}
