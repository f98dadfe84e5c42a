import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@Suite(.timeLimit(.minutes(5)), .prompt)
struct InsecureHTTPTests {
    @Test(arguments: [
        "127.0.0.1", "127.9.9.9", "10.0.0.1", "192.168.1.20", "172.16.0.1", "172.31.255.255", "169.254.1.1", "[::1]",
        "[fe80::1]", "[fd00::1]", "[::ffff:127.0.0.1]", "localhost", "printer", "Printer.local", "api.test",
        "db.localhost", "a.example", "x.invalid",
    ])
    func `the insecureHTTP rule for local hosts permits http to this machine and to local hosts`(host: String) throws {
        #expect(InsecureHTTPRule.local.permits(try #require(RequestURL("http://\(host)/")).origin))
    }

    @Test(arguments: [
        "example.com", "api.example.com", "8.8.8.8", "172.32.0.1", "172.15.0.1", "192.169.0.1", "11.0.0.1",
        "[2001:db8::1]", "[::ffff:8.8.8.8]", "localhost.example.com", "127.0.0.1.example.com", "test.com", "local.net",
    ])
    func `the insecureHTTP rule for local hosts does not permit http to public hosts with similar names`(host: String)
        throws
    {
        #expect(!InsecureHTTPRule.local.permits(try #require(RequestURL("http://\(host)/")).origin))
    }

    // Resolvers parse such names as IP addresses, possibly of a public server.
    @Test(arguments: ["134744072", "0x08080808", "010.8.8.8", "127.1", "10.0.0.0x1"])
    func `a URL is invalid if its host is an IP address in a form that only resolvers accept`(host: String) {
        #expect(RequestURL("http://\(host)/") == nil)
    }

    @Test func `a rule for plain http may permit no hosts, all hosts or named hosts`() throws {
        let (near, far) = (
            try #require(RequestURL("http://127.0.0.1/")).origin,
            try #require(RequestURL("http://old.example.com/")).origin
        )

        #expect(!InsecureHTTPRule.refused.permits(near))
        #expect(InsecureHTTPRule.allowed.permits(far))
        #expect(InsecureHTTPRule.hosts(["Old.example.com"]).permits(far))
        #expect(InsecureHTTPRule.hosts(["Old.example.com"]).permits(near))
        let other = try #require(RequestURL("http://bücher.example.com/")).origin
        #expect(InsecureHTTPRule.hosts(["BÜCHER.example.com"]).permits(other))
        #expect(InsecureHTTPRule.refused.permits(try #require(RequestURL("https://old.example.com/")).origin))
    }

    @Test func `a service with a public http server fails to create a client`() throws {
        let service = try Service(
            name: "far",
            servers: [try Server(name: "one", baseURLs: [.test: ServerURL("http://api.example.com/v1")])],
            defaultEnvironment: .test
        )
        let error = RequestError.url(text: "http://api.example.com/v1", reason: .insecure)

        #expect(throws: ClientError.unusableURL(server: "one", error)) {
            _ = try NetworkClient(service: service, transport: StubTransport { _ in .never })
        }
        var options = NetworkClient.Options()
        options.insecureHTTP = .hosts(["api.example.com"])
        _ = try NetworkClient(service: service, transport: StubTransport { _ in .never }, options: options)
    }

    @Test(arguments: ["http://api.example.com/x", "http://primary.test.example.com/x"])
    func `by default, a call to a public http URL fails`(url: String) async throws {
        let (client, transport) = try NetworkClient.stubbed(options: { _ in }) { _ in .status(200) }

        let reason = await client.failure(of: APIConfiguration(path: url))

        #expect(reason == .invalidRequest(.url(text: url, reason: .insecure)))
        #expect(transport.requestCount == 0)
    }

    @Test func `the rule for plain http also applies to the base URL of a call and to a prebuiltRequest`() async throws
    {
        let (client, transport) = try NetworkClient.stubbed(options: { _ in }) { _ in .status(200) }
        let url = try #require(RequestURL("http://api.example.com/"))
        var own = APIConfiguration(path: "x")
        own.server = .baseURL(url)
        var made = APIConfiguration()
        made.prebuiltRequest = HTTPRequest(url: url)

        for configuration in [own, made] {
            guard case .invalidRequest(.url(_, .insecure)) = await client.failure(of: configuration) else {
                Issue.record("the request was not rejected")
                continue
            }
        }
        #expect(transport.requestCount == 0)
    }

    @Test func `by default, a redirect to a public http URL fails`() async throws {
        let (client, transport) = try NetworkClient.stubbed(options: { _ in }) { _ in
            .status(302, headers: ["Location": "http://api.example.com/x"])
        }

        let reason = await client.failure(of: APIConfiguration(path: "x"))

        let error = RequestError.url(text: "http://api.example.com/x", reason: .insecure)
        #expect(reason == .redirect(.invalidRequest(error)))
        #expect(transport.requestCount == 1)
    }

    @Test func `a custom redirect policy cannot allow a redirect to a public http URL`() async throws {
        let far = try #require(RequestURL("http://api.example.com/x"))
        let (client, transport) = try NetworkClient.stubbed(options: {
            $0.redirects = .deciding { proposal in
                var request = proposal.request
                request.url = far
                return .send(request)
            }
        }) { _ in .status(302, headers: ["Location": "/near"]) }

        let reason = await client.failure(of: APIConfiguration(path: "x"))

        #expect(reason == .redirect(.invalidRequest(.url(text: far.text, reason: .insecure))))
        #expect(transport.requestCount == 1)
    }
}
