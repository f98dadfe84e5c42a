import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// How many tokens the attempts after the first one take from the budget for extra load.
///
/// The clock advances only when a test advances it.
@Suite(.timeLimit(.minutes(5)), .prompt) struct ExtraAttemptTests {
    private let time = ManualClock()

    private func client(
        _ answer: @escaping @Sendable (HTTPRequest) -> StubResponse
    ) throws -> (client: NetworkClient, transport: StubTransport) {
        var policy = SwitchPolicy.recommended
        policy.warmUp = nil
        return try NetworkClient.stubbed(switching: policy, servers: 2, time: time, answer)
    }

    /// Sends a read, waits until it is hedged or would be if the budget allowed it, and then runs an action.
    private func read(
        _ client: NetworkClient,
        _ transport: StubTransport,
        timeout: Duration,
        hedgingAfter delay: Duration,
        then end: (Task<RequestFailure.Reason?, Never>) -> Void
    ) async -> RequestFailure.Reason? {
        let asked = transport.requestCount
        let call = Task { await client.failure(of: APIConfiguration(path: "list", timeout: timeout)) }
        #expect(await transport.waitForRequests(asked + 1))
        #expect(await time.waitForTimers(1, in: delay))
        time.advance(by: delay)
        end(call)
        return await call.value
    }

    @Test func `a hedge counts against the extra-attempt budget even if the app cancels the request`()
        async throws
    {
        let (client, transport) = try client { _ in .never }

        for _ in 0..<10 {
            let reason = await read(
                client,
                transport,
                timeout: .seconds(60),
                hedgingAfter: .milliseconds(250),
                then: { $0.cancel() }
            )
            #expect(reason == .cancelled)
        }

        #expect(transport.requests.count { $0.server == "secondary" } == 3)
    }

    @Test func `a hedge counts against the extra-attempt budget even if the deadline ends it early`()
        async throws
    {
        let time = time
        let (client, transport) = try client { request in
            request.url.text.hasSuffix("usual") ? .delayed(by: .milliseconds(300), on: time, .status(200)) : .never
        }
        for server in ["primary", "secondary"] as [Server.ID] {
            var usual = APIConfiguration(path: "usual", timeout: .seconds(2))
            usual.server = .named(server)
            for _ in 0..<8 {
                let call = Task { [usual] in try await client.send(usual).status }
                #expect(await time.waitForTimers(1, in: .milliseconds(300)))
                time.advance(by: .milliseconds(300))
                #expect(try await call.value == 200)
            }
        }

        for _ in 0..<10 {
            let reason = await read(
                client,
                transport,
                timeout: .milliseconds(250),
                hedgingAfter: .milliseconds(100),
                then: { _ in time.advance(by: .milliseconds(150)) }
            )
            #expect(reason == .deadlineExceeded)
        }

        let asked = transport.requests.count { $0.server == "secondary" && $0.url.text.hasSuffix("list") }
        #expect(asked <= 4)
    }

    @Test func `active requests fail over to the next server when their server dies`() async throws {
        let time = time
        let isDead = Locked(false)
        let (client, transport) = try client { request in
            guard isDead.withLock({ $0 }) else {
                return request.url.text.hasSuffix("slow")
                    ? .delayed(by: .milliseconds(50), on: time, .status(200)) : .status(200)
            }
            return request.server == "primary"
                ? .failure(.connectionReset) : .delayed(by: .milliseconds(50), on: time, .status(200))
        }
        func crowd() async -> [RequestFailure.Reason?] {
            let asked = transport.requestCount
            let calls = (0..<60).map { _ in
                Task { await client.failure(of: APIConfiguration(path: "slow", timeout: .seconds(60))) }
            }
            let attempts = isDead.withLock { $0 } ? 120 : 60
            #expect(await transport.waitForRequests(asked + attempts))
            #expect(await time.waitForTimers(60, in: .milliseconds(50)))
            time.advance(by: .milliseconds(50))
            var reasons: [RequestFailure.Reason?] = []
            for call in calls { reasons.append(await call.value) }
            return reasons
        }
        #expect(await crowd().allSatisfy { $0 == nil })
        for _ in 0..<600 { _ = try await client.send(APIConfiguration(path: "list")) }

        isDead.withLock { $0 = true }

        #expect(await crowd().allSatisfy { $0 == nil })
    }
}
