import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// How a deadline affects the health of servers that got their attempt shortly before.
@Suite(.timeLimit(.minutes(5)), .prompt) struct LateAttemptTests {
    private let time = ManualClock()

    /// A client whose first server fails after `delay` and whose second server usually responds in 300 ms.
    private func client(failingAfter delay: Duration) async throws -> (client: NetworkClient, transport: StubTransport)
    {
        var policy = SwitchPolicy.recommended
        policy.hedging = nil
        policy.warmUp = nil
        let time = time
        let (client, transport) = try NetworkClient.stubbed(switching: policy, servers: 2, time: time) { request in
            if request.server == "primary" { return .delayed(by: delay, on: time, .status(504)) }
            let isUsual = request.url.text.hasSuffix("usual")
            return isUsual ? .delayed(by: .milliseconds(300), on: time, .status(200)) : .never
        }
        var usual = APIConfiguration(path: "usual", timeout: .seconds(2))
        usual.server = .named("secondary")
        for _ in 0..<8 {
            let call = Task { [usual] in try await client.send(usual).status }
            #expect(await time.waitForTimers(1, in: .milliseconds(300)))
            time.advance(by: .milliseconds(300))
            #expect(try await call.value == 200)
        }
        return (client, transport)
    }

    private func figures(failingAfter delay: Duration) async throws -> HealthStatistics {
        let (client, transport) = try await client(failingAfter: delay)
        let call = Task { await client.failure(of: APIConfiguration(path: "list", timeout: .seconds(2))) }
        #expect(await time.waitForTimers(1, in: delay))
        time.advance(by: delay)
        #expect(await transport.waitForRequests(10))
        time.advance(by: .seconds(2) - delay)
        #expect(await call.value == nil)  // The 504 is returned.
        return client.servers[1].statistics
    }

    @Test func `a deadline does not count as a failure if the server had less time than it usually needs`() async throws
    {
        let figures = try await figures(failingAfter: .milliseconds(1900))

        #expect(figures.lastFailure == nil)
        #expect(figures.share == 1)
    }

    @Test func `a deadline counts as a timeout of the server if the server had the time that it usually needs`()
        async throws
    {
        let figures = try await figures(failingAfter: .milliseconds(1000))

        #expect(figures.lastFailure == .timeout)
    }
}
