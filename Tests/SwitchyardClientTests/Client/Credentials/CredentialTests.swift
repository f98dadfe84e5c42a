import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@Suite(.timeLimit(.minutes(5)), .prompt)
struct CredentialTests {
    private static func fields(
        _ credential: Credential,
        _ configuration: APIConfiguration = APIConfiguration(path: "x")
    ) async throws -> HTTPHeaders {
        let (client, transport) = try NetworkClient.stubbed(options: {
            $0.credentials = Credentials(credential)
        }) { _ in .status(200) }
        _ = try await client.send(configuration)
        return try #require(transport.requests.last).headers
    }

    @Test func `bearer, basic and header credentials are sent with a request`() async throws {
        #expect(try await Self.fields(.bearer("t"))["Authorization"] == "Bearer t")
        #expect(try await Self.fields(.basic(user: "u", password: "ü"))["Authorization"] == "Basic dTrDvA==")
        #expect(try await Self.fields(.header("X-API-Key", "k"))["X-API-Key"] == "k")
    }

    @Test func `a call may have its own credential or be sent without a credential`() async throws {
        var own = APIConfiguration(path: "x")
        own.credential = .basic(user: "u", password: "p")
        var none = APIConfiguration(path: "x")
        none.usesCredentials = false

        #expect(try await Self.fields(.bearer("t"), own)["Authorization"] == "Basic dTpw")
        #expect(try await Self.fields(.bearer("t"), none)["Authorization"] == nil)
    }

