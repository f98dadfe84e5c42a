import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardStreams

/// WebSockets over real sockets, without a client.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct WebSocketTests {
    /// Opens a connection whose closing handshake ends only by the server's frames, even on a busy machine.
    private static func plain(_ server: WebSocketServer) throws -> WebSocket {
        let url = try #require(RequestURL("\(server.baseURL)/socket?room=1"))
        var options = WebSocket.Options()
        options.closeTimeout = .seconds(240)
        return try WebSocket(HTTPRequest(url: url), options: options)
    }

    @Test func `messages that are sent before a WebSocket is open wait until it is open`() async throws {
        let server = try WebSocketServer.echo()
        let socket = try Self.plain(server)

        try await socket.send(.text("hello"))
        try await socket.send(.data(Data([0, 1, 2])))

        #expect(try await socket.receive() == .text("hello"))
        #expect(try await socket.receive() == .data(Data([0, 1, 2])))
        let head = try #require(server.heads.first)
        #expect(head.hasPrefix("GET /socket?room=1 HTTP/1.1\r\nHost: 127.0.0.1:"))
        #expect(head.contains("\r\nUpgrade: websocket\r\n"))
        #expect(head.contains("\r\nSec-WebSocket-Version: 13\r\n"))
    }

    @Test(arguments: [0, 1, 125, 126, 65_535, 65_536, 1 << 20])
    func `WebSocket messages of every size are echoed unchanged`(size: Int) async throws {
        let server = try WebSocketServer.echo()
        let socket = try Self.plain(server)
        let message = WebSocket.Message.data(Data((0..<size).map { UInt8($0 % 251) }))

        try await socket.send(message)

        #expect(try await socket.receive() == message)
    }

    @Test func `the messages of a WebSocket end after a normal closure by the server`() async throws {
        let server = try WebSocketServer { peer in
            for text in ["one", "two"] { try peer.write(text: text) }
            try peer.writeClose(1000, "enough")
            _ = try peer.readFrame()
        }
        let socket = try Self.plain(server)
        var received: [WebSocket.Message] = []

        for try await message in socket.messages { received.append(message) }

        #expect(received == [.text("one"), .text("two")])
        #expect(socket.closure == WebSocket.Closure(code: .normal, reason: "enough", isByServer: true, isClean: true))
    }

    @Test func `a connection reset by the server ends the messages of a WebSocket with an error`() async throws {
        let server = try WebSocketServer { peer in
            try peer.write(text: "one")
            peer.reset()
        }
        let socket = try Self.plain(server)
        #expect(try await socket.receive() == .text("one"))

        let error = await #expect(throws: TransportError.self) { try await socket.receive() }

        #expect(error?.kind == .connectionReset)
        #expect(socket.closure?.code == .abnormal)
    }

    @Test func `close sends its code and reason, and the WebSocket ends at the server's Close frame`() async throws {
        let payload = Locked<[UInt8]>([])
        let server = try WebSocketServer { peer in
            try peer.write(text: "hello")
            let frame = try peer.readFrame()
            payload.withLock { $0 = frame.payload }
            try peer.write(.close, frame.payload)
        }
        let socket = try Self.plain(server)
        _ = try await socket.receive()

        socket.close(.goingAway, reason: "later")
        let error = await #expect(throws: TransportError.self) { try await socket.receive() }

        #expect(error?.kind == .closed)
        #expect(payload.withLock { $0 } == [3, 0xE9] + Array("later".utf8))
        #expect(socket.closure?.isClean == true)
        await until { server.connections == 0 }
    }

    @Test func `releasing the last reference to a WebSocket closes its connection`() async throws {
        let server = try WebSocketServer.echo()
        var socket: WebSocket? = try Self.plain(server)
        try await socket?.send(.text("a"))
        _ = try await socket?.receive()

        socket = nil

        await until { server.connections == 0 }
    }

    @Test func `a cancelled receive ends, and the next receive gets the message`() async throws {
        let server = try WebSocketServer.echo()
        let socket = try Self.plain(server)
        try await socket.send(.text("a"))
        _ = try await socket.receive()
        let waiting = Task { try await socket.receive() }

        waiting.cancel()
        let error = await #expect(throws: TransportError.self) { try await waiting.value }
        try await socket.send(.text("b"))

        #expect(error?.kind == .cancelled)
        #expect(try await socket.receive() == .text("b"))
    }

    @Test(arguments: [
        WebSocketServer.Opening.status(200), .status(302, ["Location: /other"]), .status(404), .status(500),
        .wrongAccept,
        .raw("HTTP/1.1 101 Switching Protocols\r\n\r\n"), .raw("no HTTP at all\r\n\r\n"),
    ])
    func `a response that is not a WebSocket handshake makes the opening fail`(opening: WebSocketServer.Opening)
        async throws
    {
        let server = try WebSocketServer(opening) { _ in }
        let socket = try Self.plain(server)

        let error = await #expect(throws: TransportError.self) { try await socket.receive() }

        #expect(error?.kind == .protocolViolation)
    }

    @Test(arguments: ["", "HTTP/1.1 101 Switching"])
    func `a WebSocket whose connection ends during the handshake fails as a connection reset`(head: String) async throws
    {
        let server = try WebSocketServer(.raw(head)) { _ in }
        let socket = try Self.plain(server)

        let error = await #expect(throws: TransportError.self) { try await socket.receive() }

        #expect(error?.kind == .connectionReset)
    }

    @Test func `a server that sends no handshake response causes a timeout`() async throws {
        let server = try WebSocketServer(.silence) { _ in }
        let url = try #require(RequestURL("\(server.baseURL)/"))
        let socket = try WebSocket(HTTPRequest(url: url, timeouts: .init(idle: .milliseconds(100))))

        let error = await #expect(throws: TransportError.self) { try await socket.receive() }

        #expect(error?.kind == .timeout)
    }

    @Test func `the timeouts of the opening handshake do not apply to an open WebSocket`() async throws {
        let server = try WebSocketServer.echo()
        let url = try #require(RequestURL("\(server.baseURL)/"))
        let timeouts = HTTPRequest.Timeouts(connect: .seconds(2), idle: .milliseconds(300), total: .milliseconds(500))
        var opened: WebSocket?
        let isOpen = try await isPrompt {
            let socket = try WebSocket(HTTPRequest(url: url, timeouts: timeouts))
            opened = socket
            try? await socket.send(.text("a"))
            return (try? await socket.receive()) != nil
        }
        #expect(isOpen)
        let socket = try #require(opened)

        // Longer than both timeouts. The transport has its own clock, so the test must sleep.
        try await Task.sleep(for: .milliseconds(700))
        try await socket.send(.text("b"))

        #expect(try await socket.receive() == .text("b"))
    }

    @Test func `bytes after the handshake head are read as the first messages of a WebSocket`() async throws {
        let first = SentFrame.serverFrame(.text, Array("early".utf8))
        let server = try WebSocketServer { peer in
            try peer.write(first + SentFrame.serverFrame(.text, Array("next".utf8)))
            _ = try peer.readFrame()
        }
        let socket = try Self.plain(server)

        #expect(try await socket.receive() == .text("early"))
        #expect(try await socket.receive() == .text("next"))
    }

    // MARK: Back-pressure

    @Test func `sending over a WebSocket waits while the server does not read`() async throws {
        let mayRead = DispatchSemaphore(value: 0)
        let total = Locked(0)
        let server = try WebSocketServer { peer in
            mayRead.wait()
            while true {
                let message = try peer.readMessage()
                total.withLock { $0 += message.payload.count }
                if message.opcode == .close { return }
            }
        }
        let socket = try Self.plain(server)
        let sent = Locked(0)
        let message = WebSocket.Message.data(Data(count: 1 << 20))
        let sending = Task {
            for _ in 0..<24 {
                try await socket.send(message)
                sent.withLock { $0 += 1 }
            }
        }
        try await calm()

        #expect(sent.withLock { $0 } < 24)
        mayRead.signal()
        try await sending.value
        await until { total.withLock { $0 } == 24 << 20 }
    }

    @Test func `a server waits while the app does not read from its WebSocket`() async throws {
        let sent = Locked(0)
        let server = try WebSocketServer { peer in
            let frame = SentFrame.serverFrame(.binary, [UInt8](repeating: 7, count: 1 << 20))
            for _ in 0..<24 {
                try peer.write(frame)
                sent.withLock { $0 += 1 }
            }
            _ = try peer.readFrame()
        }
        let socket = try Self.plain(server)
        await server.waitForRequests(1)
        try await calm()

        #expect(sent.withLock { $0 } < 24)
        for _ in 0..<24 { #expect(try await socket.receive() == .data(Data(repeating: 7, count: 1 << 20))) }
    }
}
