import Foundation
import SwitchyardAPI
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardStreams
import SwitchyardTesting
import Testing

/// When an event source reconnects, over stubs (``EventSourceTests`` uses real servers).
@Suite(.timeLimit(.minutes(5)), .prompt)
struct EventReconnectTests {
    /// A client whose stub transport returns the given responses in order.
    private static func client(_ answers: StubResponse...) throws -> (NetworkClient, StubTransport) {
        let transport = StubTransport(answers: answers)
        let service = try Service.topics(servers: 1)
        return (try NetworkClient(service: service, transport: transport, options: .init(seed: 1)), transport)
    }

    private static func stream(_ text: String, failing kind: TransportError.Kind? = nil) -> StubResponse {
        .chunks(
            [Data(text.utf8)],
            headers: ["Content-Type": "text/event-stream"],
            failing: kind.map { TransportError($0, message: "cut") }
        )
    }

    @Test(arguments: [TransportError.Kind.unsupported, .closed, .invalidRequest, .requestBodyFailed])
    func `a failure on the client's side ends an event source without a retry`(kind: TransportError.Kind) async throws {
        let (client, transport) = try Self.client(.failure(kind), .failure(kind), .status(204))

        let error = await #expect(throws: EventSourceFailure.self) {
            for try await _ in client.eventSource(APIConfiguration(path: "news"), options: .quick) {}
        }

