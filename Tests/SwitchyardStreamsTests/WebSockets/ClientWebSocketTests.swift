import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardStreams

/// WebSockets that a client opens.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct ClientWebSocketTests {
    private static func client(
        _ urls: [String],
        _ change: (inout NetworkClient.Options) -> Void = { _ in }
    ) throws -> NetworkClient {
        var options = NetworkClient.Options(seed: 1)
        change(&options)
        return try NetworkClient(service: try .at(urls), options: options)
    }

    @Test func `a WebSocket request has the client's header fields, credentials and subprotocols`() async throws {
        let server = try WebSocketServer.echo(.accept(["Sec-WebSocket-Protocol: v2"]))
        let client = try Self.client([server.baseURL])
        var configuration = APIConfiguration(path: "live")
        configuration.headers.set("X-App", "tests")
        configuration.headers.set("Authorization", "Bearer token")
        var options = WebSocket.Options()
        options.subprotocols = ["v1", "v2"]

        let socket = try await client.webSocket(configuration, options: options)
        try await socket.send(.text("hello"))

        #expect(try await socket.receive() == .text("hello"))
        #expect(socket.subprotocol == "v2")
        #expect(socket.context?.server == "primary")
        let head = try #require(server.heads.first)
        for line in ["X-App: tests", "Authorization: Bearer token", "Sec-WebSocket-Protocol: v1, v2"] {
            #expect(head.contains("\r\n\(line)\r\n"))
        }
    }

    @Test func `a WebSocket request follows a redirect`() async throws {
        let target = try WebSocketServer.echo()
        let server = try WebSocketServer(.status(307, ["Location: \(target.baseURL)/moved"])) { _ in }
        let client = try Self.client([server.baseURL])

        let socket = try await client.webSocket(APIConfiguration(path: "live"))
        try await socket.send(.text("hello"))

        #expect(try await socket.receive() == .text("hello"))
        #expect(target.heads.first?.hasPrefix("GET /moved ") == true)
    }

    @Test(arguments: [
        WebSocketServer.Opening.status(503), .wrongAccept, .raw(""), .raw("HTTP/1.1 500 Down\r\n\r\n"),
    ])
    func `a WebSocket opens on the next server if one server is down`(
        opening: WebSocketServer.Opening
    ) async throws {
        let bad = try WebSocketServer(opening) { _ in }
        let good = try WebSocketServer.echo()
        let client = try Self.client([bad.baseURL, good.baseURL])

        let socket = try await client.webSocket(APIConfiguration(path: "live"))
        try await socket.send(.text("hello"))

        #expect(try await socket.receive() == .text("hello"))
        #expect(socket.context?.server == "secondary")
        #expect(bad.heads.count == 1)
    }

    @Test func `a WebSocket opens on the next server if a server refuses the connection`() async throws {
        let gone = try WebSocketServer.echo()
        gone.stop()
        let good = try WebSocketServer.echo()
        let client = try Self.client([gone.baseURL, good.baseURL])

        let socket = try await client.webSocket(APIConfiguration(path: "live"))

        #expect(socket.context?.server == "secondary")
        #expect(socket.context?.attempts == 2)
    }

    @Test func `the error for a refused handshake contains the response`() async throws {
        let server = try WebSocketServer(.status(403, ["X-Why: no"])) { _ in }
        let client = try Self.client([server.baseURL])

        let error = await #expect(throws: WebSocketFailure.self) {
            try await client.webSocket(APIConfiguration(path: "live"))
        }

        guard case .refused(let response)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(response.status == 403)
        #expect(response.headers["X-Why"] == "no")
    }

    @Test func `a transport without connection upgrades fails as unsupported`() async throws {
        let (client, _) = try NetworkClient.stubbed { _ in .status(101) }

        let error = await #expect(throws: WebSocketFailure.self) {
            try await client.webSocket(APIConfiguration(path: "live"))
        }

        guard case .request(let failure)? = error, case .transport(let cause) = failure.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(cause.kind == .unsupported)
    }

    @Test func `cancelling the ID of a WebSocket ends its connection`() async throws {
        let server = try WebSocketServer.echo()
        let client = try Self.client([server.baseURL])
        let id = RequestID()
        let socket = try await client.webSocket(APIConfiguration(path: "live"), id: id)

        client.cancel(id)

        let error = await #expect(throws: TransportError.self) { try await socket.receive() }
        #expect(error?.kind == .cancelled)
        await until { server.connections == 0 }
    }

    @Test func `shutting down the client ends the connection of a WebSocket`() async throws {
        let server = try WebSocketServer.echo()
        let client = try Self.client([server.baseURL])
        let socket = try await client.webSocket(APIConfiguration(path: "live"))

        client.shutdown()

        let error = await #expect(throws: TransportError.self) { try await socket.receive() }
        #expect(error?.kind == .closed)
        await until { server.connections == 0 }
    }

    @Test func `other requests of the client do not affect an open WebSocket`() async throws {
        let server = try WebSocketServer.echo()
        let http = LoopbackServer()
        http.setDefaultRoute { _ in .text("hello") }
        try http.start()
        let client = try Self.client([http.baseURL])
        let url = try #require(RequestURL("\(server.baseURL)/"))
        var configuration = APIConfiguration(path: "")
        configuration.prebuiltRequest = HTTPRequest(url: url)
        let socket = try await client.webSocket(configuration)

        for _ in 0..<20 { _ = try await client.send(APIConfiguration(path: "a")) }
        try await socket.send(.text("still"))

        #expect(try await socket.receive() == .text("still"))
        http.stop()
    }
}

extension Service {
    /// One server for each URL, in order.
    static func at(_ urls: [String], switching: SwitchPolicy = .recommended) throws -> Service {
        try Service(
            name: "sockets",
            servers: zip(["primary", "secondary", "tertiary"], urls).map { name, url in
                try Server(name: name, baseURLs: [.test: ServerURL(url)])
            },
            defaultEnvironment: .test,
            switching: switching
        )
    }
}
