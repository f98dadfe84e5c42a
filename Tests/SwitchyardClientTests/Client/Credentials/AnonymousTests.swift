import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// Calls that may be sent without a credential.
@Suite(.timeLimit(.minutes(5)), .prompt) struct AnonymousTests {
    private struct Refusal: Error {}

    /// A server with one public path and one private path.
    ///
    /// It rejects every token with a 401.
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

    @Test
    func `after a 401, a call is repeated without a credential, and later calls are sent without one immediately`()
        async throws
    {
        let credentials = Credentials { _ in throw CredentialError.loginRequired }
        credentials.set(.bearer("dead"), in: .test)
        let (client, transport) = try Self.client(credentials)

        for _ in 0..<2 { #expect(try await client.send(Self.open()).status == 200) }

        #expect(Self.fields(transport) == ["Bearer dead", nil, nil])
    }

    @Test func `a call is sent without a credential if the expired credential cannot be refreshed`() async throws {
        let credentials = Credentials { _ in throw CredentialError.loginRequired }
        credentials.set(.bearer("dead", expiresAt: .distantPast), in: .test)
        let (client, transport) = try Self.client(credentials)

        for _ in 0..<2 { #expect(try await client.send(Self.open()).status == 200) }

        #expect(Self.fields(transport) == [nil, nil])
    }

    @Test(arguments: [true, false])
    func `a call is sent without a credential if its provider throws or returns nil`(throwsError: Bool) async throws {
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

    @Test func `a call is sent without a credential even after too many refreshes`() async throws {
        let credentials = Credentials { _ in throw Refusal() }
        credentials.set(.bearer("dead"), in: .test)
        let (client, transport) = try Self.client(credentials)

        for _ in 0..<10 { #expect(try await client.send(Self.open()).status == 200) }

        #expect(Self.fields(transport).count { $0 == nil } == 10)
    }

    @Test func `a call's allowsAnonymous overrides the policy of the client`() async throws {
        let credentials = Credentials(policy: Credentials.Policy(allowsAnonymous: true)) { _ in nil }
        let (client, transport) = try Self.client(credentials)

        #expect(try await client.send(Self.open(nil)).status == 200)
        #expect(await client.failure(of: Self.open(false)) == .credentials(.missing))

        #expect(transport.requestCount == 1)
    }

    @Test func `a call that is rejected even without a credential fails with loginRequired`() async throws {
        let credentials = Credentials { _ in throw CredentialError.loginRequired }
        credentials.set(.bearer("dead"), in: .test)
        let (client, transport) = try Self.client(credentials)
        var configuration = APIConfiguration(path: "private")
        configuration.allowsAnonymous = true

        #expect(await client.failure(of: configuration) == .credentials(.loginRequired))

        #expect(Self.fields(transport) == ["Bearer dead", nil])
    }

    @Test func `the app receives the 401 of the anonymous attempt if the provider has no credential`() async throws {
        let credentials = Credentials { _ in nil }
        credentials.set(.bearer("dead"), in: .test)
        let (client, transport) = try Self.client(credentials)
        var configuration = APIConfiguration(path: "private")
        configuration.allowsAnonymous = true

        #expect(try await client.send(configuration).status == 401)

        #expect(Self.fields(transport) == ["Bearer dead", nil])
    }

    @Test func `a call fails and is not sent anonymously if the token server is unreachable`() async throws {
        let outage = TokenRefreshFailure(.status(503))
        let credentials = Credentials { _ in throw outage }
        credentials.set(.bearer("dead"), in: .test)
        let (client, transport) = try Self.client(credentials)

        #expect(await client.failure(of: Self.open()) == .credentials(.unavailable(outage)))

        #expect(Self.fields(transport) == ["Bearer dead"])
    }

    @Test func `a call fails and is not sent anonymously if the stored credential cannot be read`() async throws {
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

    @Test func `a call is sent with the new credential after a login`() async throws {
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

    @Test func `a call that allows anonymous access shares no transfer with a call that does not`() async throws {
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
    func `the error for a missing credential names the options for anonymous calls`(error: CredentialError)
        async throws
    {
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
