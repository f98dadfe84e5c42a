import Foundation
import Switchyard
import SwitchyardServices
import SwitchyardTesting
import Testing

/// Runs the samples of the articles on interceptors, credentials and trust.
@Suite(.timeLimit(.minutes(5))) struct FlowArticleTests {
    @Test func `the samples on interceptors and retries do what the article says`() async throws {
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

    @Test func `the samples on credentials renew a token, and a log-out empties the cache`() async throws {  // M12
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
        configuration.cacheLifetime = .seconds(60)

        for _ in 0..<2 { _ = try await api.value(Topic.self, for: configuration) }
        #expect(transport.requestCount == 2)

        let listener = Task { await FlowSamples.logOut(credentials, client) }
        // The listener may come later than the first log-out.
        while client.responseCache.count > 0 {
            credentials.logOut(in: .release)
            await Task.yield()
        }
        listener.cancel()
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
