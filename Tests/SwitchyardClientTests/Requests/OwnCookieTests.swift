import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardTesting
import Testing

/// The cookies that a call sets itself in a client that stores cookies.
@Suite(.timeLimit(.minutes(5))) struct OwnCookieTests {
    /// A client that has stored cookies for two origins, and whose server redirects the paths in the table.
    private func client(_ table: [String: String] = [:]) throws -> (NetworkClient, StubTransport) {
        let jar = CookieJar()
        jar.store(Cookie(name: "session", value: "1", domain: "primary.test"))
        jar.store(Cookie(name: "theme", value: "light", domain: "primary.test"))
        jar.store(Cookie(name: "session", value: "2", domain: "other.test"))
        return try NetworkClient.stubbed(options: { $0.generator.cookies = jar }) { request in
            table[request.url.path].map { .status(302, headers: ["Location": $0]) } ?? .json("{}")
        }
    }

    private static let configuration = APIConfiguration(path: "a", headers: ["Cookie": "theme=dark"])

    @Test func `a call with a cookie of its own also sends the stored cookies with other names`() async throws {
        let (client, transport) = try client()

        _ = try await client.send(Self.configuration)

        #expect(transport.requests.map { $0.headers["Cookie"] } == ["session=1; theme=dark"])
    }

    @Test func `a call that does not use the stored cookies sends only its own cookie`() async throws {
        let (client, transport) = try client()
        var configuration = Self.configuration
        configuration.usesCookies = false

        _ = try await client.send(configuration)

        #expect(transport.requests.map { $0.headers["Cookie"] } == ["theme=dark"])
    }

    @Test func `a call sends its own cookie and the stored cookies after a redirect to the same origin`() async throws {
        let (client, transport) = try client(["/v1/a": "/v1/b"])

        _ = try await client.send(Self.configuration)

        let sent = "session=1; theme=dark"
        #expect(transport.requests.map { $0.headers["Cookie"] } == [sent, sent])
    }

    @Test func `a call's own cookie is not sent after a redirect to another origin, nor on the way back`()
        async throws
    {
        let table = ["/v1/a": "http://other.test/b", "/b": "/c", "/c": "http://primary.test/d"]
        let (client, transport) = try client(table)

        _ = try await client.send(Self.configuration)

        let cookies = transport.requests.dropFirst().map { $0.headers["Cookie"] }
        #expect(cookies == ["session=2", "session=2", "session=1; theme=light"])
    }
}
