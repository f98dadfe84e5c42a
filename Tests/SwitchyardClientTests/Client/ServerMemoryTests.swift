import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// The server health that a client remembers for its next run.
@Suite(.timeLimit(.minutes(5)), .prompt) struct ServerMemoryTests {
    private let began = Date(timeIntervalSince1970: 1_700_000_000)

    /// A client with three servers, of which the first one refuses every connection.
    private func client(_ switching: SwitchPolicy = .recommended) throws -> (NetworkClient, StubTransport) {
        try NetworkClient.stubbed(switching: switching) { request in
            request.server == "primary" ? .failure(.connectionRefused) : .status(200)
        }
    }

    /// The memory of the previous run, encoded and decoded as an app would store it.
    private func stored(_ client: NetworkClient) throws -> ServerMemory {
        let bytes = try JSONEncoder().encode(client.serverMemory(at: began))
        return try JSONDecoder().decode(ServerMemory.self, from: bytes)
    }

    /// The memory of a run in which the first server was ejected.
    private func memory() async throws -> ServerMemory {
        let (client, _) = try client()
        for _ in 0..<10 { _ = try await client.send(APIConfiguration(path: "list")) }
        #expect(client.currentServer == "secondary")
        return try stored(client)
    }

    @Test func `a server that was ejected from rotation is still ejected in the next run, so no call tries it`()
        async throws
    {
        let memory = try await memory()
        let (client, _) = try client()

        #expect(client.restoreHealth(memory, at: began + 599))

        #expect(client.servers.map(\.state) == [.ejected, .healthy, .healthy])
        let answer = try await client.send(APIConfiguration(path: "list"))
        #expect(answer.context.server == "secondary" && answer.context.attempts == 1)
    }

    @Test func `stored health of servers is ignored if it is older than ten minutes or dated in the future`()
        async throws
    {
        let memory = try await memory()

        for age in [601.0, -1] {
            let (client, _) = try client()
            #expect(client.restoreHealth(memory, at: began + age))
            #expect(client.servers.allSatisfy { $0.state == .healthy } && client.currentServer == "primary")
        }
    }

    @Test(arguments: [
        ("http://moved.test/v1", ServerSnapshot.State.healthy), ("http://primary.test:8080/v1", .healthy),
        ("http://primary.test/v2", .ejected),
    ])
    func `a server that was ejected is ejected in the next run only at the same host`(
        url: String,
        expected: ServerSnapshot.State
    ) async throws {
        let memory = try await memory()
        let service = try Service.topics(servers: 2)
        var servers = service.servers
        servers[0].baseURLs[.test] = try ServerURL(url)
        let moved = try Service(name: service.name, servers: servers, defaultEnvironment: .test)
        let transport = StubTransport { _ in .status(200) }
        let client = try NetworkClient(service: moved, transport: transport)

        #expect(client.restoreHealth(memory, at: began + 10))
        _ = try await client.send(APIConfiguration(path: "list", method: .post))

        #expect(client.servers[0].state == expected)
        let write = transport.requests.first { $0.method == .post }
        #expect(write?.url.text.hasPrefix(url) == (expected == .healthy))
    }

    @Test func `if the policy has no failback, a client starts with the server that the previous run preferred`() throws
    {
        let (first, _) = try client(.stickyErrorRatio)
        try first.switchServer(to: "tertiary")
        let (second, _) = try client(.stickyErrorRatio)

        second.restoreHealth(try stored(first), at: began + 86_400)

        #expect(second.currentServer == "tertiary")
    }

    @Test func `stored health of servers for another service or environment is ignored`() async throws {
        let memory = try await memory()
        var ofService = memory, ofEnvironment = memory
        ofService.service = "users"
        ofEnvironment.environment = "develop"
        let (client, _) = try client()

        #expect(!client.restoreHealth(ofService, at: began) && !client.restoreHealth(ofEnvironment, at: began))
        #expect(client.servers.allSatisfy { $0.state == .healthy })
    }
}
