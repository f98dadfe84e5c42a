import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardOutbox

/// Reactions to responses and failures, and pauses.
@Suite(.timeLimit(.minutes(5)), .prompt) struct OutboxSendingTests {
    private let file = FileManager.default.temporaryDirectory.appendingPathComponent("outbox-\(UUID().uuidString)")

    private func outbox(
        clock: ManualClock = ManualClock(),
        answer: @escaping @Sendable (HTTPRequest) -> StubResponse
    ) throws -> (Outbox, StubTransport) {
        let transport = StubTransport(answer)
        var options = NetworkClient.Options(seed: 1)
        options.redirects = .refuse
        let service = try Service.topics(switching: .off, servers: 1)
        let client = try NetworkClient(service: service, transport: transport, options: options, time: clock)
        return (try Outbox(file: file, client: client), transport)
    }

    private func write(_ path: String) -> APIConfiguration {
        APIConfiguration(path: path, method: .post, timeout: .seconds(7_200))
    }

    @Test(arguments: [TransportError.Kind.invalidRequest, .unsupported])
    func `a write that the transport cannot send is dropped, and the next write is sent`(kind: TransportError.Kind)
        async throws
    {
        defer { try? FileManager.default.removeItem(at: file) }
        let (outbox, transport) = try outbox { request in
            guard request.url.text.hasSuffix("bad") else { return .status(201) }
            return .failure(TransportError(kind, message: "the head is too large", mayHaveBeenSent: false))
        }
        try outbox.store(write("bad"))
        try outbox.store(write("good"))
        var events = outbox.events().makeAsyncIterator()

        try await outbox.flush()

        #expect(outbox.entries == [])
        #expect(transport.requests.last?.url.path == "/v1/good")
        guard case .unsendable(let entry, _) = await events.next() else {
            Issue.record("expected an unsendable write")
            return
        }
        #expect(entry.path == "bad")
    }

    @Test func `an outbox entry records whether its write may have been executed, even after a restart`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let answers = AnswerList([.failure(.connectionRefused), .failure(.connectionReset), .status(409)])
        var waiting: Outbox? = try outbox { answers.answer($0) }.0
        try #require(waiting).store(write("topics"))

        try await waiting?.flush()
        #expect(waiting?.entries.map(\.mayHaveBeenExecuted) == [false])
        try await waiting?.flush()
        #expect(waiting?.entries.map(\.mayHaveBeenExecuted) == [true])
        waiting = nil
        let (next, _) = try outbox { answers.answer($0) }
        #expect(next.entries.map(\.mayHaveBeenExecuted) == [true])
        var events = next.events().makeAsyncIterator()
        try await next.flush()

        let event = try #require(await events.next())
        #expect(event.description.hasSuffix("rejected with status 409, may have been executed"))
    }

    @Test func `a 409 response with Retry-After postpones a write`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (outbox, _) = try outbox { _ in .status(409, headers: ["Retry-After": "30"]) }
        try outbox.store(write("topics"))

        #expect(try await outbox.flush() == .seconds(30))
        #expect(outbox.entries.count == 1)
    }

    @Test(arguments: ["86400", "Fri, 31 Dec 9999 23:59:59 GMT"])
    func `a very long Retry-After pauses the outbox for only an hour`(field: String) async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (outbox, _) = try outbox { _ in .status(503, headers: ["Retry-After": field]) }
        try outbox.store(write("topics"))

        #expect(try await outbox.flush() == .seconds(3_600))
    }

    @Test func `a write in progress when the process ends may have been executed`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (outbox, transport) = try outbox { _ in .never }
        try outbox.store(write("first"))
        try outbox.store(write("second"))
        let sending = Task { try await outbox.flush() }
        #expect(await transport.waitForRequests(1))

        // The state that a killed process leaves.
        let copy = file.appendingPathExtension("copy")
        defer { try? FileManager.default.removeItem(at: copy) }
        try FileManager.default.copyItem(at: file, to: copy)
        let (client, _) = try NetworkClient.stubbed(switching: .off, servers: 1) { _ in .status(201) }

        #expect(try Outbox(file: copy, client: client).entries.map(\.mayHaveBeenExecuted) == [true, false])
        sending.cancel()
        _ = try await sending.value
    }

    @Test(arguments: [300, 301, 302, 304, 307, 308])
    func `an unfollowed redirect does not confirm a write, and the write stays`(status: Int) async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (outbox, _) = try outbox { _ in .status(status, headers: ["Location": "/elsewhere"]) }
        try outbox.store(write("topics"))
        var events = outbox.events().makeAsyncIterator()

        try await outbox.flush()

        guard case .unconfirmed(_, let answer, .redirected(status), _) = await events.next() else {
            Issue.record("expected an unconfirmed write")
            return
        }
        #expect(answer.status == status)
        #expect(outbox.entries.count == 1)
    }

    @Test func `an unfollowed 303 response confirms a write`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (outbox, _) = try outbox { _ in .status(303, headers: ["Location": "/topics/7"]) }
        try outbox.store(write("topics"))
        var events = outbox.events().makeAsyncIterator()

        try await outbox.flush()

        guard case .sent = await events.next() else {
            Issue.record("expected a write that was sent")
            return
        }
    }

    /// A network that counts how often the outbox checks it, which is once per wake-up.
    private final class CountingReachability: ReachabilityProvider {
        let network = ManualReachability()
        private let looks = Locked(0)

        var count: Int { looks.withLock { $0 } }

        var status: ReachabilityStatus {
            looks.withLock { $0 += 1 }
            return network.status
        }

        func updates() -> AsyncStream<ReachabilityStatus> { network.updates() }
    }

    /// Stores a write and waits until the outbox has processed the wake-up.
    private func storeAndWait(_ outbox: Outbox, _ network: CountingReachability) async throws {
        for _ in 0..<2 {
            let before = network.count
            try outbox.store(write("more"))
            await until { network.count > before }
        }
    }

    @Test(arguments: [("3600", 3_600), (nil, 5)] as [(String?, Double)])
    func `a pause of the outbox continues when another write is stored`(retryAfter: String?, seconds: Double)
        async throws
    {
        defer { try? FileManager.default.removeItem(at: file) }
        let clock = ManualClock()
        let answers = AnswerList([
            .status(503, headers: retryAfter.map { ["Retry-After": $0] } ?? [:]), .status(201),
        ])
        let (outbox, transport) = try outbox(clock: clock) { answers.answer($0) }
        let network = CountingReachability()
        try outbox.store(write("first"))
        let run = outbox.run(following: network)
        await until { clock.nextDeadline == MonotonicTime(seconds: seconds) }

        try await storeAndWait(outbox, network)

        #expect(transport.requestCount == 1)
        await until { clock.nextDeadline == MonotonicTime(seconds: seconds) }
        clock.advance(by: .seconds(seconds))
        await until { outbox.entries.isEmpty }
        #expect(transport.requestCount == 4)
        run.stop()
    }

    /// A reachable network whose updates the test sends.
    private struct LateReachability: ReachabilityProvider {
        let stream = AsyncStream.makeStream(of: ReachabilityStatus.self)
        let looks = Locked(0)

        var status: ReachabilityStatus {
            looks.withLock { $0 += 1 }
            return .reachable(.local)
        }

        func updates() -> AsyncStream<ReachabilityStatus> { stream.stream }
    }

    @Test func `a new run of the outbox ends the pause of an earlier run if the network is reachable`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let clock = ManualClock()
        let (outbox, transport) = try outbox(clock: clock) { _ in .failure(.connectionRefused) }
        try outbox.store(write("first"))
        let first = outbox.run(following: LateReachability())
        await until { clock.nextDeadline == MonotonicTime(seconds: 5) }
        first.stop()
        let sent = transport.requestCount

        let second = outbox.run(following: LateReachability())
        await until { transport.requestCount > sent }

        second.stop()
    }

    @Test func `a pause of the outbox continues if an update of the network's status reports no change`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let clock = ManualClock()
        let (outbox, transport) = try outbox(clock: clock) { _ in .failure(.connectionRefused) }
        let network = LateReachability()
        try outbox.store(write("first"))
        let run = outbox.run(following: network)
        await until { clock.nextDeadline == MonotonicTime(seconds: 5) }

        for _ in 0..<2 {
            let before = network.looks.withLock { $0 }
            network.stream.continuation.yield(.reachable(.local))
            await until { network.looks.withLock { $0 } > before }
        }

        #expect(transport.requestCount == 1)
        run.stop()
    }

    @Test func `the network's return ends a pause of the outbox`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let clock = ManualClock()
        let answers = AnswerList([.failure(.connectionRefused), .status(201)])
        let (outbox, _) = try outbox(clock: clock) { answers.answer($0) }
        let network = ManualReachability()
        try outbox.store(write("first"))
        let run = outbox.run(following: network)
        await until { clock.nextDeadline == MonotonicTime(seconds: 5) }

        network.status = .notReachable
        network.status = .reachable(.local)

        await until { outbox.entries.isEmpty }
        run.stop()
    }

    @Test func `a write that fails after the network's return is sent again immediately`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let clock = ManualClock()
        let (outbox, transport) = try outbox(clock: clock) { _ in .never }
        let network = CountingReachability()
        try outbox.store(write("first"))
        let run = outbox.run(following: network)
        await transport.waitForRequests(1)

        network.network.status = .notReachable
        network.network.status = .reachable(.local)
        await until { outbox.state.withLock { $0.turns } == 1 }
        clock.advance(by: .seconds(7_200))  // The timeout of the write.

        await transport.waitForRequests(2)
        run.stop()
    }

    @Test func `the network's return does not end a pause that the server requested`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let clock = ManualClock()
        let (outbox, transport) = try outbox(clock: clock) { _ in .status(503, headers: ["Retry-After": "3600"]) }
        let network = CountingReachability()
        try outbox.store(write("first"))
        let run = outbox.run(following: network)
        await until { clock.nextDeadline == MonotonicTime(seconds: 3_600) }
        let before = network.count

        network.network.status = .notReachable
        network.network.status = .reachable(.local)
        await until { network.count > before }
        try await storeAndWait(outbox, network)

        #expect(transport.requestCount == 1)
        run.stop()
    }
}
