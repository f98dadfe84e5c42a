import Foundation
import SwitchyardClient
import SwitchyardTesting
import Testing

@Suite(.timeLimit(.minutes(1))) struct ExchangeTests {
    let server = LoopbackServer()

    init() throws {
        server.route(.get, "/topics") { request in .json(#"{"query": "\#(request.query ?? "")"}"#) }
        server.route(.post, "/echo") { request in .data(try await request.body.collect()) }
        server.route(.get, "/fixed", answering: .text("fixed"))
        try server.start()
    }

    @Test func `a handler answers a request`() async throws {
        let socket = try RawSocket(port: server.port)

        let response = try await socket.get("/topics?page=2")

        #expect(response.statusLine == "HTTP/1.1 200 OK")
        #expect(response["content-type"] == "application/json")
        #expect(response.text == #"{"query": "page=2"}"#)
    }

    @Test func `one connection carries several requests`() async throws {
        let socket = try RawSocket(port: server.port)

        for _ in 0..<3 { #expect(try await socket.get("/fixed").text == "fixed") }

        #expect(server.statistics.connectionsAccepted == 1)
        #expect(server.requests.map(\.connection) == [1, 1, 1])
    }

    @Test func `a body is sent back`() async throws {
        let socket = try RawSocket(port: server.port)

        try await socket.send(RawSocket.request("/echo", method: "POST", body: "hello"))

        #expect(try await socket.receiveResponse().text == "hello")
        #expect(server.requests.map(\.text) == ["hello"])
    }
}
