import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// Environments with different servers.
@Suite(.timeLimit(.minutes(5)), .prompt) struct EnvironmentServersTests {
    /// Three servers in `test`, two in `release`, and one in `develop`.
    private static func servers() throws -> [Server] {
        try [
            Server(name: "primary", baseURLs: [.test: ServerURL("http://primary.test")]),
            Server(
                name: "secondary",
                baseURLs: [.test: ServerURL("http://secondary.test"), .release: ServerURL("https://secondary.release")]
            ),
            Server(
                name: "tertiary",
                baseURLs: [
                    .test: ServerURL("http://tertiary.test"), .release: ServerURL("https://tertiary.release"),
                    .develop: ServerURL("https://tertiary.develop"),
                ]
            ),
        ]
    }

    private static func client(
        in environment: ServiceEnvironment = .test,
        _ servers: [Server]? = nil,
        _ response: @escaping @Sendable (HTTPRequest) -> StubResponse
    ) throws -> (client: NetworkClient, transport: StubTransport) {
        let transport = StubTransport(response)
        let service = try Service(name: "topics", servers: servers ?? Self.servers(), defaultEnvironment: environment)
        let client = try NetworkClient(
            service: service,
            transport: transport,
            options: NetworkClient.Options(seed: 1),
            time: ManualClock()
        )
        return (client, transport)
    }

    @Test(
        arguments: [
            (.test, ["primary", "secondary", "tertiary"]), (.release, ["secondary", "tertiary"]),
            (.develop, ["tertiary"]),
        ] as [(ServiceEnvironment, [String])]
    )
    func `a client knows only the servers of its environment`(
        environment: ServiceEnvironment,
        names: [String]
    ) async throws {
        let (client, transport) = try Self.client { _ in .status(200) }

        try client.switchEnvironment(to: environment)
        _ = try await client.send(APIConfiguration(path: "list"))

        #expect(client.servers.map(\.id) == names)
        #expect(client.currentServer == names[0])
        #expect(transport.requests.map { "\($0.url.text)".contains("//\(names[0]).\(environment)/") } == [true])
    }

    @Test func `a failed read fails over only to servers of its environment`() async throws {
        let (client, transport) = try Self.client(in: .release) { _ in .failure(.connectionRefused) }

        #expect(await client.failure(of: APIConfiguration(path: "list")) != nil)

        #expect(Set(transport.requests.map(\.server)) == ["secondary", "tertiary"])
        #expect(transport.requests.allSatisfy { $0.url.text.contains(".release/") })
    }

    @Test func `a server of another environment can be neither preferred nor named`() async throws {
        let (client, transport) = try Self.client(in: .develop) { _ in .status(200) }
        var named = APIConfiguration(path: "list")
        named.server = .named("primary")

        #expect(throws: ClientError.switching(.unknownServer("primary", known: ["tertiary"]))) {
            try client.switchServer(to: "primary")
        }
        #expect(await client.failure(of: named) == .unknownServer("primary"))
        #expect(transport.requests.isEmpty)
    }

    @Test func `replacing the server list changes the servers of every environment`() async throws {
        let (client, _) = try Self.client { _ in .status(200) }

        try client.replaceServers(Array(Self.servers().dropFirst()))

        #expect(client.servers.map(\.id) == ["secondary", "tertiary"])
        try client.switchEnvironment(to: .develop)
        #expect(client.servers.map(\.id) == ["tertiary"])
    }

    @Test func `a server list without a server for the current environment is refused and changes nothing`()
        async throws
    {
        let (client, _) = try Self.client(in: .develop) { _ in .status(200) }
        let list = try [
            Server(name: "primary", baseURLs: [.test: ServerURL("http://primary.test")]),
            Server(name: "other", baseURLs: [.develop: ServerURL("https://other.develop")]),
        ]
        try client.switchEnvironment(to: .release)

        #expect(throws: ClientError.missingEnvironment(.release, service: "topics", known: [.develop, .test])) {
            try client.replaceServers(list)
        }

        #expect(client.servers.map(\.id) == ["secondary", "tertiary"])
        #expect(client.service.servers.map(\.name) == ["primary", "secondary", "tertiary"])
    }

    @Test func `a call is not sent to an environment that is added and switched to after the call was made`()
        async throws
    {
        let only = try Server(name: "primary", baseURLs: [.test: ServerURL("http://primary.test")])
        var both = only
        both.baseURLs[.release] = try ServerURL("https://primary.release")
        let (client, transport) = try Self.client([only]) { _ in .status(200) }
        try client.replaceServers([both])
        var configuration = APIConfiguration(path: "list")
        configuration.callOwner = client.callOwner(of: configuration)

        try client.switchEnvironment(to: .release)

        let result = await withCheckedContinuation { continuation in
            client.dispatch(configuration) { continuation.resume(returning: $0) }
        }
        #expect(throws: RequestFailure.self) { try result.get() }
        #expect(transport.requests.isEmpty)
    }

    @Test func `stored health of a server that the environment does not have is ignored`() async throws {
        let (client, _) = try Self.client { _ in .status(200) }
        try client.switchServer(to: "secondary")
        let memory = client.serverMemory()
        var servers = try Self.servers()
        servers[1].baseURLs[.test] = nil
        let (relaunched, _) = try Self.client(servers) { _ in .status(200) }

        #expect(relaunched.restoreHealth(memory))

        #expect(relaunched.servers.map(\.id) == ["primary", "tertiary"])
        #expect(relaunched.currentServer == "primary")
    }
}
