import Foundation
import SwitchyardClient
import SwitchyardDiagnostics
import SwitchyardFixtures
import SwitchyardServices
import SwitchyardStreams
import SwitchyardTesting
import Testing

@testable import SwitchyardInspector

/// The messages of WebSockets in the inspector.
@Suite(.timeLimit(.minutes(5)), .prompt) struct InspectedWebSocketTests {
    /// A server, and a client with an inspector.
    private struct Lab {
        let client: NetworkClient
        let inspector: TrafficInspector

        init(_ server: WebSocketServer, isRecording: Bool = true) throws {
            client = try NetworkClient(service: .at([server.baseURL]))
            var options = TrafficInspector.Options()
            (options.printsAddress, options.keepsAddress) = (false, false)
            options.recordsFromStart = isRecording
            options.messageBytes = 100
            inspector = try TrafficInspector(client, options: options)
        }

        var stream: InspectedStream? { inspector.desk.latest().calls.first?.stream }
        var messages: [InspectedMessage] { inspector.desk.book.detail(of: 1)?.messages ?? [] }
    }

    @Test func `the inspector shows WebSocket messages and the Close frame in order of time`() async throws {
        let server = try WebSocketServer.echo()
        let lab = try Lab(server)
        let socket = try await lab.client.webSocket(APIConfiguration(path: "live"))

        try await socket.send(.text("hello"))
        _ = try await socket.receive()
        try await socket.send(.data(Data([0, 255, 7])))
        _ = try await socket.receive()
        await until { lab.stream?.received == 2 }
        #expect(lab.stream?.end == nil)
        socket.close(reason: "done")
        _ = try? await socket.receive()
        await until { lab.stream?.end != nil }

        #expect(lab.messages.map(\.direction) == [.sent, .received, .sent, .received, .sent])
        #expect(lab.messages.map(\.type) == ["text", "text", "binary", "binary", "close 1000"])
        #expect(lab.messages.map(\.text) == ["hello", "hello", nil, nil, "done"])
        #expect(lab.messages.map(\.size) == [5, 5, 3, 3, 4])
        #expect(lab.inspector.desk.latest().calls.first?.outcome?.status == 101)
        let archived = lab.inspector.desk.book.archive().entries.last?.webSocketMessages
        #expect(archived?.map(\.type) == ["send", "receive"])
        #expect(archived?.map(\.data) == ["hello", "hello"])
    }

    @Test func `a Close frame from the server ends the stream in the inspector`() async throws {
        let server = try WebSocketServer { try $0.writeClose(1012, "restart") }
        let lab = try Lab(server)
        let socket = try await lab.client.webSocket(APIConfiguration(path: "live"))

        _ = try? await socket.receive()
        await until { lab.stream?.end != nil }

        #expect(lab.messages.map(\.direction) == [.received])
        #expect(lab.messages.map(\.type) == ["close 1012"])
        #expect(lab.messages.map(\.text) == ["restart"])
    }

    @Test func `a cancelled wait for a message does not end the stream, but the release of the socket does`()
        async throws
    {
        let server = try WebSocketServer.echo()
        let lab = try Lab(server)
        var socket: WebSocket? = try await lab.client.webSocket(APIConfiguration(path: "live"))

        let waiting = Task { [socket] in try? await socket?.receive() }
        waiting.cancel()
        _ = await waiting.value
        try await socket?.send(.text("still open"))
        await until { lab.stream?.sent == 1 }
        #expect(lab.stream?.end == nil)
        socket = nil

        await until { lab.stream?.end != nil }
    }

    @Test func `a WebSocket that was opened while the client was not observed is not shown`() async throws {
        let server = try WebSocketServer.echo()
        let lab = try Lab(server, isRecording: false)
        let socket = try await lab.client.webSocket(APIConfiguration(path: "live"))

        try await socket.send(.text("hello"))
        _ = try await socket.receive()

        #expect(lab.inspector.desk.latest().calls.isEmpty)
        #expect(lab.client.clientObserverCount == 0)
    }

    @Test func `each connection of a reconnecting WebSocket is a call with its own messages`() async throws {
        let number = Locked(0)
        let server = try WebSocketServer { peer in
            let count = number.withLock { number in
                number += 1
                return number
            }
            try peer.write(text: "message \(count)")
            if count == 1 { return peer.close() }
            try peer.echo()
        }
        let lab = try Lab(server)
        var options = ReconnectingWebSocket.Options()
        options.reconnectionTime = .milliseconds(1)
        let socket = lab.client.reconnectingWebSocket(APIConfiguration(path: "live"), options: options)

        #expect(try await socket.receive() == .text("message 1"))
        #expect(try await socket.receive() == .text("message 2"))

        await until { lab.inspector.desk.latest().calls.count { $0.stream?.received == 1 } == 2 }
        #expect(lab.inspector.desk.latest().calls.map { $0.stream?.end == nil } == [false, true])
        socket.close()
    }
}
