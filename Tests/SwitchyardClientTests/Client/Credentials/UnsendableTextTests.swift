import Foundation
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardOAuth
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardClient

/// Strings from a server that no header field can hold when they are sent back.
///
/// The client ignores them.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct UnsendableTextTests {
    private static let controls = ["\u{1}", "\u{8}", "\u{7f}"]

    private static func stubbed(
        _ credentials: Credentials,
        _ answer: @escaping @Sendable (HTTPRequest) -> StubResponse = { _ in .status(200) }
    ) throws -> (client: NetworkClient, transport: StubTransport) {
        try NetworkClient.stubbed(options: { $0.credentials = credentials }, answer: answer)
    }

    private static var digest: Credentials { Credentials(.digest(user: "u", password: "p")) }

    // MARK: - Digest

    @Test(arguments: controls, ["nonce", "realm"])
    func `a Digest challenge with control characters is ignored, and its 401 is returned`(
        control: String,
        name: String
    ) async throws {
        let other = name == "nonce" ? "realm" : "nonce"
        let challenge = "Digest \(name)=\"a\(control)b\", \(other)=\"x\", qop=\"auth\", algorithm=SHA-256"
        let (client, transport) = try Self.stubbed(Self.digest) { _ in
            .status(401, headers: ["WWW-Authenticate": challenge])
        }

        for _ in 0..<2 { #expect(try await client.send(APIConfiguration(path: "x")).status == 401) }

        #expect(transport.requests.map { $0.headers["Authorization"] } == [nil, nil])
    }

    @Test func `a Digest challenge without a nonce is ignored, and its 401 is returned`() async throws {
        let (client, _) = try Self.stubbed(Self.digest) { _ in
            .status(401, headers: ["WWW-Authenticate": "Digest realm=\"r\""])
        }

        #expect(try await client.send(APIConfiguration(path: "x")).status == 401)
    }

    @Test(arguments: controls) func `a Digest opaque value with control characters is omitted`(control: String)
        async throws
    {
        let (client, transport) = try Self.stubbed(Self.digest) { request in
            let challenge = "Digest realm=\"r\", nonce=\"n\", opaque=\"a\(control)\", qop=\"auth\""
            let isAnswered = request.headers["Authorization"] != nil
            return isAnswered ? .status(200) : .status(401, headers: ["WWW-Authenticate": challenge])
        }

        for _ in 0..<2 { #expect(try await client.send(APIConfiguration(path: "x")).status == 200) }

        #expect(transport.requests.allSatisfy { $0.headers["Authorization"]?.contains("opaque") != true })
    }

    @Test(arguments: controls) func `a Digest nonce is kept if the nextnonce has control characters`(control: String)
        async throws
    {
        let (client, transport) = try Self.stubbed(Self.digest) { request in
            guard request.headers["Authorization"] != nil else {
                return .status(401, headers: ["WWW-Authenticate": "Digest realm=\"r\", nonce=\"n\", qop=\"auth\""])
            }
            return .status(200, headers: ["Authentication-Info": "nextnonce=\"m\(control)\""])
        }

        for _ in 0..<3 { #expect(try await client.send(APIConfiguration(path: "x")).status == 200) }

        let sent = transport.requests.compactMap { $0.headers["Authorization"] }
        #expect(sent.count == 3)
        #expect(sent.allSatisfy { $0.contains("nonce=\"n\"") })
    }

    @Test func `a Digest nonce with a control character does not block later requests`() async throws {
        let server = LoopbackServer()
        server.route(nil, "/x") { request in
            guard request.number > 1 else {
                return .status(401, headers: ["WWW-Authenticate": "Digest realm=\"r\", nonce=\"a\u{1}\", qop=\"auth\""])
            }
            return .status(200)
        }
        try server.start()
        defer { server.stop() }
        var options = NetworkClient.Options(seed: 1)
        options.credentials = Self.digest
        let client = try NetworkClient(service: .loopback([server]), options: options)
        defer { client.shutdown() }

        #expect(try await client.send(APIConfiguration(path: "x")).status == 401)
        #expect(try await client.send(APIConfiguration(path: "x")).status == 200)
    }

    // MARK: - Tokens

    @Test(arguments: [#"\u0001"#, #"\b"#, #"\u007f"#, #"\r\nX: y"#, #"\u0000"#])
    func `an OAuth response is malformed if no header field can hold its access token`(escaped: String) async throws {
        let answers = AnswerList([
            .json(#"{"access_token": "a\#(escaped)", "token_type": "Bearer", "refresh_token": "r"}"#),
            .json(#"{"access_token": "b", "refresh_token": "r\#(escaped)"}"#),
        ])
        let (client, _) = try NetworkClient.stubbed(options: { _ in }) { answers.answer($0) }
        let oauth = OAuthClient(OAuthSettings(clientID: "app", tokenEndpoint: "token"), client: client)

        let error = await #expect(throws: OAuthError.self) { try await oauth.clientCredential() }

        guard case .malformedResponse(let text)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(text.contains("token"))
        // A refresh token is sent in a form, which can hold any character.
        #expect(try await oauth.clientCredential().scheme == .bearer(token: "b"))
    }

    @Test(arguments: controls) func `a refresh fails if no header field can hold the new token`(control: String)
        async throws
    {
        let tokens = Locked(["good", "bad\(control)"])
        let credentials = Credentials { _ in tokens.withLock { $0.popLast() }.map { .bearer($0) } }
        let (client, transport) = try Self.stubbed(credentials)

        let reason = await client.failure(of: APIConfiguration(path: "x"))
        let answer = try await client.send(APIConfiguration(path: "x"))

        #expect(reason == .credentials(.unavailable(TokenRefreshFailure(.unreadable))))
        #expect(answer.status == 200)
        #expect(transport.requests.map { $0.headers["Authorization"] } == ["Bearer good"])
    }

    @Test(arguments: controls) func `a stored token that no header field can hold is refreshed`(control: String)
        async throws
    {
        let credentials = Credentials { _ in .bearer("new") }
        credentials.set(.bearer("old\(control)", expiresAt: .distantFuture), in: .test)
        let (client, transport) = try Self.stubbed(credentials)

        _ = try await client.send(APIConfiguration(path: "x"))

        #expect(transport.requests.map { $0.headers["Authorization"] } == ["Bearer new"])
    }

    @Test func `the error names a credential of the app that no header field can hold`() async throws {
        let (client, transport) = try Self.stubbed(Credentials(.header("X-API-Key", "k\n1")))

        let reason = await client.failure(of: APIConfiguration(path: "x"))

        #expect(reason == .invalidRequest(.header(name: "X-API-Key", reason: .controlCharacterInValue)))
        #expect(transport.requestCount == 0)
    }

    @Test func `a user name with a colon is rejected before a request is sent`() async throws {
        let (client, transport) = try Self.stubbed(Credentials(.basic(user: "a:b", password: "p")))

        let reason = await client.failure(of: APIConfiguration(path: "x"))

        #expect(reason == .invalidRequest(.header(name: "Authorization", reason: .colonInUserName)))
        #expect(transport.requestCount == 0)
    }

    // MARK: - Cookies

    @Test func `a cookie that no header field can hold is omitted`() async throws {
        let jar = CookieJar()
        jar.store(Cookie(name: "a", value: "1\u{1}", domain: "primary.test"))
        jar.store(Cookie(name: "b", value: "2", domain: "primary.test"))
        let (client, transport) = try NetworkClient.stubbed(options: { $0.generator.cookies = jar }) { _ in .status(200)
        }

        _ = try await client.send(APIConfiguration(path: "x"))

        #expect(transport.requests.map { $0.headers["Cookie"] } == ["b=2"])
    }
}
