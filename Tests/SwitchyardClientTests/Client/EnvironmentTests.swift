import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@Suite(.timeLimit(.minutes(5)), .prompt) struct EnvironmentTests {
    @Test func `requests that are sent after an environment switch go to the new environment`() async throws {
        let (client, transport) = try NetworkClient.stubbed { _ in .status(200) }

        _ = try await client.send(APIConfiguration(path: "list"))
        try client.switchEnvironment(to: .release)
        _ = try await client.send(APIConfiguration(path: "list"))

        #expect(
            transport.requests.map(\.url.text) == ["http://primary.test/v1/list", "https://primary.release/v1/list"]
        )
        #expect(client.environment == .release)
    }

    @Test func `active requests keep the environment they were built for, even on failover`() async throws {
        let time = ManualClock()
        let (client, transport) = try NetworkClient.stubbed(time: time) { request in
            request.server == "primary" ? .delayed(by: .milliseconds(10), on: time, .status(500)) : .status(200)
        }
        let response = Task { try await client.send(APIConfiguration(path: "list")) }
        #expect(await transport.waitForRequests(1))
        #expect(await time.waitForTimers(1, in: .milliseconds(10)))

        try client.switchEnvironment(to: .release)
        time.advance(by: .milliseconds(10))

        #expect(try await response.value.context.environment == .test)
        #expect(transport.requests.map(\.url.text).last == "http://secondary.test/v1/list")
    }

    @Test func `an environment switch can cancel the active requests`() async throws {
        let (client, transport) = try NetworkClient.stubbed { _ in .never }
        let failure = Task { await client.failure(of: APIConfiguration(path: "list")) }
        #expect(await transport.waitForRequests(1))

        try client.switchEnvironment(to: .release, cancelsActiveRequests: true)

        #expect(await failure.value == .cancelled)
    }

    @Test func `switching to an environment without servers is an error and changes nothing`() throws {
        let (client, _) = try NetworkClient.stubbed { _ in .status(200) }

        let error = ClientError.missingEnvironment("staging", service: "topics", known: [.release, .test])
        #expect(throws: error) { try client.switchEnvironment(to: "staging") }
        #expect("\(error)" == "the service topics has no server in the environment staging, only in release, test")
        #expect(client.environment == .test)
    }

    @Test func `after an environment switch, calls start at the first server, and all servers count as healthy`()
        async throws
    {
        let (client, _) = try NetworkClient.stubbed { request in
            request.server == "primary" ? .status(500) : .status(200)
        }
        for _ in 0..<40 { _ = try await client.send(APIConfiguration(path: "list")) }
        #expect(client.currentServer == "secondary")

        try client.switchEnvironment(to: .release)

        #expect(client.currentServer == "primary")
        #expect(client.servers.allSatisfy { $0.statistics.requests == 0 })
    }

    @Test func `a new client starts with the first server even if another client has switched servers`()
        async throws
    {
        let (client, _) = try NetworkClient.stubbed { _ in .status(200) }
        try client.switchServer(to: "tertiary")

        let (relaunched, transport) = try NetworkClient.stubbed { _ in .status(200) }
        _ = try await relaunched.send(APIConfiguration(path: "list"))

        #expect(relaunched.currentServer == "primary")
        #expect(transport.requests.map(\.server) == ["primary"])
    }

    @Test func `each service has its own servers, environments and common headers`() async throws {
        let transport = StubTransport { _ in .status(200) }
        let clients = try ["topics", "users"].map { name in
            let server = try Server(
                name: "\(name)-1",
                baseURLs: [.test: ServerURL("http://\(name).test"), .release: ServerURL("https://\(name).release")]
            )
            let other = Server(name: "\(name)-2", baseURLs: server.baseURLs)
            let servers = [server, other]
            let service = try Service(name: name, servers: servers, defaultEnvironment: .test, switching: .off)
            return try NetworkClient(service: service, transport: transport, time: ManualClock()) { options in
                options.rules.add("/**") { $0.headers.set("X-Service", name) }
            }
        }

        try clients[0].switchEnvironment(to: .release)
        clients[0].switchToNextServer()
        for client in clients { _ = try await client.send(APIConfiguration(path: "list")) }

        #expect(clients.map(\.environment) == [.release, .test])
        #expect(clients.map(\.currentServer) == ["topics-2", "users-1"])
        #expect(transport.requests.map(\.url.text) == ["https://topics.release/list", "http://users.test/list"])
        #expect(transport.requests.map { $0.headers["X-Service"] } == ["topics", "users"])
    }

    @Test func `a server can be chosen by name before the first request`() async throws {
        let (client, transport) = try NetworkClient.stubbed { _ in .status(200) }

        try client.switchServer(to: "tertiary")
        _ = try await client.send(APIConfiguration(path: "list"))

        #expect(client.currentServer == "tertiary")
        #expect(transport.requests.map(\.server) == ["tertiary"])
    }

    @Test func `switching to an unknown server throws and changes nothing`() throws {
        let (client, _) = try NetworkClient.stubbed { _ in .status(200) }

        #expect(throws: ClientError.self) { try client.switchServer(to: "nobody") }
        #expect(client.currentServer == "primary")
    }

    @Test func `a push command with a used version or an unknown server is refused and changes nothing`() throws {
        let (client, _) = try NetworkClient.stubbed { _ in .status(200) }
        let known = ["primary", "secondary", "tertiary"]

        try client.apply(PushCommand(version: 7, mode: .prefer, server: "tertiary"))

        #expect(client.currentServer == "tertiary")
        #expect(throws: ClientError.switching(.staleCommand(version: 7, last: 7))) {
            try client.apply(PushCommand(version: 7, mode: .prefer, server: "primary"))
        }
        #expect(throws: ClientError.switching(.unknownServer("nobody", known: known))) {
            try client.apply(PushCommand(version: 8, mode: .prefer, server: "nobody"))
        }
        #expect(client.currentServer == "tertiary")
    }

    @Test func `switchToNextServer moves to the following server and wraps around after the last`() throws {
        let (client, _) = try NetworkClient.stubbed { _ in .status(200) }

        var visited: [String] = []
        for _ in 0..<4 {
            client.switchToNextServer()
            visited.append(client.currentServer)
        }

        #expect(visited == ["secondary", "tertiary", "primary", "secondary"])
    }

    @Test func `a switch of the current server is reported as an event with its cause`() async throws {
        let (client, _) = try NetworkClient.stubbed { _ in .status(200) }
        let events = client.events()

        try client.switchServer(to: "secondary")

        let event = await events.first { _ in true }
        #expect(event?.event.kind == .switched(from: "primary", to: "secondary", cause: .requested))
        #expect(event?.environment == .test)
    }

    @Test func `a stream of events ends when its client is released`() async throws {
        var (client, _): (NetworkClient?, StubTransport) = try NetworkClient.stubbed { _ in .status(200) }
        let events = try #require(client?.events())

        client = nil

        for await _ in events { Issue.record("an event was reported without a cause") }
    }

    @Test func `replacing the servers keeps the health of servers that remain in the list`() async throws {
        let (client, _) = try NetworkClient.stubbed { request in
            request.server == "primary" ? .status(500) : .status(200)
        }
        for _ in 0..<40 { _ = try await client.send(APIConfiguration(path: "list")) }
        let servers = client.service.servers

        try client.replaceServers([servers[2], servers[0]])

        #expect(client.servers.map(\.id) == ["tertiary", "primary"])
        #expect(client.servers[1].state == .ejected)
        #expect(client.currentServer == "tertiary")
    }

    @Test func `if servers and environment are changed at the same time, neither change is lost`() async throws {
        let (client, _) = try NetworkClient.stubbed { _ in .status(200) }
        let lists = [Array(client.service.servers.prefix(1)), client.service.servers]
        var lost: [Int] = []

        for round in 0..<500 {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { try? client.replaceServers(lists[round % 2]) }
                group.addTask { try? client.switchEnvironment(to: round % 4 < 2 ? .release : .test) }
                group.addTask { try? client.reset() }
            }
            if client.servers.count != lists[round % 2].count { lost.append(round) }
        }

        #expect(lost == [])
    }

    @Test func `replacing the servers with an empty list throws`() throws {
        let (client, _) = try NetworkClient.stubbed { _ in .status(200) }

        #expect(throws: ClientError.self) { try client.replaceServers([]) }
        #expect(client.servers.count == 3)
    }
}