    @Test func `a request to another origin gets no credentials`() async throws {
        #expect(
            try await Self.fields(.bearer("t"), APIConfiguration(path: "http://other.test/"))["Authorization"] == nil
        )
    }

    @Test func `a header credential is removed when a redirect leads to another origin`() async throws {
        let (client, transport) = try NetworkClient.stubbed(options: {
            $0.credentials = Credentials(.header("X-Custom-Secret", "k"))
        }) { request in
            request.server == "other" ? .status(200) : .status(302, headers: ["Location": "http://other.test/"])
        }

        _ = try await client.send(APIConfiguration(path: "x"))

        #expect(transport.requests.map { $0.headers["X-Custom-Secret"] } == ["k", nil])
    }

    @Test func `a request that needs a credential is not sent if there is no credential`() async throws {
        let (client, transport) = try NetworkClient.stubbed(options: {
            $0.credentials = Credentials(provider: KeptCredential(nil))
        }) { _ in .status(200) }

        #expect(await client.failure(of: APIConfiguration(path: "x")) == .credentials(.missing))
        #expect(transport.requestCount == 0)
    }

    @Test func `a credential that the provider has stored is loaded once and used for all requests`() async throws {
        let provider = KeptCredential(.bearer("kept"))
        let (client, transport) = try NetworkClient.stubbed(options: {
            $0.credentials = Credentials(provider: provider)
        }) { _ in .status(200) }

        await withTaskGroup { group in
            for _ in 0..<20 { group.addTask { _ = await client.result(of: APIConfiguration(path: "x")) } }
        }

        #expect(provider.loads.withLock { $0 } == 1)
        #expect(transport.requests.allSatisfy { $0.headers["Authorization"] == "Bearer kept" })
    }

    @Test func `a credential can be set at any time and gets a new version number`() async throws {
        let credentials = Credentials(provider: KeptCredential(nil))
        let (client, transport) = try NetworkClient.stubbed(options: { $0.credentials = credentials }) { _ in
            .status(200)
        }

        credentials.set(.bearer("one"), in: .test)
        _ = try await client.send(APIConfiguration(path: "x"))
        credentials.set(.bearer("two"), in: .test)
        _ = try await client.send(APIConfiguration(path: "x"))

        #expect(transport.requests.map { $0.headers["Authorization"] } == ["Bearer one", "Bearer two"])
        #expect(credentials.version(in: .test) == 2)
    }

    @Test func `each environment has its own credential`() async throws {
        let credentials = Credentials(provider: KeptCredential(nil))
        credentials.set(.bearer("t"), in: .test)
        credentials.set(.bearer("r"), in: .release)
        let (client, transport) = try NetworkClient.stubbed(options: { $0.credentials = credentials }) { _ in
            .status(200)
        }

        _ = try await client.send(APIConfiguration(path: "x"))
        try client.switchEnvironment(to: .release)
        _ = try await client.send(APIConfiguration(path: "x"))

        #expect(transport.requests.map { $0.headers["Authorization"] } == ["Bearer t", "Bearer r"])
    }

    @Test func `a logout is reported as an event, so that stored user data can be deleted`() async throws {
        let provider = KeptCredential(nil)
        let credentials = Credentials(provider: provider)
        var events = credentials.events().makeAsyncIterator()
        credentials.set(.bearer("t"), in: .test)
        let (client, _) = try NetworkClient.stubbed(options: { $0.credentials = credentials }) { _ in .status(200) }

        credentials.logOut(in: .test)

        #expect(await events.next()?.kind == .set)
        #expect(await events.next()?.kind == .loggedOut)
        #expect(await client.failure(of: APIConfiguration(path: "x")) == .credentials(.missing))
    }

    @Test func `descriptions of credentials contain no secrets`() {
        let credentials: [Credential] = [
            .bearer("secret"), .basic(user: "u", password: "secret"), .digest(user: "u", password: "secret"),
            .header("X", "secret"),
        ]

        #expect(credentials.allSatisfy { !"\($0) \(String(reflecting: $0))".contains("secret") })
    }

    @Test func `a credential is refreshed shortly before it expires`() async throws {
        let now = Date(timeIntervalSince1970: 1000)
        let gate = TokenGate()
        let credentials = Credentials(clock: { now }) { _ in gate.refresh() }
        credentials.set(.bearer("old", expiresAt: now.addingTimeInterval(20)), in: .test)
        let (client, _) = try NetworkClient.stubbed(options: { $0.credentials = credentials }) { gate.answer($0) }

        let answer = try await client.send(APIConfiguration(path: "x"))

        #expect(answer.context.rounds == 1)
        #expect(gate.shown == ["a1"])
    }

    @Test func `a token that expires within the leeway is used anyway`() async throws {
        let now = Date(timeIntervalSince1970: 1000)
        let credentials = Credentials(clock: { now }) { _ in .bearer("short", expiresAt: now.addingTimeInterval(5)) }
        let (client, transport) = try NetworkClient.stubbed(options: { $0.credentials = credentials }) { _ in
            .status(200)
        }

        _ = try await client.send(APIConfiguration(path: "x"))

        #expect(transport.requests.map { $0.headers["Authorization"] } == ["Bearer short"])
    }

    @Test func `a token that expires within the leeway is refreshed when it expires, not for every request`()
        async throws
    {
        let now = Locked(Date(timeIntervalSince1970: 1000))
        let refreshes = Locked(0)
        let credentials = Credentials(clock: { now.withLock { $0 } }) { _ in
            let number = refreshes.withLock { refreshes in
                refreshes += 1
                return refreshes
            }
            return .bearer("t\(number)", expiresAt: now.withLock { $0 }.addingTimeInterval(5))
        }
        let (client, transport) = try NetworkClient.stubbed(options: { $0.credentials = credentials }) { _ in
            .status(200)
        }

        for _ in 0..<7 { _ = try await client.send(APIConfiguration(path: "x")) }
        now.withLock { $0 += 5 }
        _ = try await client.send(APIConfiguration(path: "x"))

        let shown = transport.requests.map { $0.headers["Authorization"] }
        #expect(shown == Array(repeating: "Bearer t1", count: 7) + ["Bearer t2"])
    }

    @Test func `credentials are stored in the order in which they were set`() async throws {
        let provider = StoringProvider()
        let credentials = Credentials(provider: provider)

        for number in 0..<50 { credentials.set(.bearer("\(number)"), in: .test) }
        credentials.logOut(in: .test)

        var kept: [Credential?] = []
        for await credential in provider.stored {
            kept.append(credential)
            if kept.count == 51 { break }
        }
        #expect(kept == (0..<50).map { .bearer("\($0)") } + [nil])
    }

    @Test func `a call that is upgraded to https still gets the credential for the origin of the base URL`()
        async throws
    {
        var configuration = APIConfiguration(path: "x")
        configuration.upgradesToHTTPS = true

        #expect(try await Self.fields(.bearer("t"), configuration)["Authorization"] == "Bearer t")
    }

    @Test func `a CDN that the call names gets no credentials`() async throws {
        var configuration = APIConfiguration(path: "x")
        configuration.usesCDN = true
        configuration.cdnURL = try RequestURL(validating: "https://cdn.elsewhere.test")

        #expect(try await Self.fields(.bearer("t"), configuration)["Authorization"] == nil)
    }

    @Test func `a CDN that the server names gets no credentials, not even after a redirect`() async throws {
        let base: [ServiceEnvironment: ServerURL] = [.test: try ServerURL("https://api.test")]
        let cdn: [ServiceEnvironment: ServerURL] = [.test: try ServerURL("https://cdn.test")]
        let server = Server(name: "primary", baseURLs: base, cdnURLs: cdn)
        let service = try Service(name: "films", servers: [server], defaultEnvironment: "test", switching: .off)
        let transport = StubTransport { request in
            request.url.path == "/b" ? .status(200) : .status(302, headers: ["Location": "/b"])
        }
        let client = try NetworkClient(service: service, transport: transport) {
            $0.credentials = Credentials(.bearer("t"))
        }
        var configuration = APIConfiguration(path: "a")
        configuration.usesCDN = true

        _ = try await client.send(configuration)

        #expect(transport.requests.map(\.url.text) == ["https://cdn.test/a", "https://cdn.test/b"])
        #expect(transport.requests.map { $0.headers["Authorization"] } == [nil, nil])
    }

    @Test(arguments: [false, true])
    func `the call's own credential is sent even if the client's credentials are disabled`(_ isOfClient: Bool)
        async throws
    {
        let (client, transport) = try NetworkClient.stubbed(options: {
            $0.credentials = Credentials(.bearer("t"))
        }) { _ in .status(200) }
        var configuration = APIConfiguration(path: "login", method: .post)
        configuration.credential = .basic(user: "u", password: "p")
        configuration.usesCredentials = isOfClient

        _ = try await (isOfClient ? client.withoutCredentials() : client).send(configuration)

        #expect(transport.requests.last?.headers["Authorization"] == "Basic dTpw")
    }

    // MARK: - A provider without a credential

    private static let now = Date(timeIntervalSince1970: 1_000_000)

    @Test func `a credential that is about to expire is used if the provider has no other credential`() async throws {
        let asked = Locked(0)
        let credentials = Credentials(clock: { Self.now }) { _ in
            asked.withLock { $0 += 1 }
            return nil
        }
        let (client, transport) = try NetworkClient.stubbed(options: { $0.credentials = credentials }) { _ in
            .status(200)
        }
        credentials.set(.bearer("t", expiresAt: Self.now.addingTimeInterval(20)), in: .test)

        for _ in 0..<10 { _ = try await client.send(APIConfiguration(path: "x")) }

        #expect(transport.requests.allSatisfy { $0.headers["Authorization"] == "Bearer t" })
        #expect(asked.withLock { $0 } == 1)
    }

    @Test func `a credential that is about to expire is used if its refresh fails`()
        async throws
    {
        let credentials = Credentials(clock: { Self.now }) { _ in throw SampleError() }
        let (client, transport) = try NetworkClient.stubbed(options: { $0.credentials = credentials }) { _ in
            .status(200)
        }
        credentials.set(.bearer("t", expiresAt: Self.now.addingTimeInterval(20)), in: .test)

        let ends = await withTaskGroup(of: Int?.self) { group in
            for _ in 0..<10 {
                group.addTask { try? await client.result(of: APIConfiguration(path: "x")).get().status }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        for _ in 0..<10 { _ = try await client.send(APIConfiguration(path: "x")) }

        #expect(ends == Array(repeating: 200, count: 10))
        #expect(transport.requests.allSatisfy { $0.headers["Authorization"] == "Bearer t" })
    }

    @Test func `a credential that is about to expire is not sent if the provider requires a login`() async throws {
        let credentials = Credentials(clock: { Self.now }) { _ in throw CredentialError.loginRequired }
        let (client, _) = try NetworkClient.stubbed(options: { $0.credentials = credentials }) { _ in .status(200) }
        credentials.set(.bearer("t", expiresAt: Self.now.addingTimeInterval(20)), in: .test)

        #expect(await client.failure(of: APIConfiguration(path: "x")) == .credentials(.loginRequired))
    }

    @Test func `an expired credential is not sent if the provider has no other credential`() async throws {
        let credentials = Credentials(clock: { Self.now }) { _ in nil }
        let (client, transport) = try NetworkClient.stubbed(options: { $0.credentials = credentials }) { _ in
            .status(200)
        }
        credentials.set(.bearer("t", expiresAt: Self.now.addingTimeInterval(-1)), in: .test)

        #expect(await client.failure(of: APIConfiguration(path: "x")) == .credentials(.missing))
        #expect(transport.requests.isEmpty)
    }

    @Test func `a request is sent without a credential if none exists and the policy allows it`() async throws {
        var policy = Credentials.Policy()
        policy.allowsAnonymous = true
        let credentials = Credentials(policy: policy) { _ in nil }
        let (client, transport) = try NetworkClient.stubbed(options: { $0.credentials = credentials }) { _ in
            .status(200)
        }

        for _ in 0..<10 { _ = try await client.send(APIConfiguration(path: "x")) }

        #expect(transport.requests.allSatisfy { $0.headers["Authorization"] == nil })
    }
}

/// Yields every credential that it is asked to store.
private final class StoringProvider: CredentialProvider {
    let stored: AsyncStream<Credential?>
    private let continuation: AsyncStream<Credential?>.Continuation

    init() {
        (stored, continuation) = AsyncStream.makeStream()
    }

    func store(_ credential: Credential?, in environment: ServiceEnvironment) async {
        continuation.yield(credential)
    }
}
