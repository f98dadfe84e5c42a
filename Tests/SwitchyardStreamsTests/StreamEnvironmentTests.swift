import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardStreams

/// Streams and WebSockets whose client switches the environment, over real sockets.
@Suite(.timeLimit(.minutes(5)), .prompt) struct StreamEnvironmentTests {
    private func client(_ old: String, _ new: String) throws -> NetworkClient {
        let credentials = Credentials { _ in nil }
        credentials.set(.bearer("old"), in: .test)
        credentials.set(.bearer("new"), in: .release)
        let server = try Server(name: "primary", baseURLs: [.test: ServerURL(old), .release: ServerURL(new)])
        let service = try Service(name: "streams", servers: [server], defaultEnvironment: .test)
        var options = NetworkClient.Options(seed: 1)
        options.credentials = credentials
        return try NetworkClient(service: service, options: options)
    }

    @Test func `after an environment switch, an event source reconnects to the server of its old environment`()
        async throws
    {
        let servers = [LoopbackServer(), LoopbackServer()]
        for server in servers {
            let headers: HTTPHeaders = ["Content-Type": "text/event-stream"]
            let text = "retry: 10\nid: 7\ndata: one\n\n"
            server.route(
                .get,
                "/news",
                answering: LoopbackResponse(status: 200, headers: headers, body: .data(Data(text.utf8)))
            )
            try server.start()
        }
        defer { for server in servers { server.stop() } }
        let client = try client(servers[0].baseURL, servers[1].baseURL)
        defer { client.shutdown() }
        var events = client.eventSource(APIConfiguration(path: "news")).makeAsyncIterator()
        _ = try await events.next()

        try client.switchEnvironment(to: .release)
        _ = try await events.next()

        let sent = servers[0].requests.map { [$0.headers["Authorization"], $0.headers["Last-Event-ID"]] }
        #expect(sent.prefix(2) == [["Bearer old", nil], ["Bearer old", "7"]])
        #expect(servers[1].requests.isEmpty)
    }

    @Test func `after an environment switch, a WebSocket reconnects to the server of its old environment`()
        async throws
    {
        let serve: WebSocketServer.Script = { peer in try peer.write(.text, Array("one".utf8)) }
        let servers = [try WebSocketServer(script: serve), try WebSocketServer(script: serve)]
        let client = try client(servers[0].baseURL, servers[1].baseURL)
        defer { client.shutdown() }
        var options = ReconnectingWebSocket.Options()
        options.reconnectionTime = .milliseconds(10)
        let socket = client.reconnectingWebSocket(APIConfiguration(path: "live"), options: options)
        #expect(try await socket.receive() == .text("one"))

        try client.switchEnvironment(to: .release)

        #expect(try await socket.receive() == .text("one"))
        #expect(servers[0].heads.count >= 2)
        #expect(servers[0].heads.allSatisfy { "\($0)".contains("Bearer old") })
        #expect(servers[1].heads.isEmpty)
    }
}
