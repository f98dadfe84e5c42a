import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// What the client is told about the network, and what follows for its servers (SWITCHING section 5, path events).
@Suite(.timeLimit(.minutes(5)), .prompt) struct NetworkChangeTests {
    private let time = ManualClock()

    /// A policy by which three failures in a row eject a server, proven or not, for ten minutes at least.
    private var strict: SwitchPolicy {
        var policy = SwitchPolicy.consecutiveFailures(3)
        policy.detection.countsUnproven = true
        policy.recovery.firstProbe = .seconds(600)
        policy.recovery.longestProbe = .seconds(6000)
        policy.failsOver = false
        return policy
    }

    private var list: APIConfiguration { APIConfiguration(path: "list") }

    /// A client without a network, which it was told.
    private func offline() throws -> NetworkClient {
        let (client, _) = try NetworkClient.stubbed(switching: strict, time: time) { _ in .failure(.dnsFailure) }
        client.networkChanged(isOnline: false)
        return client
    }

    @Test func `a machine that is offline stays so when the environment is switched`() async throws {
        let client = try offline()

        try client.switchEnvironment(to: .release)
        for _ in 0..<10 { _ = await client.failure(of: list) }

        #expect(client.servers.allSatisfy { $0.state == .healthy && $0.statistics.failures == 0 })
        client.networkChanged(isOnline: true)
        time.advance(by: .seconds(5))
        for _ in 0..<3 { _ = await client.failure(of: list) }
        #expect(client.servers.map(\.state) == [.ejected, .healthy, .healthy])
    }

    @Test func `and when the client is reset`() async throws {
        let client = try offline()

        try client.reset()
        for _ in 0..<10 { _ = await client.failure(of: list) }

        #expect(client.servers.allSatisfy { $0.state == .healthy && $0.statistics.failures == 0 })
    }

    @Test func `an environment that is entered once the network is back counts from its start`() async throws {
        let client = try offline()
        client.networkChanged(isOnline: true)

        try client.switchEnvironment(to: .release)
        for _ in 0..<3 { _ = await client.failure(of: list) }

        #expect(client.servers.map(\.state) == [.ejected, .healthy, .healthy])
    }

    /// A client whose first server was ejected a moment ago, not to be probed for minutes.
    private func failedOver() async throws -> NetworkClient {
        let (client, _) = try NetworkClient.stubbed(switching: strict, time: time) { request in
            request.server == "primary" ? .failure(.connectionReset) : .status(200)
        }
        for _ in 0..<3 { _ = await client.failure(of: list) }
        let wait = try #require(client.servers[0].nextProbe)
        #expect(wait > .seconds(60))
        return client
    }

    @Test func `on another way to the network, servers that are out are asked again within a second`() async throws {
        let client = try await failedOver()
        let network = ManualReachability(.reachable(.local))
        let follower = client.following(network)

        network.status = .reachable(.cellular)

        await until { client.servers[0].nextProbe.map { $0 <= .seconds(1) } ?? true }
        #expect(client.servers[0].nextProbe.map { $0 <= .seconds(1) } == true)
        follower.stop()
    }

    @Test func `what was under way when the app was suspended says nothing about its server`() async throws {
        let (time, policy) = (time, strict)
        let (client, transport) = try NetworkClient.stubbed(switching: policy, time: time) { _ in .never }
        let calls = (0..<5).map { _ in
            Task { await client.failure(of: APIConfiguration(path: "list", timeout: .seconds(10))) }
        }
        #expect(await transport.waitForRequests(5))
        await time.waitForTimers(5)
        time.advance(by: .seconds(1))

        client.networkPathChanged()
        time.advance(by: .seconds(3600))

        for call in calls { #expect(await call.value == .deadlineExceeded) }
        #expect(client.servers.allSatisfy { $0.state == .healthy && $0.statistics.failures == 0 })
    }
}
