import Dispatch
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// Servers with the same name in different environments are different servers.
@Suite(.timeLimit(.minutes(5)), .prompt) struct LimitEnvironmentTests {
    private let limit = ConcurrencyLimit(perServer: 1)

    @Test func `a request that hangs in one environment takes no slot of the concurrency limit in another environment`()
        async throws
    {
        let (client, transport) = try NetworkClient.limited([limit]) { request in
            request.url.text.contains("primary.test") ? .never : .status(200)
        }
        client.send(.path("slow"), on: .global()) { _ in }
        #expect(await transport.waitForRequests(1))

        try client.switchEnvironment(to: .release)
        let other = Task { await client.failure(of: .path("list")) }

        #expect(await other.value == nil)
        client.cancelAll()
    }

    @Test func `a transform that reads the concurrency limit during the choice of a server causes no deadlock`()
        async throws
    {
        let limit = ConcurrencyLimit(total: 1)
        let transport = StubTransport { _ in .never }
        let waiting = Locked(0)
        var options = NetworkClient.Options(seed: 1)
        options.limits = [limit]
        options.generator.transforms = [{ _ in waiting.withLock { $0 = max($0, limit.waitingCount) } }]
        let servers = try ["mirror", "primary"].map { name in
            let url = try ServerURL("http://\(name).test")
            return Server(name: name, baseURLs: [.test: url], serves: name == "mirror" ? .reads : .everything)
        }
        let client = try NetworkClient(
            service: Service(name: "shop", servers: servers, defaultEnvironment: .test),
            transport: transport,
            options: options,
            time: ManualClock()
        )
        let calls = (0..<2).map { _ in Task { await client.failure(of: .path("list")) } }
        await until { limit.waitingCount == 1 }
        await until { waiting.withLock { $0 } == 1 }

        client.cancelAll()

        for call in calls { #expect(await call.value == .cancelled) }
    }
}
