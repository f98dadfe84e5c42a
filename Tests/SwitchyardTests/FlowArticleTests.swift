import Foundation
import Switchyard
import SwitchyardDiagnostics
import SwitchyardFixtures
import SwitchyardServices
import SwitchyardTesting
import Testing

/// Runs the samples of the articles on interceptors, credentials and trust.
@Suite(.timeLimit(.minutes(5)), .prompt) struct FlowArticleTests {
    @Test func `the samples in the Interceptors article run as the article describes`() async throws {
        var options = NetworkClient.Options()
        var configuration = APIConfiguration(path: "x")
        let count = Locked(0)
        FlowSamples.interceptors(&options, counting: count)
        FlowSamples.retries(&options, &configuration)
        FlowSamples.insecure(&options)
        let transport = StubTransport { _ in .status(503) }
        let client = try NetworkClient(service: Self.service(), transport: transport, options: options)

        let answer = try await client.send(configuration)

        #expect(answer.status == 503)
        #expect(transport.requests.map { $0.headers["Accept-Language"] } == ["de"])
    }

    @Test func `the samples on credentials refresh a token and clear the cache at a logout`() async throws {
        var options = NetworkClient.Options()
        let credentials = FlowSamples.credentials(&options, expiry: .distantPast)
        let transport = StubTransport { request in
            if request.url.path.hasSuffix("token") { return .status(200, headers: ["X-Token": "fresh"]) }
            let isKnown = request.headers["Authorization"] == "Bearer fresh"
            return isKnown ? .json(#"{"id": 1, "title": "one"}"#) : .status(401)
        }
        let client = try NetworkClient(
            service: Self.service(),
            environment: .release,
            transport: transport,
            options: options
        )
        let api = SampleAPI(client: client)
        var configuration = APIConfiguration(path: "topics/1")
        configuration.cache.lifetime = .seconds(60)

        for _ in 0..<2 { _ = try await api.value(Topic.self, for: configuration) }
        #expect(transport.requestCount == 2)

        let listener = Task { await FlowSamples.logOut(credentials, client) }
        // The listener may start after the first logout.
        await until {
            credentials.logOut(in: .release)
            return client.responseCache.count == 0
        }
        listener.cancel()
    }

    @Test func `the samples on a login log in, refresh with the refresh token, and require another login`() async throws
    {
        var options = NetworkClient.Options()
        let credentials = FlowSamples.refreshing(&options)
        let transport = Self.loginTransport()
        let client = try NetworkClient(service: Self.service(), transport: transport, options: options)
        let api = SampleAPI(client: client)

        try await FlowSamples.logIn(credentials, client, name: "ada", password: "secret")
        try await api.send(APIConfiguration(path: "me"))
        #expect(transport.requests.map(\.url.path) == ["/login", "/me", "/token", "/me"])

        credentials.set(.bearer("a3", refreshToken: "spent"), in: .test)
        let error = await #expect(throws: APIError.self) { try await api.send(APIConfiguration(path: "me")) }
        #expect(error?.reason == .security(.loginRequired))
    }

    @Test func `the samples on public calls allow the calls before a login`() async throws {
        let (list, credentials) = FlowSamples.openToAll { _ in nil }
        var options = NetworkClient.Options()
        options.credentials = credentials
        let transport = StubTransport { _ in .json("{}") }
        let client = try NetworkClient(service: Self.service(), transport: transport, options: options)

        #expect(try await client.send(list).status == 200)
        #expect(try await client.send(APIConfiguration(path: "me")).status == 200)

        #expect(transport.requests.allSatisfy { $0.headers["Authorization"] == nil })
    }

    @Test func `the samples on a login leave no token in a recording`() async throws {
        var options = NetworkClient.Options()
        let credentials = FlowSamples.refreshing(&options)
        let recording = RecordingTransport(Self.loginTransport())
        let client = try NetworkClient(service: Self.service(), transport: recording, options: options)

        try await FlowSamples.logIn(credentials, client, name: "ada", password: "secret")
        try await SampleAPI(client: client).send(APIConfiguration(path: "me"))

        let entries = recording.archive.entries
        #expect(entries.count == 4)
        let bodies = entries.flatMap { [$0.request.body, $0.response.body] }.compactMap(\.self)
        let record = bodies.map { String(decoding: $0, as: UTF8.self) }.joined()
        #expect(["a1", "r1", "a2", "r2", "secret"].filter { record.contains($0) } == [])
    }

    /// A server that knows one user, whose first token is refreshed.
    private static func loginTransport() -> StubTransport {
        StubTransport { request in
            let token = request.headers["Authorization"]
            guard case .data(let body) = request.body else {
                return token == "Bearer a2" ? .json("{}") : .status(401)
            }
            switch String(decoding: body, as: UTF8.self) {
            case #"{"name":"ada","password":"secret"}"# where token == nil:
                return .json(#"{"accessToken": "a1", "refreshToken": "r1", "seconds": 3600}"#)
            case #"{"refreshToken":"r1"}"# where token == nil:
                return .json(#"{"accessToken": "a2", "refreshToken": "r2", "seconds": 3600}"#)
            default: return .status(401)
            }
        }
    }

    private static func service() throws -> Service {
        try Service(
            name: "sample",
            servers: [
                Server(
                    name: "primary",
                    baseURLs: [
                        .test: try ServerURL("http://primary.test"), .release: try ServerURL("https://primary.test"),
                    ]
                )
            ],
            defaultEnvironment: .test
        )
    }
}

private final class SampleAPI: APIManager {
    let client: NetworkClient

    init(client: NetworkClient) {
        self.client = client
    }
}
