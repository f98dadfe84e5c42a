import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardStreams

/// WebSockets that reconnect, over real sockets.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct ReconnectingWebSocketTests {
    private static func client(_ servers: [WebSocketServer]) throws -> NetworkClient {
        // Without hedging, because on a busy machine a slow handshake would cause a hedge.
        var policy = SwitchPolicy.recommended
        policy.hedging = nil
        return try NetworkClient(service: .at(servers.map(\.baseURL), switching: policy), options: .init(seed: 1))
    }

    private static func options(
        _ change: (inout ReconnectingWebSocket.Options) -> Void = { _ in }
    ) -> ReconnectingWebSocket.Options {
        var options = ReconnectingWebSocket.Options()
        options.reconnectionTime = .milliseconds(10)
        options.longestWait = .milliseconds(50)
        change(&options)
        return options
    }

    @Test func `after a reconnecting WebSocket moves to another server, the messages of the app's hook are sent first`()
        async throws
    {
        let received = Locked<[String]>([])
        let serve: WebSocketServer.Script = { peer in
            while true {
                let message = try peer.readMessage()
                guard message.opcode == .text else { return }
                received.withLock { $0.append(String(decoding: message.payload, as: UTF8.self)) }
                try peer.write(.text, message.payload)
            }
        }
        let servers = [try WebSocketServer(script: serve), try WebSocketServer(script: serve)]
        let numbers = Locked<[Int]>([])
        let socket = try Self.client(servers).reconnectingWebSocket(
            APIConfiguration(path: "live"),
            options: Self.options()
        ) { resumption in
            numbers.withLock { $0.append(resumption.number) }
            try await resumption.socket.send(.text("hello \(resumption.number)"))
            return .fail
        }
        try await socket.send(.text("one"))
        #expect(try await socket.receive() == .text("hello 0"))
        #expect(try await socket.receive() == .text("one"))
        #expect(socket.context?.server == "primary")

        servers[0].stop()
        // A message that is sent on a broken connection may be lost.
        await until { socket.context?.server != "primary" }
        try await socket.send(.text("two"))

        #expect(try await socket.receive() == .text("hello 1"))
        #expect(try await socket.receive() == .text("two"))
        #expect(socket.context?.server == "secondary")
        #expect(numbers.withLock { $0 } == [0, 1])
        #expect(received.withLock { $0 } == ["hello 0", "one", "hello 1", "two"])
        socket.close()
    }

    @Test func `messages of a reconnecting WebSocket wait in order until a connection is open`() async throws {
        let server = try WebSocketServer.echo()
        server.stop()
        let socket = try Self.client([server]).reconnectingWebSocket(
            APIConfiguration(path: "live"),
            options: Self.options()
        )
        let sending = Task {
            for number in 0..<3 { try await socket.send(.text("\(number)")) }
        }
        try await calm()

        try server.start()
        try await sending.value

        for number in 0..<3 { #expect(try await socket.receive() == .text("\(number)")) }
        socket.close()
    }

    @Test func `the full send queue of a reconnecting WebSocket rejects a message immediately`() async throws {
        let server = try WebSocketServer.echo()
        server.stop()
        let socket = try Self.client([server]).reconnectingWebSocket(
            APIConfiguration(path: "live"),
            options: Self.options { $0.queueLimit = 2 }
        )
        let (failures, continuation) = AsyncStream.makeStream(of: WebSocketSendFailure?.self)
        for number in 0..<3 {
            Task { continuation.yield(await Self.failure { try await socket.send(.text("\(number)")) }) }
        }
        var failure = failures.makeAsyncIterator()

        #expect(await failure.next() == .queueFull(messages: 2, bytes: 2))

        socket.close()
        for _ in 0..<2 { #expect(await failure.next() == .ended) }
    }

    private static func failure(of send: () async throws -> Void) async -> WebSocketSendFailure? {
        do {
            try await send()
            return nil
        } catch {
            return error as? WebSocketSendFailure
        }
    }

    @Test(arguments: [ReconnectingWebSocket.Interrupted.fail, .sendAgain])
    func `the app's hook decides whether a WebSocket message that may have been delivered is sent again`(
        decision: ReconnectingWebSocket.Interrupted
    ) async throws {
        let large = WebSocket.Message.data(Data(count: 12 << 20))
        let breaking = try WebSocketServer { peer in
            _ = try peer.readBytes()
            peer.reset()
        }
        let good = try WebSocketServer { peer in
            while try peer.readMessage().opcode != .close { try peer.write(text: "got it") }
        }
        let interrupted = Locked<[[WebSocket.Message]]>([])
        let socket = try Self.client([breaking, good]).reconnectingWebSocket(
            APIConfiguration(path: "live"),
            options: Self.options { $0.queueByteLimit = 64 << 20 }
        ) { resumption in
            interrupted.withLock { $0.append(resumption.interrupted) }
            return decision
        }

        let result = await Task { try await socket.send(large) }.result

        #expect(interrupted.withLock { $0 } == [[], [large]])
        switch decision {
        case .fail:
            let error = #expect(throws: WebSocketSendFailure.self) { try result.get() }
            #expect(error == .mayHaveBeenDelivered)
        case .sendAgain:
            #expect(throws: Never.self) { try result.get() }
            #expect(try await socket.receive() == .text("got it"))
        }
        socket.close()
    }

    @Test func `a reconnecting WebSocket connects again if the app's hook throws`() async throws {
        let server = try WebSocketServer.echo()
        let calls = Locked(0)
        let socket = try Self.client([server]).reconnectingWebSocket(
            APIConfiguration(path: "live"),
            options: Self.options()
        ) { _ in
            let number = calls.withLock { calls in
                calls += 1
                return calls
            }
            if number == 1 { throw CancellationError() }
            return .fail
        }

        try await socket.send(.text("a"))

        #expect(try await socket.receive() == .text("a"))
        #expect(calls.withLock { $0 } == 2)
        socket.close()
    }

    @Test func `a normal closure ends a reconnecting WebSocket, and a closure because of a server restart does not`()
        async throws
    {
        let codes = Locked<[UInt16]>([1012, 1001, 1000])
        let server = try WebSocketServer { peer in
            let code = codes.withLock { $0.removeFirst() }
            try peer.write(text: "\(code)")
            try peer.writeClose(code)
            _ = try? peer.readFrame()
        }
        let socket = try Self.client([server]).reconnectingWebSocket(
            APIConfiguration(path: "live"),
            options: Self.options()
        )
        var received: [WebSocket.Message] = []

        for try await message in socket.messages { received.append(message) }

        #expect(received == [.text("1012"), .text("1001"), .text("1000")])
        guard case .closed(let closure)? = socket.failure else {
            Issue.record("\(String(describing: socket.failure))")
            return
        }
        #expect(closure.code == .normal)
        let error = await #expect(throws: WebSocketSendFailure.self) { try await socket.send(.text("late")) }
        #expect(error == .ended)
    }

    @Test(arguments: ["closes", "resets"])
    func `the server's last messages and its closure arrive even if a message is being sent at that time`(how: String)
        async throws
    {
        let connections = Locked(0)
        let server = try WebSocketServer { peer in
            let isFirst = connections.withLock { count in
                count += 1
                return count == 1
            }
            guard isFirst else { return try peer.writeClose(1000) }
            _ = try peer.readBytes()
            // All frames are written at once, because a reset discards what the system has not sent yet.
            let texts = ["1", "2", "3"].flatMap { SentFrame.serverFrame(.text, Array($0.utf8)) }
            try peer.write(texts + SentFrame.serverFrame(.close, [UInt8(1008 >> 8), UInt8(1008 & 0xFF)]))
            if how == "resets" { peer.reset() } else { peer.close() }
        }
        let socket = try Self.client([server]).reconnectingWebSocket(
            APIConfiguration(path: "live"),
            options: Self.options { $0.queueByteLimit = 64 << 20 }
        )

        // The server does not read the whole message, so sending fails. Only then does the app read.
        let error = await #expect(throws: WebSocketSendFailure.self) {
            try await socket.send(.data(Data(count: 12 << 20)))
        }
        var received: [WebSocket.Message] = []
        while received.count < 4, let message = try? await socket.receive() { received.append(message) }

        #expect(error == .mayHaveBeenDelivered)
        #expect(received == [.text("1"), .text("2"), .text("3")])
        guard case .closed(let closure)? = socket.failure else {
            Issue.record("\(String(describing: socket.failure))")
            return socket.close()
        }
        #expect(closure.code == .policyViolation)
        #expect(server.heads.count == 1)
    }

    @Test(arguments: [408, 429, 503, 507, 521])
    func `the maximum number of consecutive transient refusals ends a reconnecting WebSocket`(status: Int) async throws
    {
        let server = try WebSocketServer(.status(status)) { _ in }
        let socket = try Self.client([server]).reconnectingWebSocket(
            APIConfiguration(path: "live"),
            options: Self.options { $0.maximumFailures = 2 }
        )

        await #expect(throws: TransportError.self) { try await socket.receive() }

        guard case .refused(let response)? = socket.failure else {
            Issue.record("\(String(describing: socket.failure))")
            return
        }
        #expect(response.status == status)
        #expect(server.heads.count == 3)
    }

    @Test(arguments: [403, 404, 505])
    func `a permanent refusal ends a reconnecting WebSocket`(status: Int) async throws {
        let server = try WebSocketServer(.status(status)) { _ in }
        let socket = try Self.client([server]).reconnectingWebSocket(
            APIConfiguration(path: "live"),
            options: Self.options()
        )

        await #expect(throws: TransportError.self) { try await socket.receive() }

        #expect(server.heads.count == 1)
    }

    @Test func `cancelling the ID of a reconnecting WebSocket ends it for good`() async throws {
        let server = try WebSocketServer.echo()
        let client = try Self.client([server])
        let id = RequestID()
        let socket = client.reconnectingWebSocket(APIConfiguration(path: "live"), options: Self.options(), id: id)
        try await socket.send(.text("a"))
        _ = try await socket.receive()

        client.cancel(id)

        let error = await #expect(throws: TransportError.self) { try await socket.receive() }
        #expect(error?.kind == .cancelled)
        await until { server.connections == 0 }
        #expect(server.heads.count == 1)
    }

    @Test func `releasing the last reference closes a reconnecting WebSocket`() async throws {
        let server = try WebSocketServer.echo()
        var socket: ReconnectingWebSocket? = try Self.client([server]).reconnectingWebSocket(
            APIConfiguration(path: "live"),
            options: Self.options()
        )
        try await socket?.send(.text("a"))

        socket = nil

        await until { server.connections == 0 }
    }
}
