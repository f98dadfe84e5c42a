import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// A request to a URL outside the service does not affect the health of its servers.
@Suite(.timeLimit(.minutes(5)), .prompt) struct ForeignURLTests {
    private static let foreign = "https://elsewhere.example"

    /// How a call gets a foreign URL without having it in its path.
    enum Way: CaseIterable, Sendable {
        case network, prebuilt, rule, modifier

        func configuration() throws -> APIConfiguration {
            let url = try RequestURL(validating: "\(ForeignURLTests.foreign)/list")
            var configuration = APIConfiguration(path: "list")
            switch self {
            case .network:
                configuration.usesCDN = true
                configuration.cdnURL = try RequestURL(validating: ForeignURLTests.foreign)
            case .prebuilt: configuration.prebuiltRequest = HTTPRequest(url: url)
            case .rule: configuration.urlRule = { _, _ in url }
            case .modifier: configuration.modifier = { $0.url = url }
            }
            return configuration
        }
    }

    @Test(arguments: Way.allCases)
    func `a call to a URL outside the service is sent once and does not affect the health of a server`(way: Way)
        async throws
    {
        let (client, transport) = try NetworkClient.stubbed { _ in .status(500) }

        let response = try await client.send(way.configuration())

        #expect(response.status == 500)
        #expect(response.context.server == nil)
        #expect(transport.requests.map(\.url.text) == ["\(Self.foreign)/list"])
        #expect(client.servers.allSatisfy { $0.statistics.requests == 0 })
    }

    @Test(arguments: Way.allCases)
    func `a response from a URL outside the service does not make an ejected server healthy`(way: Way) async throws {
        let clock = ManualClock()
        let (client, transport) = try NetworkClient.stubbed(time: clock) { request in
            request.server == "primary" ? .status(500) : .status(200)
        }
        for _ in 0..<40 { _ = try await client.send(APIConfiguration(path: "list")) }
        #expect(client.servers[0].state == .ejected)
        let count = transport.requestCount

        for _ in 0..<20 {
            clock.advance(by: .seconds(5))
            _ = try await client.send(way.configuration())
        }

        #expect(client.servers[0].state == .ejected)
        #expect(transport.requests.dropFirst(count).count { $0.server == "elsewhere" } == 20)
    }

    @Test(arguments: ["primary", "secondary"])
    func `an absolute URL of a server gets credentials and common headers and does not affect the server's health`(
        server: String
    ) async throws {
        let transport = StubTransport { _ in .status(200) }
        var options = NetworkClient.Options(seed: 1)
        options.credentials = Credentials(.bearer("mine"))
        options.generator.common.headers = ["X-App": "demo"]
        let client = try NetworkClient(service: .topics(), transport: transport, options: options, time: ManualClock())
        let call = APIConfiguration(path: "http://\(server).test/v1/list")

        _ = try await client.send(call)

        let sent = try #require(transport.requests.first)
        #expect(sent.headers["Authorization"] == "Bearer mine")
        #expect(sent.headers["X-App"] == "demo")
        #expect(try client.request(for: call).headers["X-App"] == "demo")
        #expect(client.servers.allSatisfy { $0.statistics.requests == 0 })
    }

    @Test func `a prebuiltRequest affects the health of the server in its URL and does not fail over`() async throws {
        let (client, transport) = try NetworkClient.stubbed { _ in .status(500) }
        var configuration = APIConfiguration()
        configuration.prebuiltRequest = try client.request(for: APIConfiguration(path: "list"))
        try client.switchServer(to: "secondary")

        let response = try await client.send(configuration)

        #expect(response.context.server == "primary")
        #expect(transport.requests.map(\.url.text) == ["http://primary.test/v1/list"])
        #expect(client.servers.map(\.statistics.requests) == [1, 0, 0])
    }

    @Test
    func `a request to a URL that a rule derives from a server's URL affects that server's health and fails over`()
        async throws
    {
        let (client, transport) = try NetworkClient.stubbed { _ in .status(500) }
        var configuration = APIConfiguration(path: "list")
        configuration.urlRule = { base, _ in RequestURL("\(base.origin)/gateway") }

        _ = try await client.send(configuration)

        #expect(transport.requests.map(\.server) == ["primary", "secondary", "tertiary"])
        #expect(client.servers.map(\.statistics.requests) == [1, 1, 1])
    }
}