        guard case .request(let failure)? = error, case .transport(let cause) = failure.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(cause.kind == kind)
        #expect(transport.requestCount == 1)
    }

    @Test(arguments: [TransportError.Kind.offline, .proxyFailure, .connectionReset])
    func `an event source reconnects after a network failure`(kind: TransportError.Kind) async throws {
        let (client, transport) = try Self.client(Self.stream("data: one\n\n", failing: kind), .status(204))
        var events: [String] = []

        for try await event in client.eventSource(APIConfiguration(path: "news"), options: .quick) {
            events.append(event.data)
        }

        #expect(events == ["one"])
        #expect(transport.requestCount == 2)
    }

    @Test func `an event source reconnects after the request times out`() async throws {
        let clock = ManualClock()
        let transport = StubTransport(answers: [.never, .status(204)])
        let service = try Service.topics(switching: .off, servers: 1)
        let client = try NetworkClient(service: service, transport: transport, options: .init(seed: 1), time: clock)
        let reading = Task { for try await _ in client.eventSource(APIConfiguration(path: "news")) {} }
        await transport.waitForRequests(1)
        await until { clock.nextDeadline == clock.now.advanced(by: .seconds(60)) }

        clock.advance(by: .seconds(60))
        let isOver = Locked(false)
        Task {
            _ = await reading.result
            isOver.withLock { $0 = true }
        }
        await until { isOver.withLock { $0 } || clock.nextDeadline == clock.now.advanced(by: .seconds(3)) }
        clock.advance(by: .seconds(3))

        try await reading.value
        #expect(transport.requestCount == 2)
    }

    @Test func `a temporary failure of the credential refresh does not end the event source`() async throws {
        let transport = StubTransport(answers: [.status(204)])
        let count = Locked(0)
        var options = NetworkClient.Options(seed: 1)
        options.credentials = Credentials { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            guard number > 2 else { throw TransportError(.offline, message: "no way", mayHaveBeenSent: false) }
            return .bearer("fresh")
        }
        let service = try Service.topics(switching: .off, servers: 1)
        let client = try NetworkClient(service: service, transport: transport, options: options)

        for try await _ in client.eventSource(APIConfiguration(path: "news"), options: .quick) {}

        #expect(count.withLock { $0 } == 3)
        #expect(transport.requestCount == 1)
    }

    @Test(arguments: [408, 425, 429, 500, 502, 503, 504, 507, 511, 520, 524, 530])
    func `a response with a transient status does not end the event source`(status: Int) async throws {
        let (client, transport) = try Self.client(
            .status(status),
            Self.stream("data: one\n\n"),
            .status(status),
            .status(204)
        )

        var events: [String] = []
        for try await event in client.eventSource(APIConfiguration(path: "news"), options: .quick) {
            events.append(event.data)
        }

        #expect(events == ["one"])
        #expect(transport.requestCount == 4)
    }

    @Test func `an event source waits for the time in Retry-After before it reconnects`() async throws {
        let clock = ManualClock()
        let transport = StubTransport(answers: [.status(503, headers: ["Retry-After": "20"]), .status(204)])
        let client = try NetworkClient(service: .topics(servers: 1), transport: transport, time: clock)
        let events = Task { for try await _ in client.eventSource(APIConfiguration(path: "news")) {} }
        #expect(await transport.waitForRequests(1))

        #expect(await clock.waitForTimers(1, in: .seconds(20)))
        clock.advance(by: .seconds(20))

        try await events.value
        #expect(transport.requestCount == 2)
    }

    @Test func `a Retry-After delays one reconnection only`() async throws {
        let clock = ManualClock()
        let transport = StubTransport(answers: [
            .status(503, headers: ["Retry-After": "20"]), .failure(.connectionRefused), .never,
        ])
        let client = try NetworkClient(service: .topics(servers: 1), transport: transport, time: clock)
        let events = Task { for try await _ in client.eventSource(APIConfiguration(path: "news")) {} }
        #expect(await transport.waitForRequests(1))
        #expect(await clock.waitForTimers(1, in: .seconds(20)))

        clock.advance(by: .seconds(20))

        #expect(await transport.waitForRequests(2))
        #expect(await clock.waitForTimers(1, in: .seconds(3)))
        events.cancel()
        _ = await events.result
    }

    @Test func `an event source can be cancelled while it reads the body of a refused response`() async throws {
        let server = LoopbackServer()
        server.route(.get, "/news") { _ in
            .stream(status: 403) { writer in
                try await writer.write("no")
                let never = AsyncStream<Void> { _ in }
                for await _ in never {}
            }
        }
        try server.start()
        let client = try NetworkClient(service: .loopback([server]))
        let source = client.eventSource(APIConfiguration(path: "news"))
        let listening = Task { for try await _ in source {} }
        _ = await server.waitForRequests(1)

        client.cancel(source.id)

        let error = await #expect(throws: EventSourceFailure.self) { try await listening.value }
        guard case .request(let failure)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(failure.reason == .cancelled)
    }

    @Test func `the error of a refused event source has the response's status, headers and body`() async throws {
        let (client, _) = try Self.client(.json(#"{"message":"log in"}"#, status: 422, headers: ["X-Trace": "7"]))

        let error = await #expect(throws: EventSourceFailure.self) {
            for try await _ in client.eventSource(APIConfiguration(path: "news"), options: .quick) {}
        }

        let shown = APIError(try #require(error))
        #expect(shown.status == 422)
        #expect(shown.headers["X-Trace"] == "7")
        #expect(shown.text == #"{"message":"log in"}"#)
        #expect(error?.answer?.context.server != nil)
    }

    @Test(arguments: [.overloaded, .credentials(.refreshTimedOut)] as [RequestFailure.Reason])
    func `a transient failure before a request was sent does not end the event source`(reason: RequestFailure.Reason)
        async throws
    {
        let (client, transport) = try Self.client(.status(204))
        let isOver = Locked(false)
        var call = APIConfiguration(path: "chat", method: .post)
        call.interceptors = [
            .adapting { _, _ in
                let isFirst = isOver.withLock { isOver in
                    defer { isOver = true }
                    return !isOver
                }
                if isFirst { throw reason }
            }
        ]

        for try await _ in client.eventSource(call, options: .quick) {}

        #expect(transport.requestCount == 1)
    }

    @Test func `the network's return ends the long wait that follows repeated failures`() async throws {
        let clock = ManualClock()
        let answers = Array(repeating: StubResponse.failure(.offline), count: 5) + [.status(204)]
        let transport = StubTransport(answers: answers)
        let service = try Service.topics(switching: .off, servers: 1)
        let client = try NetworkClient(service: service, transport: transport, options: .init(seed: 1), time: clock)
        let reading = Task { for try await _ in client.eventSource(APIConfiguration(path: "news")) {} }
        for number in 1...4 {
            await transport.waitForRequests(number)
            await until { clock.nextDeadline == clock.now.advanced(by: .seconds(3)) }
            clock.advance(by: .seconds(3 << (number - 1)))
        }
        await transport.waitForRequests(5)
        await until { clock.nextDeadline == clock.now.advanced(by: .seconds(3)) }

        client.networkChanged(isOnline: true)
        clock.advance(by: .seconds(3))

        #expect(await transport.waitForRequests(6))
        try await reading.value
    }

    // The client does not send a request that is not idempotent twice.
    @Test func `a POST whose event stream has ended is not sent again`() async throws {
        let (client, transport) = try Self.client(Self.stream("data: Hel\n\ndata: lo\n\n"), .status(204))
        var text = ""

        let chat = APIConfiguration(path: "chat", method: .post, body: .json(["q": 1]))
        for try await event in client.eventSource(chat, options: .quick) { text += event.data }

        #expect(text == "Hello")
        #expect(transport.requestCount == 1)
    }

    @Test func `a POST whose event stream breaks is not sent again`() async throws {
        let (client, transport) = try Self.client(Self.stream("data: Hel\n\n", failing: .connectionReset), .status(204))

        let error = await #expect(throws: EventSourceFailure.self) {
            for try await _ in client.eventSource(APIConfiguration(path: "chat", method: .post), options: .quick) {}
        }

        guard case .request(let failure)? = error, case .transport(let cause) = failure.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(cause.kind == .connectionReset)
        #expect(transport.requestCount == 1)
    }

    @Test func `a POST that was not sent or may be repeated is sent again`() async throws {
        var repeatable = APIConfiguration(path: "chat", method: .post)
        repeatable.mayBeRepeated = true
        let (refused, unsent) = try Self.client(.failure(.connectionRefused), Self.stream("data: 1\n\n"), .status(204))
        let (cut, sent) = try Self.client(Self.stream("data: 1\n\n", failing: .connectionReset), .status(204))

        for try await _ in refused.eventSource(APIConfiguration(path: "chat", method: .post), options: .quick) {}
        for try await _ in cut.eventSource(repeatable, options: .quick) {}

        #expect(unsent.requestCount == 2)
        #expect(sent.requestCount == 2)
    }

    @Test func `a prebuiltRequest is sent with Last-Event-ID on reconnection too`() async throws {
        let (client, transport) = try Self.client(Self.stream("id: 7\ndata: one\n\n"), .status(204))
        var configuration = APIConfiguration()
        configuration.prebuiltRequest = HTTPRequest(url: try RequestURL(validating: "https://o.example/news"))

        for try await _ in client.eventSource(configuration, options: .quick) {}

        #expect(transport.requests.map { $0.headers["Last-Event-ID"] } == [nil, "7"])
        #expect(transport.requests.allSatisfy { $0.headers["Accept"] == "text/event-stream" })
    }

    @Test func `an event ID that is invalid in a header field is not sent, and the events continue`() async throws {
        let (client, transport) = try Self.client(
            Self.stream("id: a\u{1}b\ndata: one\n\n"),
            Self.stream("id: 2\ndata: two\n\n"),
            .status(204)
        )
        var ids: [String] = []

        for try await event in client.eventSource(APIConfiguration(path: "news"), options: .quick) {
            ids.append(event.lastEventID)
        }

        #expect(ids == ["a\u{1}b", "2"])
        #expect(transport.requests.map { $0.headers["Last-Event-ID"] } == [nil, nil, "2"])
    }

    @Test func `connections that break before their first line count as consecutive failures`() async throws {
        let answers = Array(repeating: Self.stream("", failing: .connectionReset), count: 6) + [.status(204)]
        let transport = StubTransport(answers: answers)
        let service = try Service.topics(switching: .off, servers: 1)
        let client = try NetworkClient(service: service, transport: transport, options: .init(seed: 1))
        var options = EventSource.Options.quick
        options.maximumFailures = 3

        await #expect(throws: EventSourceFailure.self) {
            for try await _ in client.eventSource(APIConfiguration(path: "news"), options: options) {}
        }

        #expect(transport.requestCount == 4)
    }

    @Test(arguments: [": still here\n", "data: one\n\n"])
    func `a connection that delivers a line resets the count of failures`(text: String) async throws {
        let broken = Array(repeating: Self.stream("", failing: .connectionReset), count: 2)
        let answers = broken + [Self.stream(text, failing: .connectionReset)] + broken.prefix(1) + [.status(204)]
        let transport = StubTransport(answers: answers)
        let service = try Service.topics(switching: .off, servers: 1)
        let client = try NetworkClient(service: service, transport: transport, options: .init(seed: 1))
        var options = EventSource.Options.quick
        options.maximumFailures = 2

        for try await _ in client.eventSource(APIConfiguration(path: "news"), options: options) {}

        #expect(transport.requestCount == 5)
    }

    @Test func `an event source pauses before it reconnects even if the server sends retry: 0`() async throws {
        let clock = ManualClock()
        let transport = StubTransport(answers: [Self.stream("retry: 0\n\n"), .status(204)])
        let service = try Service.topics(switching: .off, servers: 1)
        let client = try NetworkClient(service: service, transport: transport, options: .init(seed: 1), time: clock)
        let isOver = Locked(false)
        let reading = Task {
            defer { isOver.withLock { $0 = true } }
            for try await _ in client.eventSource(APIConfiguration(path: "news")) {}
        }
        await until { isOver.withLock { $0 } || clock.nextDeadline == clock.now.advanced(by: .milliseconds(500)) }

        #expect(transport.requestCount == 1)
        clock.advance(by: .milliseconds(500))
        try await reading.value
        #expect(transport.requestCount == 2)
    }
}
