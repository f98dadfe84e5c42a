import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardAPI

/// Lists whose environment or user changes while they are loaded.
@Suite(.timeLimit(.minutes(5)), .prompt) struct ListOriginTests {
    private let credentials = Credentials { _ in nil }

    /// An app whose server names in each topic where, and as whom, it was asked.
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

    @Test func `a load of more in another environment starts the list again there`() async throws {
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

    @Test func `a load of more as another user starts the list again`() async throws {
        let topics = try start()
        _ = try await topics.refreshTopics()

        credentials.logOut(in: .release)
        credentials.set(.bearer("bob"), in: .release)
        _ = try await topics.loadMoreTopics()

        #expect(shown(by: topics) == ["1 release Bearer bob", "2 release Bearer bob"])
    }

    @Test func `a user is told from another by the name that the manager gives`() async throws {
        let topics = try start(user: "ann")
        _ = try await topics.refreshTopics()

        topics.user.withLock { $0 = "bob" }
        #expect(try await topics.loadMoreTopics().map(\.id) == [1, 2])
        credentials.set(.bearer("bob, renewed"), in: .release)
        #expect(try await topics.loadMoreTopics().map(\.id) == [3, 4])
    }

    @Test func `a page that was asked for before the switch begins no list of what comes after it`() async throws {
        let client = Locked<NetworkClient?>(nil)
        let topics = try start { _ in try? client.withLock { $0 }?.switchEnvironment(to: "test") }
        client.withLock { $0 = topics.client }
        defer { client.withLock { $0 = nil } }

        _ = try await topics.refreshTopics()
        #expect(shown(by: topics) == ["1 release Bearer ann", "2 release Bearer ann"])
        _ = try await topics.loadMoreTopics()

        #expect(shown(by: topics) == ["1 test Bearer ann", "2 test Bearer ann"])
    }

    private static let ways: [@Sendable (TopicAPI, APIConfiguration) async throws -> Void] = [
        { _ = try await $0.value([Topic].self, for: $1) },
        { _ = try await $0.response([Topic].self, for: $1) },
        { try await $0.send($1) },
        { _ = try await $0.resource([Topic].self, for: $1).load() },
        { for try await _ in $0.answers([Topic].self, for: $1) {} },
        { topics, call in
            await withCheckedContinuation { done in
                topics.value([Topic].self, for: call, on: .global()) { _ in done.resume() }
            }
        },
    ]

    @Test(arguments: ways.indices) func `a page knows where it asked, whatever the call's form`(way: Int) async throws {
        let topics = try start(user: "ann")
        var call = APIConfiguration(path: "topics")
        call.cacheLifetime = .seconds(60)
        let witness = PageWitness()

        try await witness.watching { try await Self.ways[way](topics, call) }

        let origin = PageOrigin(environment: .release, user: "ann", userChanges: 0)
        #expect(witness.origins == [topics.client.service.name: [origin]])
    }

    @Test func `a page that another environment does not have ends no list`() async throws {
        let topics = try start(lastPage: 1)
        _ = try await topics.refreshTopics()

        try topics.client.switchEnvironment(to: "test")
        _ = try await topics.loadMoreTopics()

        #expect(shown(by: topics) == ["1 test Bearer ann", "2 test Bearer ann"])
    }

    @Test func `who joined a load of more that was asked elsewhere loads the page behind the new first one`()
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
        while topics.pages.waiting == 0 { await Task.yield() }
        gate.open()

        #expect(try await first.value.map(\.id) == [1, 2])
        #expect(try await second.value.map(\.id) == [3, 4])
        #expect(topics.pages.items.allSatisfy { $0.title == "test Bearer ann" })
    }

    @Test(arguments: [0, 2])
    func `a sequence ends where the environment becomes another`(ahead: Int) async throws {
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
