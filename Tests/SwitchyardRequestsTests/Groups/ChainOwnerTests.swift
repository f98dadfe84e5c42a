import Foundation
import SwitchyardAPI
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardRequests
import SwitchyardServices
import SwitchyardTesting
import Testing

/// Chains, batches and request objects whose environment or user changes between two requests.
@Suite(.timeLimit(.minutes(5)), .prompt) struct ChainOwnerTests {
    private let credentials = Credentials { _ in nil }

    /// A manager whose user is Ann in the first environment and Bob in the second.
    private func start(hasCredentials: Bool = true, in environments: [ServiceEnvironment] = ["release", "test"]) throws
        -> (TopicAPI, StubTransport)
    {
        let transport = StubTransport { _ in Topic.answer }
        var options = NetworkClient.Options()
        if hasCredentials {
            credentials.set(.bearer("ann"), in: .release)
            credentials.set(.bearer("bob"), in: .test)
            options.credentials = credentials
        }
        return (TopicAPI(client: try .stubbed(transport, environments: environments, options: options)), transport)
    }

    private func chain() -> RequestChain {
        RequestChain(options: GroupOptions(policy: .failFast, queue: .global()))
    }

    /// The way in which a step makes the next call.
    enum Way: CaseIterable {
        case request, operation, clientOperation, cached

        func next(_ topics: TopicAPI) -> APIRequest<Topic> {
            switch self {
            case .request: topics.request(for: TopicAPI.topic(2), on: .global())
            case .cached: topics.request(for: TopicAPI.topic(2, lifetime: .seconds(60)), on: .global())
            case .operation: APIRequest<Topic>(on: .global()) { try await topics.topic(2) }
            case .clientOperation:
                APIRequest<Topic>(on: .global()) {
                    _ = try await topics.client.send(TopicAPI.topic(2))
                    return Topic(id: 2, title: "two")
                }
            }
        }
    }

    @Test(arguments: Way.allCases, [false, true])
    func `a chain of requests ends when one of its steps switches the environment`(
        way: Way,
        hasCredentials: Bool
    ) async throws {
        let (topics, transport) = try start(hasCredentials: hasCredentials)
        let chain = chain()
        chain.add(topics.request(Topic.self, for: TopicAPI.topic(1), on: .global())) { _, chain in
            try? topics.client.switchEnvironment(to: .test)
            chain.add(way.next(topics))
        }

        let report = await chain.finished()

        #expect(report.outcome != .succeeded)
        #expect(transport.requests.map { $0.url.origin.host } == ["release.example"])
    }

    @Test
    func `if a step of a request chain switches the environment, a following step without credentials is still sent`()
        async throws
    {
        let (topics, transport) = try start()
        let chain = chain()
        chain.add(topics.request(Topic.self, for: TopicAPI.topic(1), on: .global())) { _, chain in
            try? topics.client.switchEnvironment(to: .test)
            var login = APIConfiguration(path: "login", method: .post)
            login.usesCredentials = false
            chain.add(topics.request(Topic.self, for: login, on: .global()))
        }

        #expect(await chain.finished().outcome == .succeeded)
        #expect(transport.requests.map { $0.headers["Authorization"] } == ["Bearer ann", nil])
    }

    @Test func `a chain that starts with a login continues after one of its steps switches the environment`()
        async throws
    {
        let (topics, transport) = try start()
        var login = APIConfiguration(path: "login", method: .post)
        login.usesCredentials = false
        let chain = chain()
        chain.add(topics.request(Topic.self, for: login, on: .global())) { _, chain in
            try? topics.client.switchEnvironment(to: .test)
            chain.add(topics.request(Topic.self, for: TopicAPI.topic(2), on: .global()))
        }

        #expect(await chain.finished().outcome == .succeeded)
        #expect(transport.requests.map { $0.headers["Authorization"] } == [nil, "Bearer bob"])
    }

    @Test func `a step of a request chain may call another client in that client's own environment`() async throws {
        let (topics, _) = try start()
        let (others, transport) = try start(in: ["test", "release"])
        let chain = chain()
        chain.add(topics.request(Topic.self, for: TopicAPI.topic(1), on: .global())) { _, chain in
            chain.add(others.request(Topic.self, for: TopicAPI.topic(2), on: .global()))
        }

        #expect(await chain.finished().outcome == .succeeded)
        #expect(transport.requests.map { $0.headers["Authorization"] } == ["Bearer bob"])
    }

    @Test(arguments: [false, true])
    func `a request object gets no stored response of another environment or user`(isOtherUser: Bool) async throws {
        let (topics, transport) = try start()
        if isOtherUser { topics.user.withLock { $0 = "ann" } }
        let request = topics.request(Topic.self, for: TopicAPI.topic(1, lifetime: .seconds(60)), on: .global())

        if isOtherUser {
            credentials.logOut(in: .release)
            topics.user.withLock { $0 = "bob" }
            credentials.set(.bearer("bob"), in: .release)
        } else {
            try topics.client.switchEnvironment(to: .test)
        }
        _ = try await topics.topic(1, lifetime: .seconds(60))

        await #expect(throws: APIError.self) { try await request.value() }
        #expect(transport.requests.map { $0.headers["Authorization"] } == ["Bearer bob"])
    }

    @Test(arguments: [false, true])
    func `if another user logs in during a request chain, the chain gets no stored response of that user`(
        isOperation: Bool
    )
        async throws
    {
        let (topics, _) = try start()
        topics.user.withLock { $0 = "bob" }
        _ = try await topics.topic(2, lifetime: .seconds(60))
        topics.user.withLock { $0 = "ann" }
        let (chain, credentials) = (chain(), credentials)
        chain.add(topics.request(Topic.self, for: TopicAPI.topic(1), on: .global())) { _, chain in
            credentials.logOut(in: .release)
            topics.user.withLock { $0 = "bob" }
            credentials.set(.bearer("bob"), in: .release)
            if isOperation {
                chain.add(APIRequest<Topic>(on: .global()) { try await topics.topic(2, lifetime: .seconds(60)) })
            } else {
                chain.add(Way.cached.next(topics))
            }
        }

        #expect(await chain.finished().outcome != .succeeded)
    }

    @Test(arguments: [false, true])
    func `a batch does not continue after the user or the environment changes`(switchesEnvironment: Bool) async throws {
        let (topics, transport) = try start()
        var options = GroupOptions(policy: .collectAll, queue: .global())
        options.limit = 1
        let batch = RequestGroup(
            (1...3).map { topics.request(Topic.self, for: TopicAPI.topic($0), on: .global()) as any GroupMember },
            options: options
        )
        let credentials = credentials
        batch.onProgress { progress in
            guard progress.ended == 1 else { return }
            if switchesEnvironment {
                try? topics.client.switchEnvironment(to: .test)
            } else {
                credentials.set(.bearer("bob"), in: .release)
            }
        }

        _ = await batch.finished()

        #expect(transport.requests.map { $0.headers["Authorization"] } == ["Bearer ann"])
    }

    @Test func `a request chain of a user without credentials does not continue after the user changes`() async throws {
        let name = Locked<String?>("ann")
        let transport = StubTransport { _ in Topic.answer }
        var options = NetworkClient.Options()
        options.user = { _ in name.withLock { $0 } }
        let topics = TopicAPI(client: try .stubbed(transport, options: options))
        let chain = chain()
        chain.add(topics.request(Topic.self, for: TopicAPI.topic(1), on: .global())) { _, chain in
            name.withLock { $0 = "bob" }
            chain.add(
                APIRequest<Int>(on: .global()) { try await topics.client.send(TopicAPI.topic(2)).status }
            )
        }

        #expect(await chain.finished().outcome != .succeeded)
        #expect(transport.requests.count == 1)
    }
}
