import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// Plain http URLs in responses of servers with https base URLs.
@Suite(.timeLimit(.minutes(5)), .prompt) struct PlainLinkTests {
    private func client(
        _ rule: InsecureHTTPRule = .allowed,
        base: [String] = ["https://primary.test/v1", "https://secondary.test:8443/v1"]
    ) throws -> (NetworkClient, StubTransport) {
        let transport = StubTransport { _ in .status(200) }
        let servers = try zip(["primary", "secondary"], base).map { name, url in
            try Server(name: name, baseURLs: [.test: ServerURL(url)])
        }
        let service = try Service(name: "topics", servers: servers, defaultEnvironment: .test, switching: .off)
        let client = try NetworkClient(service: service, transport: transport, time: ManualClock()) { options in
            options.insecureHTTP = rule
            options.generator.common.headers["X-App"] = "demo"
            options.credentials = Credentials { _ in .bearer("secret") }
        }
        return (client, transport)
    }

    private static let rules: [InsecureHTTPRule] = [.allowed, .local, .refused]

    @Test(
        arguments: [
            ("http://primary.test/v1/items?page=2", "https://primary.test/v1/items?page=2"),
            ("http://primary.test:80/v1/items", "https://primary.test/v1/items"),
            ("http://primary.test:443/v1/items", "https://primary.test/v1/items"),
            ("HTTP://PRIMARY.test/other", "https://PRIMARY.test/other"),
            ("http://secondary.test/v1/items", "https://secondary.test:8443/v1/items"),
            ("http://secondary.test:8443/v1/items", "https://secondary.test:8443/v1/items"),
        ]
    )
    func `a plain http URL of an https server is requested over https`(
        link: String,
        expected: String
    ) async throws {
        for rule in Self.rules {
            let (client, transport) = try client(rule)

            _ = try await client.send(APIConfiguration(path: link))

            let request = try #require(transport.requests.last)
            #expect(request.url.text == expected)
            #expect(request.headers["X-App"] == "demo")
            #expect(request.headers["Authorization"] == "Bearer secret")
        }
    }

    @Test(arguments: ["http://primary.test:8000/v1/items", "http://secondary.test:81/v1/items"])
    func `plain http to another port of an https server fails with a downgrade error`(link: String) async throws {
        for rule in Self.rules {
            let (client, transport) = try client(rule)

            let reason = await client.failure(of: APIConfiguration(path: link))

            guard case .invalidRequest(.url(link, .downgrade(let origin))) = reason else {
                Issue.record("\(String(describing: reason))")
                continue
            }
            #expect(origin.hasPrefix("https://"))
            #expect(transport.requests.isEmpty)
        }
    }

    @Test func `a prebuiltRequest to an https server is sent over https`() async throws {
        let (client, transport) = try client()
        var call = APIConfiguration(path: "")
        call.prebuiltRequest = HTTPRequest(url: try RequestURL(validating: "http://secondary.test/v1/a"))

        _ = try await client.send(call)

        #expect(transport.requests.map(\.url.text) == ["https://secondary.test:8443/v1/a"])
    }

    @Test func `a URL under a call's https base URL is requested over https`() async throws {
        let (client, transport) = try client()
        var call = APIConfiguration(path: "http://other.test/a")
        call.server = .baseURL(try RequestURL(validating: "https://other.test/v1"))

        _ = try await client.send(call)

        #expect(transport.requests.map(\.url.text) == ["https://other.test/a"])
    }

    @Test func `the insecureHTTP rule decides about plain http to an http server or another host`() async throws {
        let (client, transport) = try client(.local, base: ["http://primary.test/v1"])

        _ = try await client.send(APIConfiguration(path: "http://primary.test/v1/a"))
        _ = try await client.send(APIConfiguration(path: "http://other.test:8000/a"))

        #expect(transport.requests.map(\.url.text) == ["http://primary.test/v1/a", "http://other.test:8000/a"])
    }
}
