import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// How network changes that the app reports affect the servers' health (SWITCHING section 5, path events).
@Suite(.timeLimit(.minutes(5)), .prompt) struct NetworkChangeTests {
    private let time = ManualClock()

    /// A policy that ejects a server after three failures in a row, without a confirming probe, for at least ten
    /// minutes.
    private var strict: SwitchPolicy {
        var policy = SwitchPolicy.consecutiveFailures(3)
        policy.detection.countsUnproven = true
        policy.recovery.firstProbe = .seconds(600)
        policy.recovery.longestProbe = .seconds(6000)
        policy.failsOver = false
        return policy
    }

    private var list: APIConfiguration { APIConfiguration(path: "list") }

    /// A client that was notified that it is offline.
    private func offline() throws -> NetworkClient {
        let (client, _) = try NetworkClient.stubbed(switching: strict, time: time) { _ in .failure(.dnsFailure) }
        client.networkChanged(isOnline: false)
        return client
    }

    @Test func `a client stays offline when its environment is switched`() async throws {
        let client = try offline()

        try client.switchEnvironment(to: .release)
        for _ in 0..<10 { _ = await client.failure(of: list) }

        #expect(client.servers.allSatisfy { $0.state == .healthy && $0.statistics.failures == 0 })
        client.networkChanged(isOnline: true)
        time.advance(by: .seconds(5))
        for _ in 0..<3 { _ = await client.failure(of: list) }
        #expect(client.servers.map(\.state) == [.ejected, .healthy, .healthy])
    }

    @Test func `a client stays offline when it is reset`() async throws {
        let client = try offline()

        try client.reset()
        for _ in 0..<10 { _ = await client.failure(of: list) }

        #expect(client.servers.allSatisfy { $0.state == .healthy && $0.statistics.failures == 0 })
    }

    @Test func `after the network is back and the environment was switched, failures count against servers again`()
        async throws
    {
        let client = try offline()
        client.networkChanged(isOnline: true)

        try client.switchEnvironment(to: .release)
        for _ in 0..<3 { _ = await client.failure(of: list) }

        #expect(client.servers.map(\.state) == [.ejected, .healthy, .healthy])
    }

    /// A client whose first server was ejected just now and is not probed for minutes.
    private func failedOver() async throws -> NetworkClient {
        let (client, _) = try NetworkClient.stubbed(switching: strict, time: time) { request in
            request.server == "primary" ? .failure(.connectionReset) : .status(200)
        }
        for _ in 0..<3 { _ = await client.failure(of: list) }
        let wait = try #require(client.servers[0].nextProbe)
        #expect(wait > .seconds(60))
        return client
    }

    @Test func `ejected servers are probed within a second after the network interface has changed`() async throws {
        let client = try await failedOver()
        let network = ManualReachability(.reachable(.local))
        let follower = client.following(network)

        network.status = .reachable(.cellular)

        await until { client.servers[0].nextProbe.map { $0 <= .seconds(1) } ?? true }
        #expect(client.servers[0].nextProbe.map { $0 <= .seconds(1) } == true)
        follower.stop()
    }

    @Test func `requests that were active while the app was suspended do not count against their server`() async throws
    {
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
