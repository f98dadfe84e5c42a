import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardTesting
import Testing

/// The cookies that a call or the common header fields set in a client that stores cookies.
@Suite(.timeLimit(.minutes(5))) struct OwnCookieTests {
    /// A client that has stored cookies for two origins, and whose server redirects the paths in the table.
    private func client(
        _ table: [String: String] = [:],
        common: HTTPHeaders = [:]
    ) throws -> (NetworkClient, StubTransport) {
        let jar = CookieJar()
        jar.store(Cookie(name: "session", value: "1", domain: "primary.test"))
        jar.store(Cookie(name: "theme", value: "light", domain: "primary.test"))
        jar.store(Cookie(name: "session", value: "2", domain: "other.test"))
        return try NetworkClient.stubbed { options in
            options.generator.cookies = jar
            options.generator.headers = common
        } answer: { request in
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

    // MARK: - Common cookies

    private static let common: HTTPHeaders = ["Cookie": "theme=dark; consent=yes"]

    @Test func `common cookies are sent with the stored cookies, which replace those of the same name`() async throws {
        let (client, transport) = try client(common: Self.common)

        _ = try await client.send(APIConfiguration(path: "a"))

        #expect(transport.requests.map { $0.headers["Cookie"] } == ["session=1; theme=light; consent=yes"])
    }

    @Test func `a call's own cookies replace the common cookies`() async throws {
        let (client, transport) = try client(common: Self.common)

        _ = try await client.send(Self.configuration)

        #expect(transport.requests.map { $0.headers["Cookie"] } == ["session=1; theme=dark"])
    }

    @Test func `common cookies are sent after a redirect to the same origin, and not to another origin`() async throws {
        let table = ["/v1/a": "/v1/b", "/v1/b": "http://other.test/c", "/c": "http://third.test/d"]
        let (client, transport) = try client(table, common: Self.common)

        _ = try await client.send(APIConfiguration(path: "a"))

        let sent = "session=1; theme=light; consent=yes"
        #expect(transport.requests.map { $0.headers["Cookie"] } == [sent, sent, "session=2", nil])
    }

    @Test func `common cookies are not sent to a foreign URL, nor after its redirect to the same origin`()
        async throws
    {
        let (client, transport) = try client(["/a": "/b"], common: Self.common)

        _ = try await client.send(APIConfiguration(path: "http://other.test/a"))

        #expect(transport.requests.map { $0.headers["Cookie"] } == ["session=2", "session=2"])
    }

    @Test func `a foreign server that stores a cookie with the name of a common cookie does not get the common cookie`()
        async throws
    {
        let (client, transport) = try NetworkClient.stubbed { options in
            options.generator.cookies = CookieJar()
            options.generator.headers = Self.common
        } answer: { request in
            guard request.url.path == "/a" else { return .json("{}") }
            return .status(302, headers: ["Location": "/b", "Set-Cookie": "consent=no; Path=/a"])
        }

        _ = try await client.send(APIConfiguration(path: "http://other.test/a"))

        #expect(transport.requests.map { $0.headers["Cookie"] } == [nil, nil])
    }

    @Test func `a common cookie is sent after a redirect to a path without the stored cookie that replaced it`()
        async throws
    {
        let (client, transport) = try NetworkClient.stubbed { options in
            options.generator.cookies = CookieJar()
            options.generator.headers = Self.common
        } answer: { request in
            guard request.url.path == "/v1/a" else { return .json("{}") }
            return .status(302, headers: ["Location": "/v1/b", "Set-Cookie": "theme=light; Path=/v1/a"])
        }

        _ = try await client.send(APIConfiguration(path: "a"))

        let sent = "theme=dark; consent=yes"
        #expect(transport.requests.map { $0.headers["Cookie"] } == [sent, sent])
    }
}
