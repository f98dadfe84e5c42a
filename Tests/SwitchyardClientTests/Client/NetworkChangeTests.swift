import SwitchyardClient
import SwitchyardServices
import SwitchyardTesting
import Testing

/// What the client is told about the network, and what follows for its servers (SWITCHING section 5, path events).
@Suite(.timeLimit(.minutes(1))) struct NetworkChangeTests {
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
}
