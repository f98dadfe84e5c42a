import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardResources
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardAPI

/// Lists whose environment or user changes during a load.
@Suite(.timeLimit(.minutes(5)), .prompt) struct ListOriginTests {
    private let credentials = Credentials { _ in nil }

    /// An app whose server includes the environment and the credential of the request in each topic.
    private func start(
        lastPage: Int = .max,
        user: String? = nil,
        whileAsked: @escaping @Sendable (HTTPRequest) -> Void = { _ in }
    ) throws -> TopicAPI {
        credentials.set(.bearer("ann"), in: .release)
        credentials.set(.bearer("ann"), in: "test")
        let transport = StubTransport { request in
            whileAsked(request)
            let items = Parameters(parsing: request.url.query ?? "").items
            let numbers = items.filter { $0.key == "page" }.compactMap { item -> Int? in
                if case .string(let text) = item.value { Int(text) } else { nil }
            }
            let page = numbers.first ?? 0
            guard page <= lastPage || request.url.text.contains("release") else { return .status(404) }
            let host = request.url.text.contains("release") ? "release" : "test"
            let title = "\(host) \(request.headers["Authorization"] ?? "")"
            let topics = [2 * page - 1, 2 * page].map { #"{"id":\#($0),"title":"\#(title)"}"# }
            return .json("[\(topics.joined(separator: ","))]")
        }
        var options = NetworkClient.Options()
        options.credentials = credentials
        return TopicAPI(client: try .stubbed(transport, options: options), user: user)
    }

    private func shown(by topics: TopicAPI) -> [String] {
        topics.pages.items.map { "\($0.id) \($0.title)" }
    }

    @Test func `loadMore in another environment starts the list again`() async throws {
        let topics = try start()
        _ = try await topics.refreshTopics()
        _ = try await topics.loadMoreTopics()

        try topics.client.switchEnvironment(to: "test")
        let new = try await topics.loadMoreTopics()

        #expect(new.map(\.id) == [1, 2])
        #expect(shown(by: topics) == ["1 test Bearer ann", "2 test Bearer ann"])
        #expect(try await topics.loadMoreTopics().map(\.id) == [3, 4])
        #expect(shown(by: topics).count == 4)
    }

    @Test func `loadMore as another user starts the list again`() async throws {
        let topics = try start()
        _ = try await topics.refreshTopics()

        credentials.logOut(in: .release)
        credentials.set(.bearer("bob"), in: .release)
        _ = try await topics.loadMoreTopics()

        #expect(shown(by: topics) == ["1 release Bearer bob", "2 release Bearer bob"])
    }

    @Test func `a list starts again when the manager's user name changes, but not after a token refresh`() async throws
    {
        let topics = try start(user: "ann")
        _ = try await topics.refreshTopics()

        topics.user.withLock { $0 = "bob" }
        #expect(try await topics.loadMoreTopics().map(\.id) == [1, 2])
        credentials.set(.bearer("bob, refreshed"), in: .release)
        #expect(try await topics.loadMoreTopics().map(\.id) == [3, 4])
    }

    @Test func `a page that was requested before an environment switch is not added to the list`() async throws {
        let client = Locked<NetworkClient?>(nil)
        let topics = try start { _ in try? client.withLock { $0 }?.switchEnvironment(to: "test") }
        client.withLock { $0 = topics.client }
        defer { client.withLock { $0 = nil } }

        await #expect(throws: APIError(.cancelled(.superseded))) { _ = try await topics.refreshTopics() }
        #expect(shown(by: topics).isEmpty)
        _ = try await topics.loadMoreTopics()

        #expect(shown(by: topics) == ["1 test Bearer ann", "2 test Bearer ann"])
    }

    private static let ways: [@Sendable (TopicAPI, APIConfiguration) async throws -> Void] = [
        { _ = try await $0.value([Topic].self, for: $1) },
        { _ = try await $0.response([Topic].self, for: $1) },
        { try await $0.send($1) },
        { _ = try await $0.resource([Topic].self, for: $1).load() },
        { for try await _ in $0.responses([Topic].self, for: $1) {} },
        { topics, call in
            await withCheckedContinuation { done in
                topics.value([Topic].self, for: call, on: .global()) { _ in done.resume() }
            }
        },
    ]

    @Test(arguments: ways.indices)
    func `during a page load, every kind of call records its environment and user`(way: Int)
        async throws
    {
        let topics = try start(user: "ann")
        var call = APIConfiguration(path: "topics")
        call.cacheLifetime = .seconds(60)
        let loadRecorder = PageLoadRecorder()

        try await loadRecorder.watching { try await Self.ways[way](topics, call) }

        let origin = PageOrigin(environment: .release, user: "ann", userChanges: 0)
        #expect(loadRecorder.origins == [topics.client.service.name: [origin]])
    }

    @Test func `a page that is missing in another environment does not end the list`() async throws {
        let topics = try start(lastPage: 1)
        _ = try await topics.refreshTopics()

        try topics.client.switchEnvironment(to: "test")
        _ = try await topics.loadMoreTopics()

        #expect(shown(by: topics) == ["1 test Bearer ann", "2 test Bearer ann"])
    }

    @Test func `after an environment switch, a second loadMore call waits for page 1 and then loads page 2`()
        async throws
    {
        let topics = try start()
        _ = try await topics.refreshTopics()
        try topics.client.switchEnvironment(to: "test")
        let gate = Gate()
        let load: @Sendable (PageRequest) async throws -> [Topic] = { page in
            await gate.pass()
            return try await topics.value(for: APIConfiguration(path: "topics", query: ["page": page.number]))
        }

        let first = Task { try await topics.pages.loadMore(load) }
        await gate.waitForArrivals(1)
        let second = Task { try await topics.pages.loadMore(load) }
        await until { topics.pages.waiting != 0 }
        gate.open()

        #expect(try await first.value.map(\.id) == [1, 2])
        #expect(try await second.value.map(\.id) == [3, 4])
        #expect(topics.pages.items.allSatisfy { $0.title == "test Bearer ann" })
    }

    /// A load that waits for a gate.
    private func held(_ topics: TopicAPI, by gate: Gate) -> @Sendable (PageRequest) async throws -> [Topic] {
        { page in
            let items: [Topic] = try await topics.value(
                for: APIConfiguration(path: "topics", query: ["page": page.number])
            )
            await gate.pass()
            return items
        }
    }

    private enum Load: CaseIterable { case refresh, more, page }

    private enum Change: CaseIterable { case environment, login, logOutAndLogin }

    private func carryOut(_ change: Change, _ topics: TopicAPI) throws {
        switch change {
        case .environment: try topics.client.switchEnvironment(to: "test")
        case .login: credentials.set(.bearer("bob"), in: .release)
        case .logOutAndLogin:
            credentials.logOut(in: .release)
            credentials.set(.bearer("bob"), in: .release)
        }
    }

    @Test(arguments: Load.allCases, Change.allCases)
    private func `a load that is active at a change of environment or user adds nothing to the list`(
        load: Load,
        change: Change
    ) async throws {
        let topics = try start()
        _ = try await topics.refreshTopics()
        let gate = Gate()
        let held = held(topics, by: gate)
        let first = Task {
            switch load {
            case .refresh: try await topics.pages.refresh(held)
            case .more: try await topics.pages.loadMore(held)
            case .page: try await topics.pages.loadPage(3, held)
            }
        }
        await gate.waitForArrivals(1)

        try carryOut(change, topics)
        let own = try await topics.refreshTopics()
        gate.open()

        let present = change == .environment ? "test Bearer ann" : "release Bearer bob"
        #expect(own.map(\.title) == [present, present])
        await #expect(throws: APIError(.cancelled(.superseded))) { _ = try await first.value }
        #expect(shown(by: topics) == ["1 \(present)", "2 \(present)"])
    }

    @Test func `loadMore at the end of a list starts the list again for another user`() async throws {
        let topics = try start()
        _ = try await topics.pages.refresh { page in
            let items: [Topic] = try await topics.value(for: APIConfiguration(path: "topics", query: ["page": 1]))
            return Page(items, hasMore: false)
        }
        #expect(!topics.pages.hasMore)

        credentials.set(.bearer("bob"), in: .release)
        _ = try await topics.loadMoreTopics()

        #expect(shown(by: topics) == ["1 release Bearer bob", "2 release Bearer bob"])
    }

    @Test func `a refresh after a write to the path does not join an earlier refresh`() async throws {
        let topics = try start()
        let gate = Gate()
        let held = held(topics, by: gate)
        let first = Task { try await topics.pages.refresh(held) }
        await gate.waitForArrivals(1)

        try await topics.send(APIConfiguration(path: "topics", method: .post))
        let second = Task { try await topics.refreshTopics() }

        #expect(try await second.value.map(\.id) == [1, 2])
        gate.open()
        await #expect(throws: APIError(.cancelled(.superseded))) { _ = try await first.value }
    }

    @Test func `a sequence does not deliver pages that were loaded ahead for another user`() async throws {
        let topics = try start()
        let pages = topics.pages.allPages(ahead: 2) { page -> [Topic] in
            try await topics.value(for: APIConfiguration(path: "topics", query: ["page": page.number]))
        }
        var iterator = pages.makeAsyncIterator()
        #expect(try await iterator.next()?.first?.title == "release Bearer ann")

        credentials.set(.bearer("bob"), in: .release)

        await #expect(throws: APIError.self) { while try await iterator.next() != nil {} }
    }

    @Test func `a sequence whose load fails before its last call throws the load's error`() async throws {
        struct Interruption: Error {}
        let topics = try start()
        let profile = TopicAPI(client: topics.client, user: "ann")
        let pages = topics.pages.allPages { page -> [Topic] in
            let configuration = APIConfiguration(path: "topics", query: ["page": page.number])
            let loaded: [Topic] = try await topics.value(for: configuration)
            if page.number == 2 { throw Interruption() }
            let _: [Topic] = try await profile.value(for: configuration)
            return loaded
        }
        var iterator = pages.makeAsyncIterator()
        _ = try await iterator.next()

        let error = await #expect(throws: APIError.self) { _ = try await iterator.next() }
        #expect(error == APIError(Interruption()))
    }

    @Test func `a sequence that reads on in another environment fails without sending its cursor there`() async throws {
        let asked = Locked<[String]>([])
        let topics = try start(lastPage: 1) { request in asked.withLock { $0.append(request.url.text) } }
        let pages = topics.pages.allPages { page -> [Topic] in
            try await topics.value(for: APIConfiguration(path: "topics", query: ["page": page.number]))
        }
        var iterator = pages.makeAsyncIterator()
        _ = try await iterator.next()

        try topics.client.switchEnvironment(to: "test")

        await #expect(throws: APIError(.cancelled(.superseded))) { _ = try await iterator.next() }
        #expect(asked.withLock { $0.count } == 1)
    }

    @Test func `a page that is missing in an environment that is entered during its load does not end a sequence`()
        async throws
    {
        let topics = try start(lastPage: 1)
        let pages = topics.pages.allPages { page -> [Topic] in
            if page.number == 2 { try topics.client.switchEnvironment(to: "test") }
            return try await topics.value(for: APIConfiguration(path: "topics", query: ["page": page.number]))
        }
        var iterator = pages.makeAsyncIterator()
        _ = try await iterator.next()

        await #expect(throws: APIError(.cancelled(.superseded))) { _ = try await iterator.next() }
    }

    @Test func `a sequence of items delivers nothing more after its user has changed`() async throws {
        let topics = try start()
        let items = topics.pages.allItems { page -> [Topic] in
            try await topics.value(for: APIConfiguration(path: "topics", query: ["page": page.number]))
        }
        var iterator = items.makeAsyncIterator()
        #expect(try await iterator.next()?.id == 1)

        credentials.set(.bearer("bob"), in: .release)

        let error = await #expect(throws: APIError.self) { try await iterator.next() }
        #expect(error?.reason == .cancelled(.superseded))
    }

    @Test(arguments: [0, 2])
    func `a sequence of pages ends when the environment changes`(ahead: Int) async throws {
        let client = Locked<NetworkClient?>(nil)
        let topics = try start { request in
            guard request.url.query?.contains("page=2") == true else { return }
            try? client.withLock { $0 }?.switchEnvironment(to: "test")
        }
        client.withLock { $0 = topics.client }
        defer { client.withLock { $0 = nil } }
        var ids: [Int] = []

        let error = await #expect(throws: APIError.self) {
            let pages = topics.pages.allPages(ahead: ahead) { page -> [Topic] in
                try await topics.value(for: APIConfiguration(path: "topics", query: ["page": page.number]))
            }
            for try await page in pages.prefix(5) { ids += page.map(\.id) }
        }

        #expect(error?.reason == .cancelled(.superseded))
        #expect(ids == [1, 2, 3, 4])
    }
}
