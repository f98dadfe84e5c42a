import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardStreams

/// WebSockets over real sockets.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct WebSocketTests {
    private static func client(
        _ urls: [String],
        _ change: (inout NetworkClient.Options) -> Void = { _ in }
    ) throws -> NetworkClient {
        var options = NetworkClient.Options(seed: 1)
        change(&options)
        return try NetworkClient(service: try .at(urls), options: options)
    }

    private static func plain(_ server: WebSocketServer, _ options: WebSocket.Options = .init()) throws -> WebSocket {
        let url = try #require(RequestURL("\(server.baseURL)/socket?room=1"))
        return try WebSocket(HTTPRequest(url: url), options: options)
    }

    // MARK: Without a client

    @Test func `messages that are sent before the connection is open wait for it`() async throws {
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
    func `messages of every size are echoed unchanged`(size: Int) async throws {
        let server = try WebSocketServer.echo()
        let socket = try Self.plain(server)
        let message = WebSocket.Message.data(Data((0..<size).map { UInt8($0 % 251) }))

        try await socket.send(message)

        #expect(try await socket.receive() == message)
    }

    @Test func `the message sequence ends after a normal closure by the server`() async throws {
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

    @Test func `a connection reset by the server ends the message sequence with an error`() async throws {
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

    @Test func `close sends its code and reason, and the connection ends on the server's Close frame`() async throws {
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

    @Test func `releasing the last reference closes the connection`() async throws {
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
    func `a response that is not a WebSocket handshake fails the connection`(opening: WebSocketServer.Opening)
        async throws
    {
        let server = try WebSocketServer(opening) { _ in }
        let socket = try Self.plain(server)

        let error = await #expect(throws: TransportError.self) { try await socket.receive() }

        #expect(error?.kind == .protocolViolation)
    }

    @Test(arguments: ["", "HTTP/1.1 101 Switching"])
    func `a connection that ends during the handshake fails as a connection reset`(head: String) async throws {
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

    @Test func `the timeouts of the handshake do not apply to the open connection`() async throws {
        let server = try WebSocketServer.echo()
        let url = try #require(RequestURL("\(server.baseURL)/"))
        let timeouts = HTTPRequest.Timeouts(connect: .seconds(2), idle: .milliseconds(300), total: .milliseconds(500))
        let socket = try WebSocket(HTTPRequest(url: url, timeouts: timeouts))
        try await socket.send(.text("a"))
        _ = try await socket.receive()

        // Longer than both timeouts. The transport has its own clock, so the test must sleep.
        try await Task.sleep(for: .milliseconds(700))
        try await socket.send(.text("b"))

        #expect(try await socket.receive() == .text("b"))
    }

    @Test func `bytes after the handshake head are read as the first messages`() async throws {
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

    @Test func `a sender waits while the server does not read`() async throws {
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

    @Test func `a server waits while the receiver does not read`() async throws {
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

    // MARK: With a client

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

    @Test func `a refused handshake throws an error with the response`() async throws {
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

    @Test func `shutting down the client ends the connection`() async throws {
        let server = try WebSocketServer.echo()
        let client = try Self.client([server.baseURL])
        let socket = try await client.webSocket(APIConfiguration(path: "live"))

        client.shutdown()

        let error = await #expect(throws: TransportError.self) { try await socket.receive() }
        #expect(error?.kind == .closed)
        await until { server.connections == 0 }
    }

    @Test func `other requests do not affect an open connection`() async throws {
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

    @Test func `every case of the Autobahn test suite passes over a real connection`() async throws {
        let file = try CaseFile("autobahn_websocket")
        await file.runAsync { item in
            let isLarge = item["id"]?.string?.hasPrefix("9.") ?? false
            guard !isLarge else { return .notApplicable("section 9 is run against the state machine alone") }
            return try await RealCourse(item).run()
        }
    }
}

/// An Autobahn case that a server sends over a real connection.
private struct RealCourse {
    private let course: AutobahnCourse

    init(_ item: CaseValue) throws {
        course = try AutobahnCourse(item)
    }

    func run() async throws -> CaseOutcome {
        let output = Locked(Data())
        let waits = Locked<[(tag: String, position: Int)]>([])
        let course = course
        let server = try WebSocketServer { peer in
            let reader = ReadingThread(peer, output)
            for step in course.steps {
                switch step {
                case .bytes(let bytes): try peer.write(Array(bytes))
                case .wait(let tag):
                    // Time for the client to respond. The suite waits for one second.
                    Thread.sleep(forTimeInterval: 0.05)
                    if !reader.hasClose { waits.withLock { $0.append((tag, output.withLock { $0.count })) } }
                }
            }
            if course.sendsClose {
                reader.waitForMessages(course.expectedCount)
                try peer.write([0x88, 0x02, 0x03, 0xE8])
            }
            reader.waitForClose()
        }
        var options = WebSocket.Options()
        options.maximumMessageSize = 16 << 20
        let url = try #require(RequestURL("\(server.baseURL)/"))
        let socket = try WebSocket(HTTPRequest(url: url), options: options)
        do {
            while true { try await socket.send(try await socket.receive()) }
        } catch {}
        await until { server.connections == 0 }
        return try course.judge(output.withLock { $0 }, waits: waits.withLock { $0 })
    }
}

/// Reads the client's bytes while the server writes.
private final class ReadingThread: Sendable {
    private let output: Locked<Data>
    private let events = NSCondition()
    private let state = Locked((messages: 0, hasClose: false, isOver: false))

    var hasClose: Bool { state.withLock { $0.hasClose } }

    init(_ peer: WebSocketPeer, _ output: Locked<Data>) {
        self.output = output
        Thread.detachNewThread { [self] in
            while let bytes = try? peer.readBytes(), !bytes.isEmpty {
                output.withLock { $0 += bytes }
                note()
            }
            state.withLock { $0.isOver = true }
            events.broadcast()
        }
    }

    private func note() {
        let frames = Self.whole(output.withLock { $0 })
        state.withLock { state in
            state.messages = frames.count { $0.opcode != .close && $0.isFinal }
            state.hasClose = frames.contains { $0.opcode == .close }
        }
        events.broadcast()
    }

    /// The complete frames in the received bytes.
    private static func whole(_ bytes: Data) -> [SentFrame] {
        var rest = Array(bytes)[...]
        var frames: [SentFrame] = []
        while let frame = try? SentFrame({ count in
            guard rest.count >= count else { throw WebSocketPeer.Gone() }
            defer { rest = rest.dropFirst(count) }
            return Array(rest.prefix(count))
        }) {
            frames.append(frame)
        }
        return frames
    }

    func waitForMessages(_ count: Int) { wait { $0.messages >= count } }
    func waitForClose() { wait { $0.hasClose } }

    private func wait(until condition: ((messages: Int, hasClose: Bool, isOver: Bool)) -> Bool) {
        events.lock()
        let end = Date().addingTimeInterval(10)
        while !state.withLock({ condition($0) || $0.hasClose || $0.isOver }), events.wait(until: end) {}
        events.unlock()
    }
}

extension Service {
    /// One server for each URL, in order.
    static func at(_ urls: [String]) throws -> Service {
        try Service(
            name: "sockets",
            servers: zip(["primary", "secondary", "tertiary"], urls).map { name, url in
                try Server(name: name, baseURLs: [.test: ServerURL(url)])
            },
            defaultEnvironment: .test,
            switching: .recommended
        )
    }
}
