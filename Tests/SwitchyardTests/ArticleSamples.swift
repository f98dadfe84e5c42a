import Dispatch
import Foundation
import Switchyard
import SwitchyardTesting
import Testing

private final class ForumAPI: APIManager {
    let client: NetworkClient

    init(client: NetworkClient) {
        self.client = client.scoped()
    }
}

/// The samples of the articles on groups, dispatch, diagnostics and testing.
@Suite(.timeLimit(.minutes(1))) struct ArticleSamples {
    fileprivate struct Topic: Decodable, Sendable, Hashable {
        var title: String
    }

    fileprivate struct User: Decodable, Sendable, Hashable {
        var name: String
    }

    fileprivate struct Token: Decodable, Sendable, Hashable {
        var user: Int
    }

    private func client(_ options: NetworkClient.Options = NetworkClient.Options()) throws -> NetworkClient {
        let server = Server(name: "one", baseURLs: ["release": try ServerURL("http://one.example/v1")])
        let service = try Service(name: "forum", servers: [server], defaultEnvironment: "release")
        let transport = StubTransport([
            "/v1/topics": .json(#"[{"title":"one"}]"#), "/v1/users/7": .json(#"{"name":"seven"}"#),
            "/v1/login": .json(#"{"user":7}"#),
        ])
        return try NetworkClient(service: service, transport: transport, options: options)
    }

    @Test func `the samples of the article on groups`() async throws {
        let api = ForumAPI(client: try client())
        let queue = DispatchQueue.global()

        let users = RequestBatch(
            [7, 7].map { api.request(User.self, for: APIConfiguration(path: "users/\($0)"), on: queue) },
            options: GroupOptions(policy: .failFast, limit: 4, queue: queue)
        )
        #expect(try await users.values() == [User(name: "seven"), User(name: "seven")])

        let (me, topics) = try await RequestGroup.values(
            of: api.request(User.self, for: APIConfiguration(path: "users/7"), on: queue),
            api.request([Topic].self, for: APIConfiguration(path: "topics"), on: queue),
            options: GroupOptions(policy: .failFast, queue: queue)
        )
        #expect(me.name == "seven" && topics.count == 1)

        let chain = RequestChain(options: GroupOptions(policy: .failFast, queue: queue))
        chain.add(api.request(Token.self, for: APIConfiguration(path: "login"), on: queue)) { token, chain in
            chain.add(api.request(User.self, for: APIConfiguration(path: "users/\(token.user)"), on: queue))
        }
        #expect(await chain.finished().members == [.succeeded, .succeeded])
    }

    @Test func `the samples of the article on dispatch`() async throws {
        var options = NetworkClient.Options()
        options.limits = [
            ConcurrencyLimit(total: 32, perServer: 8),
            RateLimit(.bucket(perSecond: 20, burst: 40)),
        ]
        let client = try client(options)
        var search = APIConfiguration(path: "topics")
        search.limits = [Debounce(.milliseconds(1)), LatestWins()]
        search.sharing = .identical
        #expect(try await client.send(search).status == 200)

        let file = FileManager.default.temporaryDirectory.appendingPathComponent("samples-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        let outbox = try Outbox(file: file, client: client)
        try outbox.store(APIConfiguration(path: "topics", method: .post, body: .json(["title": "two"])))
        try await outbox.flush()
        #expect(outbox.entries.isEmpty)

        client.cancel(tag: "images")
        client.cancel { $0.configuration.path.hasPrefix("topics") }
        await client.waitUntilIdle()
        await client.shutdown(finishingWithin: .seconds(5))
    }

    @Test func `the samples of the article on diagnostics`() async throws {
        let recorder = HARRecorder()
        let meter = TrafficMeter()
        var options = NetworkClient.Options()
        options.interceptors = [
            .logging(to: ClosureSink { _ in }, .verbose), recorder.interceptor, meter.interceptor, .activity { _ in },
        ]
        let client = try client(options)

        _ = try await client.send(APIConfiguration(path: "topics"))
        while meter.snapshot.apis["GET topics"] == nil { await Task.yield() }

        #expect(recorder.archive.entries.count == 1)
        #expect(meter.snapshot.apis["GET topics"]?.latency.quantile(0.99) != nil)
    }

    @Test func `the samples of the article on testing`() async throws {
        let expected = ExpectedRequests([
            RequestExpectation(.get, "/v1/topics", query: ["page": "1"], answer: .json("[]")),
            RequestExpectation(.post, "/v1/topics", count: 0...1, answer: .status(201)),
        ])
        let server = Server(name: "one", baseURLs: ["release": try ServerURL("http://one.example/v1")])
        let recording = RecordingTransport(StubTransport(expecting: expected))
        let client = try NetworkClient(
            service: try Service(name: "forum", servers: [server], defaultEnvironment: "release", switching: .off),
            transport: recording
        )

        _ = try await client.send(APIConfiguration(path: "topics", query: ["page": 1]))

        #expect(expected.problems == [])
        let replay = StubTransport(replaying: try HARArchive(data: recording.archive.data()))
        let request = HTTPRequest(url: try RequestURL(validating: "http://one.example/v1/topics?page=1"))
        #expect(try await replay.send(request).status == 200)
    }
}
