import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardStreams

/// Streams, event sources and WebSockets whose user has logged out or changed.
@Suite(.timeLimit(.minutes(5)), .prompt) struct StreamOwnerTests {
    enum Change: CaseIterable {
        case logOut, login, logOutAndLogin

        func carryOut(_ credentials: Credentials, _ name: Locked<String?>? = nil) {
            if self != .login { credentials.logOut(in: .test) }
            name?.withLock { $0 = self == .logOut ? nil : "bob" }
            if self != .logOut { credentials.set(.bearer("bob"), in: .test) }
        }
    }

    /// The state of an event source when its user changes.
    enum Moment: CaseIterable {
        case response, event, pause, failures
    }

    private let clock = ManualClock()
    private let credentials = Credentials { _ in nil }
    private let name = Locked<String?>("ann")

    private func client(
        isNamed: Bool = false,
        hasCredentials: Bool = true,
        _ answer: @escaping @Sendable (HTTPRequest) -> StubResponse
    ) throws -> (NetworkClient, StubTransport) {
        credentials.set(.bearer("ann"), in: .test)
        let (credentials, name) = (credentials, name)
        return try NetworkClient.stubbed(time: clock) { options in
            if hasCredentials { options.credentials = credentials }
            if isNamed { options.user = { _ in name.withLock { $0 } } }
        } answer: {
            answer($0)
        }
    }

    private static func events(_ text: String) -> StubResponse {
        .chunks([Data(text.utf8)], headers: ["Content-Type": "text/event-stream"])
    }

    @Test(arguments: Moment.allCases, Change.allCases)
    func `an event source ends when the logged-in user changes`(moment: Moment, change: Change) async throws {
        for isNamed in [false, true] {
            name.withLock { $0 = "ann" }
            let clock = ManualClock()
            let credentials = Credentials { _ in nil }
            credentials.set(.bearer("ann"), in: .test)
            let name = name
            let (client, transport) = try NetworkClient.stubbed(time: clock) { options in
                options.credentials = credentials
                if isNamed { options.user = { _ in name.withLock { $0 } } }
            } answer: { _ in
                switch moment {
                case .response: .delayed(by: .seconds(3), on: clock, Self.events("data: late\n\n"))
                case .failures: .status(503)
                case .event, .pause: Self.events("id: 7\ndata: one\n\ndata: two\n\n")
                }
            }
            let change: @Sendable () -> Void = { change.carryOut(credentials, name) }
            let reading = Task {
                var read: [String] = []
                var events = client.eventSource(APIConfiguration(path: "news")).makeAsyncIterator()
                if moment == .event {
                    read.append(try await events.next()?.data ?? "")
                    change()
                }
                do {
                    while let event = try await events.next() { read.append(event.data) }
                } catch let error as EventSourceFailure {
                    return (read, error as EventSourceFailure?)
                }
                return (read, nil)
            }
            if moment != .event {
                await clock.waitForTimers(1, in: .seconds(3))
                change()
                clock.advance(by: .seconds(3))
            }
            let (read, failure) = try await reading.value

            #expect(failure != nil)
            #expect(read == (moment == .event ? ["one"] : moment == .pause ? ["one", "two"] : []))
            #expect(transport.requests.allSatisfy { $0.headers["Authorization"] == "Bearer ann" })
        }
    }

    /// Readers of a response body: read one element, change the user, then read another element.
    private static let readers: [@Sendable (StreamedResponse.Bytes, () -> Void) async throws -> String?] = [
        { bytes, change in
            var lines = bytes.lines.makeAsyncIterator()
            _ = try await lines.next()
            change()
            return try await lines.next()
        },
        { bytes, change in
            var events = bytes.events().makeAsyncIterator()
            _ = try await events.next()
            change()
            return try await events.next()?.data
        },
        { bytes, change in
            var pieces = bytes.makeAsyncIterator()
            _ = try await pieces.next()
            change()
            return try await pieces.next().map { String(decoding: $0, as: UTF8.self) }
        },
    ]

    @Test(arguments: readers.indices, Change.allCases)
    func `a body reader throws an error after the logged-in user has changed`(way: Int, change: Change) async throws {
        let (client, _) = try client { _ in
            .chunks([Data("data: 1\n\ndata: 2\n\n".utf8), Data("data: 3\n\n".utf8)])
        }
        let response = try await client.stream(APIConfiguration(path: "x"))
        let credentials = credentials

        let failure = await #expect(throws: RequestFailure.self) {
            try await Self.readers[way](response.bytes) { change.carryOut(credentials) }
        }

        // The change reports a logout first, then a login.
        #expect(failure?.reason == (change == .login ? .cancelled : .credentials(.loggedOut)))
    }

    @Test(arguments: readers.indices)
    func `a body reader fails after the app has named another user, even if the client has no credentials`(way: Int)
        async throws
    {
        let (client, _) = try client(isNamed: true, hasCredentials: false) { _ in
            .chunks([Data("data: 1\n\ndata: 2\n\n".utf8), Data("data: 3\n\n".utf8)])
        }
        let response = try await client.stream(APIConfiguration(path: "x"))
        let name = name

        await #expect(throws: RequestFailure.self) {
            try await Self.readers[way](response.bytes) { name.withLock { $0 = "bob" } }
        }
    }

    @Test func `an input stream fails as cancelled after the logged-in user has changed`() async throws {
        let (client, _) = try client { _ in .chunks([Data("one".utf8), Data("two".utf8)]) }
        let stream = try await client.stream(APIConfiguration(path: "x")).inputStream()
        stream.open()
        var buffer = [UInt8](repeating: 0, count: 1)
        #expect(stream.read(&buffer, maxLength: 1) == 1)

        Change.login.carryOut(credentials)

        #expect(stream.read(&buffer, maxLength: 1) == -1)
        #expect((stream.streamError as? RequestFailure)?.reason == .cancelled)
        #expect(!stream.hasBytesAvailable)
    }

    @Test func `a stream with outlivesLogout is read to its end after a logout`() async throws {
        let (client, _) = try client { _ in .chunks([Data("1\n2\n".utf8), Data("3\n".utf8)]) }
        var configuration = APIConfiguration(path: "x")
        configuration.outlivesLogout = true
        var lines = try await client.stream(configuration).bytes.lines.makeAsyncIterator()
        _ = try await lines.next()

        Change.logOutAndLogin.carryOut(credentials)

        #expect(try await lines.next() == "2")
        #expect(try await lines.next() == "3")
        #expect(try await lines.next() == nil)
    }

    // MARK: WebSockets

    @Test @MainActor func `a WebSocket is not opened with the credentials of a user that logs in later`() async throws {
        for _ in 0..<50 {
            let credentials = Credentials { _ in nil }
            credentials.set(.bearer("ann"), in: .test)
            let (client, transport) = try NetworkClient.stubbed(options: { $0.credentials = credentials }) { _ in
                .status(404)
            }
            let call = Task { @MainActor in _ = try await client.webSocket(APIConfiguration(path: "x")) }
            let change = Task { @MainActor in
                credentials.logOut(in: .test)
                credentials.set(.bearer("bob"), in: .test)
            }
            await change.value
            _ = try? await call.value
            #expect(transport.requests.allSatisfy { $0.headers["Authorization"] == "Bearer ann" })
        }
    }

    /// A server that sends two messages at the same time, and a client with the credentials of Ann.
    private func sockets(closing: Bool = false) throws -> (WebSocketServer, NetworkClient) {
        credentials.set(.bearer("ann"), in: .test)
        let server = try WebSocketServer { peer in
            let messages = ["one", "two"].map { SentFrame.serverFrame(.text, Array($0.utf8)) }
            try peer.write(messages[0] + messages[1])
            if !closing { while try !peer.readBytes().isEmpty {} }
        }
        var options = NetworkClient.Options(seed: 1)
        options.credentials = credentials
        return (server, try NetworkClient(service: .at([server.baseURL]), options: options))
    }

    @Test(arguments: Change.allCases)
    func `a WebSocket neither receives nor sends after the logged-in user has changed`(change: Change) async throws {
        let (server, client) = try sockets()
        let socket = try await client.webSocket(APIConfiguration(path: "live"))
        #expect(try await socket.receive() == .text("one"))

        change.carryOut(credentials)

        await #expect(throws: TransportError.self) { try await socket.receive() }
        await #expect(throws: TransportError.self) { try await socket.send(.text("for Ann")) }
        #expect(server.heads.count == 1)
    }

    @Test(arguments: Change.allCases)
    func `a reconnecting WebSocket ends when the logged-in user changes`(change: Change) async throws {
        let (server, client) = try sockets(closing: true)
        var options = ReconnectingWebSocket.Options()
        options.reconnectionTime = .seconds(600)
        options.longestWait = .seconds(600)
        let socket = client.reconnectingWebSocket(APIConfiguration(path: "live"), options: options)
        #expect(try await socket.receive() == .text("one"))

        change.carryOut(credentials)

        await #expect(throws: TransportError.self) { try await socket.receive() }
        await #expect(throws: WebSocketSendFailure.self) { try await socket.send(.text("for Ann")) }
        #expect(server.heads.count == 1)
    }
}
