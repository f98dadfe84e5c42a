import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// Calls that may go without a credential.
@Suite(.timeLimit(.minutes(5)), .prompt) struct AnonymousTests {
    private struct Refusal: Error {}

    /// A server of which one place is open to all callers, and which knows no token: a token is refused everywhere.
    private static func client(
        _ credentials: Credentials
    ) throws -> (client: NetworkClient, transport: StubTransport) {
        try NetworkClient.stubbed(options: { $0.credentials = credentials }) { request in
            let hasToken = request.headers["Authorization"] != nil
            return .status(hasToken || request.url.path.hasSuffix("private") ? 401 : 200)
        }
    }

    private static func open(_ allowsAnonymous: Bool? = true) -> APIConfiguration {
        var configuration = APIConfiguration(path: "open")
        configuration.allowsAnonymous = allowsAnonymous
        return configuration
    }

    private static func fields(_ transport: StubTransport) -> [String?] {
        transport.requests.map { $0.headers["Authorization"] }
    }

    @Test func `a call that got a 401 is sent again without when the login is over, later ones at once`() async throws {
        let credentials = Credentials { _ in throw CredentialError.loginRequired }
        credentials.set(.bearer("dead"), in: .test)
        let (client, transport) = try Self.client(credentials)

        for _ in 0..<2 { #expect(try await client.send(Self.open()).status == 200) }

        #expect(Self.fields(transport) == ["Bearer dead", nil, nil])
    }

    @Test func `a call whose credential has ended goes without when it cannot be refreshed`() async throws {
        let credentials = Credentials { _ in throw CredentialError.loginRequired }
        credentials.set(.bearer("dead", expiresAt: .distantPast), in: .test)
        let (client, transport) = try Self.client(credentials)

        for _ in 0..<2 { #expect(try await client.send(Self.open()).status == 200) }

        #expect(Self.fields(transport) == [nil, nil])
    }

    @Test(arguments: [true, false])
    func `a provider that knows no other word for a refusal leaves nothing either`(throwsError: Bool) async throws {
        let refreshes = Locked(0)
        let credentials = Credentials { _ in
            refreshes.withLock { $0 += 1 }
            if throwsError { throw Refusal() }
            return nil
        }
        credentials.set(.bearer("dead"), in: .test)
        let (client, transport) = try Self.client(credentials)

        #expect(try await client.send(Self.open()).status == 200)

        #expect(Self.fields(transport) == ["Bearer dead", nil])
        #expect(refreshes.withLock { $0 } == 1)
    }

    @Test func `a call goes without also when credentials were refreshed too often`() async throws {
        let credentials = Credentials { _ in throw Refusal() }
        credentials.set(.bearer("dead"), in: .test)
        let (client, transport) = try Self.client(credentials)

        for _ in 0..<10 { #expect(try await client.send(Self.open()).status == 200) }

        #expect(Self.fields(transport).count { $0 == nil } == 10)
    }

    @Test func `the policy says it for all calls, and a call may say otherwise`() async throws {
        let credentials = Credentials(policy: Credentials.Policy(allowsAnonymous: true)) { _ in nil }
        let (client, transport) = try Self.client(credentials)

        #expect(try await client.send(Self.open(nil)).status == 200)
        #expect(await client.failure(of: Self.open(false)) == .credentials(.missing))

        #expect(transport.requestCount == 1)
    }

    @Test func `a call that is refused without a credential too needs a login`() async throws {
        let credentials = Credentials { _ in throw CredentialError.loginRequired }
        credentials.set(.bearer("dead"), in: .test)
        let (client, transport) = try Self.client(credentials)
        var configuration = APIConfiguration(path: "private")
        configuration.allowsAnonymous = true

        #expect(await client.failure(of: configuration) == .credentials(.loginRequired))

        #expect(Self.fields(transport) == ["Bearer dead", nil])
    }

    @Test func `a 401 is the caller's where a provider has nothing, be it without a credential`() async throws {
        let credentials = Credentials { _ in nil }
        credentials.set(.bearer("dead"), in: .test)
        let (client, transport) = try Self.client(credentials)
        var configuration = APIConfiguration(path: "private")
        configuration.allowsAnonymous = true

        #expect(try await client.send(configuration).status == 401)

        #expect(Self.fields(transport) == ["Bearer dead", nil])
    }

    @Test func `no one becomes a stranger because the server that refreshes is out of reach`() async throws {
        let outage = TokenRefreshFailure(.status(503))
        let credentials = Credentials { _ in throw outage }
        credentials.set(.bearer("dead"), in: .test)
        let (client, transport) = try Self.client(credentials)

        #expect(await client.failure(of: Self.open()) == .credentials(.unavailable(outage)))

        #expect(Self.fields(transport) == ["Bearer dead"])
    }

    @Test func `no one becomes a stranger because what was kept cannot be read`() async throws {
        struct LockedKeychain: CredentialProvider {
            func storedCredential(in environment: ServiceEnvironment) async throws -> Credential? { throw Refusal() }
        }
        let (client, transport) = try Self.client(Credentials(provider: LockedKeychain()))

        let failure = RequestFailure.Reason.credentials(
            .refreshFailed(InterceptorError(name: "refresh", underlying: Refusal()))
        )
        #expect(await client.failure(of: Self.open()) == failure)

        #expect(transport.requests.isEmpty)
    }

    @Test func `a call goes with the credential again once there is a good one`() async throws {
        let credentials = Credentials { _ in throw CredentialError.loginRequired }
        credentials.set(.bearer("dead"), in: .test)
        let (client, transport) = try NetworkClient.stubbed(options: { $0.credentials = credentials }) { request in
            .status(request.headers["Authorization"] == "Bearer dead" ? 401 : 200)
        }
        _ = try await client.send(Self.open())

        credentials.set(.bearer("new"), in: .test)
        _ = try await client.send(Self.open())

        #expect(Self.fields(transport) == ["Bearer dead", nil, "Bearer new"])
    }

    @Test func `two calls share no transfer where one of them may go without and the other not`() async throws {
        let credentials = Credentials { _ in nil }
        let (client, transport) = try Self.client(credentials)
        var (open, closed) = (Self.open(true), Self.open(false))
        open.sharing = .identical
        closed.sharing = .identical

        async let answer = client.send(open)
        async let failure = client.failure(of: closed)

        #expect(try await answer.status == 200)
        #expect(await failure == .credentials(.missing))
        #expect(transport.requestCount == 1)
    }

    @Test(arguments: [CredentialError.missing, .loginRequired])
    func `what is not sent without a credential says what may be done`(error: CredentialError) async throws {
        let credentials = Credentials { _ in throw error }
        let (client, _) = try Self.client(credentials)

        let failure = try #require(
            await #expect(throws: RequestFailure.self) { try await client.send(APIConfiguration(path: "me")) }
        )

        let text = failure.description
        #expect(text.hasPrefix("GET me (topics/test, 0 attempts): "))
        #expect(text.contains("log in") && text.contains("allowsAnonymous") && text.contains("usesCredentials"))
    }
}
