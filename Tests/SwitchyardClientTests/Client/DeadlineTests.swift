import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// Rule 5 of a request's life: the deadline bounds everything.
///
/// The clock advances only when a test advances it.
@Suite(.timeLimit(.minutes(5)), .prompt) struct DeadlineTests {
    private let time = ManualClock()

    @Test func `a request without a response ends exactly at its deadline`() async throws {
        let (client, transport) = try NetworkClient.stubbed(servers: 1, time: time) { _ in .never }
        let failure = Task { await client.failure(of: APIConfiguration(path: "list", timeout: .milliseconds(1500))) }
        #expect(await transport.waitForRequests(1))
        #expect(await time.waitForTimers(1))

        time.advance(by: .milliseconds(1499))
        #expect(client.activeRequests.count == 1)
        time.advance(by: .milliseconds(1))

        #expect(await failure.value == .deadlineExceeded)
        #expect(await transport.waitUntilIdle())
    }

    @Test func `no attempt starts after the deadline even if the deadline's timer has not fired yet`() async throws {
        let (client, transport) = try NetworkClient.stubbed(time: time) { [time] _ in
            // The attempt fails before the request has set its timer.
            time.advance(by: .seconds(3))
            return .failure(.connectionRefused)
        }

        let reason = await client.failure(of: APIConfiguration(path: "list", timeout: .seconds(2)))

        #expect(reason != nil)
        #expect(transport.requestCount == 1)
    }

    @Test func `a request ends at its deadline even if its hedge timer fires while the hedge timer is being set`()
        async throws
    {
        let time = ImpatientTime()
        let transport = StubTransport { _ in .never }
        let client = try NetworkClient(service: try .topics(), transport: transport, time: time)
        let failure = Task { await client.failure(of: APIConfiguration(path: "list", timeout: .seconds(2))) }
        #expect(await transport.waitForRequests(2))
        // The request has the first timer in hand now, and knows that another one has replaced it.
        await time.discard.wait()

        time.clock.advance(by: .seconds(2))

        #expect(await failure.value == .deadlineExceeded)
    }

    /// Waits until a slow read is hedged to a second server.
    private func letHedge(_ transport: StubTransport) async {
        #expect(await transport.waitForRequests(1))
        #expect(await time.waitForTimers(1, in: .milliseconds(250)))
        #expect(await time.waitForTimers(2))
        time.advance(by: .milliseconds(250))
        #expect(await transport.waitForRequests(2))
    }

    @Test func `the deadline limits the time of all attempts together`() async throws {
        let (client, transport) = try NetworkClient.stubbed(time: time) { _ in .never }
        let failure = Task { await client.failure(of: APIConfiguration(path: "list", timeout: .seconds(2))) }
        #expect(await transport.waitForRequests(1))

        for _ in 0..<20 { time.advance(by: .milliseconds(100)) }

        #expect(await failure.value == .deadlineExceeded)
        #expect(transport.requestCount <= 3)
        #expect(await transport.waitUntilIdle())
        #expect(time.pendingTimers == 0)
    }

    @Test func `a slow read is hedged to a second server, and the first response wins`()
        async throws
    {
        let time = time
        let (client, transport) = try NetworkClient.stubbed(time: time) { request in
            request.server == "primary" ? .never : .status(200)
        }
        let response = Task { try await client.send(APIConfiguration(path: "list", timeout: .seconds(2))) }
        #expect(await transport.waitForRequests(1))
        #expect(await time.waitForTimers(1, in: .milliseconds(250)))

        time.advance(by: .milliseconds(250))

        let answer = try await response.value
        #expect(answer.context.server == "secondary")
        #expect(answer.context.attempts == 2)
        #expect(await transport.waitUntilIdle())
    }

    @Test func `a hedged read returns the first server's response if that response arrives first`() async throws {
        let time = time
        let (client, transport) = try NetworkClient.stubbed(time: time) { request in
            request.server == "primary" ? .delayed(by: .milliseconds(300), on: time, .status(200)) : .never
        }
        let response = Task { try await client.send(APIConfiguration(path: "list", timeout: .seconds(2))) }
        await letHedge(transport)

        time.advance(by: .milliseconds(50))

        #expect(try await response.value.context.server == "primary")
        #expect(await transport.waitUntilIdle())
    }

    @Test(arguments: [TransportError.Kind.offline, .proxyFailure, .requestBodyFailed])
    func `a hedge that fails on the client's side leaves the first attempt running`(
        kind: TransportError.Kind
    ) async throws {
        let time = time
        let (client, transport) = try NetworkClient.stubbed(time: time) { request in
            guard request.url.text.hasSuffix("list") else { return .status(200) }
            return request.server == "primary"
                ? .delayed(by: .milliseconds(300), on: time, .status(200)) : .failure(kind)
        }
        let response = Task { try await client.send(APIConfiguration(path: "list", timeout: .seconds(2))) }
        await letHedge(transport)
        // The failure of the hedge is processed after all of these responses.
        for _ in 0..<20 { _ = try await client.send(APIConfiguration(path: "other")) }

        time.advance(by: .milliseconds(50))

        #expect(try await response.value.context.server == "primary")
    }

    @Test func `a slow write is not hedged`() async throws {
        let (client, transport) = try NetworkClient.stubbed(time: time) { request in
            request.method == .post ? .never : .status(200)
        }
        let failure = Task {
            await client.failure(of: APIConfiguration(path: "list", method: .post, timeout: .seconds(2)))
        }
        #expect(await transport.waitForRequests(1))
        #expect(await time.waitForTimers(1))

        for _ in 0..<20 { time.advance(by: .milliseconds(100)) }

        #expect(await failure.value == .deadlineExceeded)
        #expect(transport.requests.count { $0.method == .post } == 1)
    }

    @Test(arguments: [200, 405])
    func `a slow write causes one probe of each server if the probes get responses`(status: Int) async throws {
        let (client, transport) = try NetworkClient.stubbed(time: time) { request in
            request.method == .post ? .never : .status(status)
        }
        let failure = Task {
            await client.failure(of: APIConfiguration(path: "list", method: .post, timeout: .seconds(2)))
        }
        #expect(await transport.waitForRequests(1))
        #expect(await time.waitForTimers(1))

        time.advance(by: .milliseconds(300))
        // Each response arrives after the effects of the previous responses.
        for _ in 0..<20 { _ = try await client.send(APIConfiguration(path: "other")) }

        #expect(transport.requests.count { $0.method == .get && $0.url.text.hasSuffix("list") } == 2)
        client.cancelAll()
        #expect(await failure.value == .cancelled)
    }

    @Test func `a request that has ended leaves no timer of its client`() async throws {
        let (client, _) = try NetworkClient.stubbed(time: time) { _ in .status(200) }

        for _ in 0..<10 { _ = try await client.send(APIConfiguration(path: "list")) }

        #expect(time.pendingTimers == 0)
    }
}

/// A clock whose first timer fires before `schedule` returns.
private final class ImpatientTime: TimeSource {
    private struct SpentTimer: ScheduledTimer {
        let discard: Latch

        func cancel() { discard.open() }
    }

    let clock = ManualClock()
    /// Opens when the first timer is cancelled.
    let discard = Latch()
    private let hasFired = Locked(false)

    var now: MonotonicTime { clock.now }

    func schedule(at deadline: MonotonicTime, _ action: @escaping @Sendable () -> Void) -> any ScheduledTimer {
        let isFirst = hasFired.withLock { hasFired in
            defer { hasFired = true }
            return !hasFired
        }
        guard isFirst else { return clock.schedule(at: deadline, action) }
        action()
        return SpentTimer(discard: discard)
    }
}
