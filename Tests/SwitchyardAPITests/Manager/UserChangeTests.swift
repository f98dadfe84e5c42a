import Foundation
import SwitchyardClient
import SwitchyardDiskCache
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardResources
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardAPI

/// Stored responses when managers have no user and the client's credentials change to another user.
@Suite(.timeLimit(.minutes(5)), .prompt) struct UserChangeTests {
    private let folder = TemporaryFolder()
    private let clock = ManualClock()
    private let credentials = Credentials { _ in nil }

    /// An app whose server returns the token of the request.
    private func start(
        with credentials: Credentials? = nil,
        user: String? = nil,
        whileAsked: @escaping @Sendable () -> Void = {}
    ) throws -> TopicAPI {
        let transport = StubTransport { request in
            whileAsked()
            return .json(#"{"id":1,"title":"\#(request.headers["Authorization"] ?? "")"}"#)
        }
        var options = NetworkClient.Options()
        options.credentials = credentials ?? self.credentials
        let client = try NetworkClient.stubbed(transport, options: options, time: clock)
        client.responseCache = ResponseCache(disk: try DiskCache(at: folder.url), time: clock)
        return TopicAPI(client: client, user: user)
    }

    private func title(in topics: TopicAPI) async throws -> String {
        try await topics.topic(1, lifetime: .seconds(60)).title
    }

    private func flush(_ topics: TopicAPI) async throws {
        try await #require(topics.cache.disk as? DiskCache).flush()
    }

    @Test func `after a logout and a login, a stored response of the previous user is not used`() async throws {
        credentials.set(.bearer("ann"), in: .release)
        let topics = try start()
        #expect(try await title(in: topics) == "Bearer ann")

        credentials.logOut(in: .release)
        credentials.set(.bearer("bob"), in: .release)

        #expect(try await title(in: topics) == "Bearer bob")
    }

    @Test func `after a login without a logout, a stored response of the previous user is not used`() async throws {
        credentials.set(.bearer("ann"), in: .release)
        let topics = try start()
        _ = try await title(in: topics)

        credentials.set(.bearer("bob"), in: .release)

        #expect(try await title(in: topics) == "Bearer bob")
    }

    @Test func `after a login, the stored response of an anonymous call is not used`() async throws {
        var policy = Credentials.Policy()
        policy.allowsAnonymous = true
        let credentials = Credentials(policy: policy) { _ in nil }
        let topics = try start(with: credentials)
        #expect(try await title(in: topics) == "")

        credentials.set(.bearer("bob"), in: .release)

        #expect(try await title(in: topics) == "Bearer bob")
    }

    @Test func `a response that was requested for another user is not stored`() async throws {
        credentials.set(.bearer("ann"), in: .release)
        let topics = try start(user: "ann") { [credentials] in credentials.set(.bearer("bob"), in: .release) }

        _ = try await title(in: topics)

        #expect(topics.cache.count == 0)
    }

    @Test func `a logout removes the responses on disk`() async throws {
        credentials.set(.bearer("ann"), in: .release)
        let topics = try start()
        _ = try await title(in: topics)
        try await flush(topics)

        credentials.logOut(in: .release)
        try await flush(topics)
        credentials.set(.bearer("bob"), in: .release)

        #expect(try await title(in: try start()) == "Bearer bob")
    }

    @Test func `a logout leaves the responses of a named user on disk`() async throws {
        credentials.set(.bearer("ann"), in: .release)
        let topics = try start(user: "ann")
        _ = try await title(in: topics)
        try await flush(topics)

        credentials.logOut(in: .release)
        try await flush(topics)
        credentials.set(.bearer("later"), in: .release)

        #expect(try await title(in: try start(user: "ann")) == "Bearer ann")
    }

    @Test func `the user who was logged in before a restart gets the stored responses`() async throws {
        credentials.set(.bearer("ann"), in: .release)
        let first = try start()
        _ = try await title(in: first)
        try await flush(first)

        let later = Credentials { _ in nil }
        later.restore(.bearer("ann"), in: .release)
        let second = try start(with: later)

        #expect(try await second.response(Topic.self, for: TopicAPI.topic(1, lifetime: .seconds(60))).isFromCache)
    }

    @Test(arguments: ["before the client is made", "after it"])
    func `after a restart and a login, a response of the previous user is not used`(moment: String) async throws {
        credentials.set(.bearer("ann"), in: .release)
        let first = try start()
        _ = try await title(in: first)
        try await flush(first)

        let later = Credentials { _ in nil }
        if moment == "before the client is made" { later.set(.bearer("bob"), in: .release) }
        let second = try start(with: later)
        if moment == "after it" { later.set(.bearer("bob"), in: .release) }

        #expect(try await title(in: second) == "Bearer bob")
    }

    @Test func `creating a second client with the same cache does not remove the user's stored responses`() async throws
    {
        let first = try start()
        credentials.set(.bearer("ann"), in: .release)
        _ = try await title(in: first)
        let second = try start()

        second.client.responseCache = first.cache

        #expect(try await second.response(Topic.self, for: TopicAPI.topic(1, lifetime: .seconds(60))).isFromCache)
    }

    @Test func `setting the same credential again does not count as a change of user`() async throws {
        credentials.set(.bearer("ann"), in: .release)
        let topics = try start()
        _ = try await title(in: topics)

        credentials.set(.bearer("ann"), in: .release)

        #expect(try await topics.response(Topic.self, for: TopicAPI.topic(1, lifetime: .seconds(60))).isFromCache)
    }

    @Test func `responses of a named user stay stored until that user returns`() async throws {
        credentials.set(.bearer("ann"), in: .release)
        let topics = try start(user: "ann")
        _ = try await title(in: topics)

        credentials.set(.bearer("bob"), in: .release)
        topics.user.withLock { $0 = "bob" }
        #expect(try await title(in: topics) == "Bearer bob")

        topics.user.withLock { $0 = "ann" }
        #expect(try await title(in: topics) == "Bearer ann")
    }

    @Test func `a change of user in one environment does not remove stored responses of another environment`()
        async throws
    {
        credentials.set(.bearer("ann"), in: .release)
        let topics = try start()
        _ = try await title(in: topics)

        credentials.logOut(in: "test")

        #expect(try await topics.response(Topic.self, for: TopicAPI.topic(1, lifetime: .seconds(60))).isFromCache)
    }

    @Test func `a resource belongs to one user, and another user gets a new resource`() async throws {
        credentials.set(.bearer("ann"), in: .release)
        let topics = try start()
        let old = topics.resource(Topic.self, for: TopicAPI.topic(1))
        try await old.load()

        credentials.logOut(in: .release)
        credentials.set(.bearer("bob"), in: .release)

        let new = topics.resource(Topic.self, for: TopicAPI.topic(1))
        #expect(new !== old && new.value == nil)
        #expect(try await new.load().title == "Bearer bob")
        await #expect(throws: APIError(.cancelled(.superseded))) { try await old.load() }
    }

    @Test func `credentials do not keep a client or a cache alive`() throws {
        weak let client = try start().client
        weak let cache = try start().cache

        credentials.logOut(in: .release)

        #expect(client == nil && cache == nil)
    }

    @Test func `an error in the envelope is not delivered as a response`() async throws {
        let transport = StubTransport { _ in .json(#"{"code":423,"message":"Locked","data":null}"#) }
        let client = try NetworkClient.stubbed(transport, time: clock)
        let topics = TopicAPI(client: client, module: APIModule(envelope: Envelope(success: [0])))
        let configuration = TopicAPI.topic(1, lifetime: .seconds(60))

        await #expect { try await topics.response(Topic.self, for: configuration) } throws: {
            ($0 as? APIError)?.serverMessage == "Locked"
        }
        await #expect {
            for try await _ in topics.responses(Topic.self, for: configuration) {}
        } throws: {
            ($0 as? APIError)?.serverMessage == "Locked"
        }
    }

    /// A module without its own user.
    private final class PlainAPI: APIManager {
        let client: NetworkClient

        init(client: NetworkClient) {
            self.client = client
        }
    }

    @Test func `if managers have no user, the user in the client's options separates stored responses`() async throws {
        let user = Locked<String?>("ann")
        let transport = StubTransport { _ in .json(#"{"id":1}"#) }
        var options = NetworkClient.Options()
        options.user = { _ in user.withLock { $0 } }
        let topics = PlainAPI(client: try .stubbed(transport, options: options, time: clock))
        var configuration = APIConfiguration(path: "topic")
        configuration.cacheLifetime = .seconds(60)
        func ask() async throws -> Int {
            _ = try await topics.value(JSONValue.self, for: configuration)
            return transport.requests.count
        }

        #expect(try await ask() == 1)
        user.withLock { $0 = "bob" }
        #expect(try await ask() == 2)
        user.withLock { $0 = "ann" }
        #expect(try await ask() == 2)
    }
}
