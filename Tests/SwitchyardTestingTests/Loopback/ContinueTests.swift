import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardTesting
import Testing

@Suite(.timeLimit(.minutes(5)), .prompt) struct ContinueTests {
    private let expectation = [
        "POST /echo HTTP/1.1", "Host: x", "Content-Length: 5", "Expect: 100-continue", "", "",
    ].joined(separator: "\r\n")
    let server: LoopbackServer

    init() throws {
        server = try .running()
    }

    @Test func `a client that expects 100-continue gets the 100 response when the handler reads`() async throws {
        let socket = try server.connect()

        try await socket.send(expectation)
        let interim = [try await socket.receiveLine(), try await socket.receiveLine()]
        try await socket.send("hello")

        #expect(interim == ["HTTP/1.1 100 Continue", ""])
        #expect(try await socket.receiveResponse().text == "hello")
        #expect(try await socket.get("/fixed").status == 200)
    }

    @Test func `a client that sends its body early gets no interim response`() async throws {
        let (opened, open) = AsyncStream.makeStream(of: Void.self)
        server.route(.post, "/echo") { request in
            for await _ in opened {}
            return .data(try await request.body.collect())
        }
        let socket = try server.connect()

        try await socket.send(expectation + "hello")
        await server.waitForRequests(1)
        open.finish()

        #expect(try await socket.receiveResponse().text == "hello")
    }

    @Test func `if a handler does not read the body, the connection of a client that expects 100-continue is closed`()
        async throws
    {
        server.route(.post, "/echo") { _ in .text("no", status: 401) }
        let socket = try server.connect()

        try await socket.send(expectation)
        let response = try await socket.receiveResponse()

        #expect(response.status == 401)
        #expect(response["Connection"] == "close")
        #expect(try await socket.receiveToEnd().end == .closed)
    }

    @Test func `a fixed response is sent after the request body is read`() async throws {
        server.route(.post, "/echo", answering: .text("fixed"))
        let socket = try server.connect()

        try await socket.send(expectation)
        #expect(try await socket.receiveResponse().status == 100)
        try await socket.send("hello")

        #expect(try await socket.receiveResponse().text == "fixed")
    }
}
