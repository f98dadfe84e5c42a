import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// A refresh belongs to the environment of its credential even if the app switches to another environment meanwhile.
@Suite(.timeLimit(.minutes(5)), .prompt) struct RefreshEnvironmentTests {
    private let door = Gate()

    /// A client in the test environment whose credential needs a refresh, which runs `ask`.
    private func client(
        _ ask: @escaping @Sendable (NetworkClient) async throws -> Void
    ) throws -> (client: NetworkClient, transport: StubTransport) {
        let credentials = Credentials { [door] refresh in
            await door.pass()
            try await ask(refresh.client)
            return .bearer("new")
        }
        credentials.set(.bearer("old"), in: .test)
        return try NetworkClient.stubbed(options: { $0.credentials = credentials }) { request in
            request.headers["Authorization"] == "Bearer old" ? .status(401) : .status(200)
        }
    }

    /// The URLs of a refresh that started before the app switched to another environment.
    private func hosts(_ ask: @escaping @Sendable (NetworkClient) async throws -> Void) async throws -> [String] {
        let (client, transport) = try client(ask)
        let call = Task { await client.result(of: APIConfiguration(path: "list")) }
        await door.waitForArrivals(1)
        try client.switchEnvironment(to: .release)
        door.open()

        #expect(try await call.value.get().status == 200)
        return transport.requests.map(\.url.text)
    }

    @Test
    func `after an environment switch, an active credential refresh sends its token request to the old environment`()
        async throws
    {
        let urls = try await hosts { client in
            _ = try await client.send(APIConfiguration(path: "token", method: .post))
        }

        #expect(urls == ["list", "token", "list"].map { "http://primary.test/v1/\($0)" })
    }
}
