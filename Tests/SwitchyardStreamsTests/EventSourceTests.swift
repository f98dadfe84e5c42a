import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardStreams
import SwitchyardTesting
import Testing

/// Event streams over several connections.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct EventSourceTests {
    private static func events(_ text: String) -> LoopbackResponse {
        LoopbackResponse(headers: ["Content-Type": "text/event-stream"], body: .data(Data(text.utf8)))
    }

    @Test func `an event source reconnects with the last event ID until the server sends 204`() async throws {
        let lab = try DownloadLab()
        let count = Locked(0)
        lab.server.route(.get, "/news") { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            switch number {
            case 1: return Self.events("retry: 1\nid: 7\ndata: one\n\ndata: lost")
            case 2: return Self.events(": nothing new\n\n")
            case 3: return Self.events("data: two\n\n")
            default: return LoopbackResponse(status: 204)
            }
        }

        var events: [ServerSentEvent] = []
        for try await event in lab.client.eventSource(APIConfiguration(path: "news"), options: .quick) {
            events.append(event)
        }

        #expect(events == [.init(data: "one", lastEventID: "7"), .init(data: "two", lastEventID: "7")])
        #expect(lab.server.requests.map { $0.headers["Last-Event-ID"] } == [nil, "7", "7", "7"])
        #expect(lab.server.requests.allSatisfy { $0.headers["Accept"] == "text/event-stream" })
        #expect(lab.client.activeRequests.isEmpty)
    }

    @Test func `an event source waits for the server's reconnection time`() async throws {
        let clock = ManualClock()
        let answers: [StubResponse] = [
            .status(200, headers: ["Content-Type": "text/event-stream"], body: Data("retry: 5000\ndata: 1\n\n".utf8)),
            .status(204),
        ]
        let transport = StubTransport(answers: answers)
        let service = try Service.topics(switching: .off, servers: 1)
        let client = try NetworkClient(service: service, transport: transport, time: clock)
        let source = client.eventSource(APIConfiguration(path: "news"))

        let reading = Task {
            var events: [String] = []
            for try await event in source { events.append(event.data) }
            return events
        }
        await until { clock.nextDeadline == MonotonicTime.zero.advanced(by: .seconds(5)) }
        #expect(transport.requestCount == 1)
        clock.advance(by: .seconds(5))

        #expect(try await reading.value == ["1"])
        #expect(transport.requestCount == 2)
    }

    @Test func `a server that broke the stream is avoided even if the server list changes before reconnection`()
        async throws
    {
        let clock = ManualClock()
        let cut = StubResponse.chunks(
            [Data("retry: 5000\ndata: 1\n\n".utf8)],
            headers: ["Content-Type": "text/event-stream"],
            failing: TransportError(.connectionReset, message: "cut")
        )
        let transport = StubTransport(answers: [cut, .status(204)])
        let service = try Service.topics(switching: .off, servers: 2)
        let client = try NetworkClient(service: service, transport: transport, time: clock)
        let source = client.eventSource(APIConfiguration(path: "news"))

        let reading = Task { for try await _ in source {} }
        await until { clock.nextDeadline == MonotonicTime.zero.advanced(by: .seconds(5)) }
        try client.replaceServers(service.servers.reversed())
        try client.switchServer(to: "primary")
        clock.advance(by: .seconds(5))
        try await reading.value

        #expect(transport.requests.map(\.server) == ["primary", "secondary"])
    }

    @Test func `an event source waits longer after each failure even if the server sent retry: 0`() async throws {
        let clock = ManualClock()
        let count = Locked(0)
        let transport = StubTransport { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            switch number {
            case 1:
                let body = Data("retry: 0\ndata: 1\n\n".utf8)
                return .status(200, headers: ["Content-Type": "text/event-stream"], body: body)
            case 2...5: return .failure(.connectionRefused)
            default: return .status(204)
            }
        }
        let service = try Service.topics(switching: .off, servers: 1)
        let client = try NetworkClient(service: service, transport: transport, time: clock)
        let source = client.eventSource(APIConfiguration(path: "news"))
        let isOver = Locked(false)

        let reading = Task {
            for try await _ in source {}
            isOver.withLock { $0 = true }
        }
        while !isOver.withLock({ $0 }) {
            // Skips the deadline of the request.
            let next = { clock.nextDeadline.flatMap { clock.now.duration(to: $0) < .seconds(5) ? $0 : nil } }
            await until { isOver.withLock { $0 } || next() != nil }
            if let next = next() { clock.advance(to: next) }
        }

        try await reading.value
        #expect(transport.requestCount == 6)
        #expect(clock.now > MonotonicTime(seconds: 1))
    }

    @Test func `the timeout of an event source also applies while it reconnects`() async throws {
        let clock = ManualClock()
        let answers: [StubResponse] = [
            .status(200, headers: ["Content-Type": "text/event-stream"], body: Data("data: 1\n\n".utf8)), .never,
        ]
        let transport = StubTransport(answers: answers)
        let service = try Service.topics(switching: .off, servers: 1)
        let client = try NetworkClient(service: service, transport: transport, time: clock)
        let source = client.eventSource(APIConfiguration(path: "news", timeout: .seconds(10)))

        let reading = Task {
            for try await _ in source {}
        }
        await until { clock.nextDeadline == MonotonicTime(seconds: 3) }
        clock.advance(by: .seconds(3))
        await transport.waitForRequests(2)
        clock.advance(by: .seconds(7))
        await until { transport.openExchanges == 0 }
        clock.advance(by: .seconds(60))

        let error = await #expect(throws: EventSourceFailure.self) { try await reading.value }
        guard case .request(let failure)? = error, failure.reason == .deadlineExceeded else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func `an event source reconnects at the next server after its connection breaks`() async throws {
        let lab = try DownloadLab(2)
        lab.servers[0].route(.get, "/news") { _ in
            LoopbackResponse(
                headers: ["Content-Type": "text/event-stream"],
                body: .stream(length: 1_000) { writer in
                    try await writer.write("id: 1\ndata: one\n\n")
                    throw CancellationError()
                }
            )
        }
        let count = Locked(0)
        lab.servers[1].route(.get, "/news") { _ in
            let isFirst = count.withLock { count in
                count += 1
                return count == 1
            }
            return isFirst ? Self.events("data: two\n\n") : LoopbackResponse(status: 204)
        }
        var events: [String] = []

        for try await event in lab.client.eventSource(APIConfiguration(path: "news"), options: .quick) {
            events.append(event.data)
            if event.data == "two" { lab.servers[0].fault = .status(204) }
        }

        #expect(events == ["one", "two"])
        #expect(lab.servers[1].requests.first?.headers["Last-Event-ID"] == "1")
        #expect(lab.client.servers[0].statistics.lastFailure != nil)
    }

    @Test(arguments: [404, 501, 301])
    func `a status other than 200, 204 or a transient status ends the event source`(status: Int) async throws {
        let lab = try DownloadLab()
        lab.server.fault = .status(status)

        let error = await #expect(throws: EventSourceFailure.self) {
            for try await _ in lab.client.eventSource(APIConfiguration(path: "news")) {}
        }

        guard case .refused(let answer)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(answer.status == status)
    }

    @Test func `a response of another content type ends the event source`() async throws {
        let lab = try DownloadLab()
        lab.server.route(.get, "/news", answering: .text("data: 1\n\n"))

        let error = await #expect(throws: EventSourceFailure.self) {
            for try await _ in lab.client.eventSource(APIConfiguration(path: "news")) {}
        }

        guard case .contentType(let answer)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(answer.headers.contentType == "text/plain; charset=utf-8")
        #expect(answer.text == "data: 1\n\n")
    }

    @Test func `the maximum number of consecutive connection failures ends the event source`() async throws {
        let lab = try DownloadLab()
        lab.server.fault = .refuse
        var options = EventSource.Options.quick
        options.maximumFailures = 3

        let error = await #expect(throws: EventSourceFailure.self) {
            for try await _ in lab.client.eventSource(APIConfiguration(path: "news"), options: options) {}
        }

        guard case .request(let failure)? = error, case .transport(let cause) = failure.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(cause.kind == .connectionRefused)
    }

    @Test func `an event source is cancelled by its ID while it reads and while it waits`() async throws {
        let lab = try DownloadLab()
        lab.server.route(.get, "/live") { _ in
            LoopbackResponse(
                headers: ["Content-Type": "text/event-stream"],
                body: .stream(length: nil) { writer in
                    try await writer.write("data: 1\n\n")
                    try await Task.sleep(for: .seconds(3_600))
                }
            )
        }
        lab.server.route(.get, "/short", answering: Self.events("retry: 3600000\ndata: 1\n\n"))

        for path in ["live", "short"] {
            let source = lab.client.eventSource(APIConfiguration(path: path))
            let error = await #expect(throws: EventSourceFailure.self) {
                for try await _ in source {
                    Task { lab.client.cancel(source.id) }
                }
            }
            guard case .request(let failure)? = error, failure.isCancellation else {
                Issue.record("\(path): \(String(describing: error))")
                continue
            }
        }
        #expect(lab.client.activeRequests.isEmpty)
    }

    @Test func `leaving the for-await loop closes the connection of an event source`() async throws {
        let lab = try DownloadLab()
        lab.server.route(.get, "/live") { _ in
            LoopbackResponse(
                headers: ["Content-Type": "text/event-stream"],
                body: .stream(length: nil) { writer in
                    while true { try await writer.write("data: 1\n\n") }
                }
            )
        }

        for try await _ in lab.client.eventSource(APIConfiguration(path: "live")) { break }

        await lab.server.waitUntilIdle()
        #expect(lab.client.activeRequests.isEmpty)
    }

    @Test func `an event above the size limit ends the event source`() async throws {
        let lab = try DownloadLab()
        lab.server.route(.get, "/news", answering: Self.events(String(repeating: "data: 1234567890\n", count: 1_000)))
        var options = EventSource.Options.quick
        options.eventLimit = 5_000

        let error = await #expect(throws: EventSourceFailure.self) {
            for try await _ in lab.client.eventSource(APIConfiguration(path: "news"), options: options) {}
        }

        guard case .request(let failure)? = error, case .transport(let cause) = failure.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(cause.kind == .bodyTooLarge)
    }

    @Test func `the events of a single response can be read without reconnecting`() async throws {
        let lab = try DownloadLab()
        lab.server.route(.post, "/chat", answering: Self.events("data: Hel\n\ndata: lo\n\n"))

        let answer = try await lab.client.stream(APIConfiguration(path: "chat", method: .post, body: .json(["q": 1])))
        var text = ""
        for try await event in answer.bytes.events() { text += event.data }

        #expect(text == "Hello")
        #expect(lab.server.requests.count == 1)
    }
}

extension EventSource.Options {
    /// Options with a very short reconnection time.
    static let quick: EventSource.Options = {
        var options = EventSource.Options()
        options.reconnectionTime = .milliseconds(1)
        return options
    }()
}
