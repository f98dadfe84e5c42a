import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// A new list of servers may give a server another host.
@Suite(.timeLimit(.minutes(5)), .prompt) struct MovedServerTests {
    @Test(arguments: [("http://moved.test/v1", ServerSnapshot.State.healthy), ("http://primary.test/v2", .ejected)])
    func `replacing the server list resets the health of an ejected server only if the server's host changes`(
        url: String,
        expected: ServerSnapshot.State
    ) async throws {
        let (client, transport) = try NetworkClient.stubbed(servers: 2) { request in
            request.server == "primary" ? .failure(.connectionRefused) : .status(200)
        }
        for _ in 0..<20 { _ = try await client.send(APIConfiguration(path: "list")) }
        #expect(client.servers[0].state == .ejected)
        var servers = client.service.servers
        servers[0].baseURLs[.test] = try ServerURL(url)

        try client.replaceServers(servers)
        _ = try await client.send(APIConfiguration(path: "list", method: .post))

        #expect(client.servers[0].state == expected)
        #expect(transport.requests.last?.server == (expected == .healthy ? "moved" : "secondary"))
    }

    @Test func `after the host of a server was replaced, failures at the old host do not count against the server`()
        async throws
    {
        let clock = ManualClock()
        let (client, transport) = try NetworkClient.stubbed(servers: 2, time: clock) { _ in
            .delayed(by: .milliseconds(100), on: clock, .failure(.connectionReset))
        }
        let call = Task { await client.failure(of: APIConfiguration(path: "list", method: .post)) }
        #expect(await transport.waitForRequests(1))
        var servers = client.service.servers
        servers[0].baseURLs[.test] = try ServerURL("http://moved.test/v1")

        try client.replaceServers(servers)
        clock.advance(by: .milliseconds(100))

        #expect(await call.value != nil)
        #expect(client.servers[0].statistics.requests == 0)
    }
}
