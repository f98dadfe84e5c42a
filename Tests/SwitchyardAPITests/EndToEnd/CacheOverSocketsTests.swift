import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransfers
import Testing

@testable import SwitchyardAPI

/// Network requests of calls with cached responses.
@Suite(.timeLimit(.minutes(5)), .prompt) struct CacheOverSocketsTests {
    @Test func `a download neither uses nor stores a cached response`() async throws {
        let yard = try LoopbackYard()
        defer { yard.stop() }
        yard.count()
        let topics = TopicAPI(client: yard.client)
        let call = TopicAPI.topic(1, lifetime: .seconds(60))
        let other = TopicAPI.topic(2, lifetime: .seconds(60))
        func download(_ call: APIConfiguration) async throws -> String {
            let file = try await yard.client.download(DownloadConfiguration(call))
            defer { try? FileManager.default.removeItem(at: file.url) }
            return try String(contentsOf: file.url, encoding: .utf8)
        }

        let stored = try await topics.value(Topic.self, for: call)
        let fresh = try await download(call)
        let again = try await topics.value(Topic.self, for: call)
        _ = try await download(other)
        let unstored = try await topics.value(Topic.self, for: other)

        #expect(stored.title == "1" && again == stored)
        #expect(fresh == #"{"id":1,"title":"2"}"#)
        #expect(unstored.title == "4")
    }

    @Test func `a call does not fail because of the idle timeout of another call for the same response`() async throws {
        let yard = try LoopbackYard()
        defer { yard.stop() }
        let door = Latch()
        yard.server.route(.get, "/v1/topics/1") { _ in
            await door.wait()
            return .json(#"{"id":1,"title":"one"}"#)
        }
        let topics = TopicAPI(client: yard.client)
        let patient = TopicAPI.topic(1, lifetime: .seconds(60))
        var hasty = patient
        hasty.idleTimeout = .milliseconds(100)
        let first = Task { [hasty] in try await topics.value(Topic.self, for: hasty) }
        await until { yard.client.flights.waiting == 1 }
        let second = Task { try await topics.value(Topic.self, for: patient) }
        await until { yard.client.flights.waiting == 2 }

        await #expect(throws: APIError.self) { try await first.value }
        door.open()

        #expect(try await second.value.id == 1)
    }

    private func yard(_ cache: (LoopbackYard) -> ResponseCache?) throws -> (LoopbackYard, TopicAPI) {
        let yard = try LoopbackYard()
        yard.count()
        if let cache = cache(yard) { yard.client.responseCache = cache }
        return (yard, TopicAPI(client: yard.client))
    }

    @Test func `a call without a lifetime uses the default lifetime of the cache`() async throws {
        let (yard, topics) = try yard { ResponseCache(defaults: .init(lifetime: .seconds(300)), time: $0.clock) }
        defer { yard.stop() }
        let first = try await topics.topic(1)
        yard.clock.advance(by: .seconds(299))

        #expect(try await topics.topic(1) == first)
        yard.clock.advance(by: .seconds(1))
        #expect(try await topics.topic(1) != first)
        _ = try await topics.topic(1, lifetime: .zero)
        #expect(yard.targets.count == 3)
    }

    @Test func `a call that enables caching without a lifetime is cached for a minute`() async throws {
        let (yard, topics) = try yard { _ in nil }
        defer { yard.stop() }
        var configuration = TopicAPI.topic(1)
        configuration.cache.isEnabled = true
        let first = try await topics.value(Topic.self, for: configuration)
        yard.clock.advance(by: .milliseconds(59_900))

        #expect(try await topics.value(Topic.self, for: configuration) == first)
        yard.clock.advance(by: .milliseconds(100))
        #expect(try await topics.value(Topic.self, for: configuration) != first)
    }

    @Test func `caching can be disabled for all calls and enabled for one call`() async throws {
        let (yard, topics) = try yard { ResponseCache(defaults: .init(isEnabled: false), time: $0.clock) }
        defer { yard.stop() }
        for _ in 0..<2 { _ = try await topics.topic(1, lifetime: .seconds(60)) }
        #expect(yard.targets.count == 2)

        var own = TopicAPI.topic(1, lifetime: .seconds(60))
        own.cache.isEnabled = true
        for _ in 0..<2 { _ = try await topics.value(Topic.self, for: own) }
        #expect(yard.targets.count == 3)
        own.cache.isEnabled = false
        _ = try await topics.value(Topic.self, for: own)
        #expect(yard.targets.count == 4)
    }

    @Test func `path filters change the path in the cache key one after another`() async throws {
        let seen = Locked<[String]>([])
        var defaults = CacheDefaults(lifetime: .seconds(60))
        defaults.pathFilters = [
            { path, _ in path + "/first" },
            { path, configuration in
                seen.withLock { $0.append(path) }
                // Two topics share one path.
                return configuration.headers["X-One-Place"] == nil ? path : "one"
            },
        ]
        let (yard, topics) = try yard { ResponseCache(defaults: defaults, time: $0.clock) }
        defer { yard.stop() }
        var (one, two) = (TopicAPI.topic(1), TopicAPI.topic(2))

        let first = try await topics.value(Topic.self, for: one)
        _ = try await topics.value(Topic.self, for: two)
        #expect(try await topics.value(Topic.self, for: one) == first)
        #expect(yard.targets.count == 2)
        (one.headers["X-One-Place"], two.headers["X-One-Place"]) = ("yes", "yes")
        let shared = try await topics.value(Topic.self, for: one)

        #expect(try await topics.value(Topic.self, for: two) == shared)
        #expect(yard.targets.count == 3)
        #expect(seen.withLock { $0.first } == one.path + "/first")
    }

    @Test func `a response in the memory cache is returned even if no server responds`() async throws {
        let (yard, topics) = try yard { _ in nil }
        defer { yard.stop() }
        let first = try await topics.topic(1, lifetime: .seconds(60))
        yard.server.stop()

        #expect(try await topics.topic(1, lifetime: .seconds(60)) == first)
    }

    @Test func `the total size of the stored bodies stays within the cost limit`() async throws {
        let body = #"{"id":1,"title":""# + String(repeating: "x", count: 983) + #""}"#
        let (yard, topics) = try yard { ResponseCache(limits: .init(cost: 2_500), time: $0.clock) }
        defer { yard.stop() }
        yard.server.route(.get, "/v1/*", answering: .json(body))
        for id in [1, 2, 3, 3, 2, 1] {
            _ = try await topics.topic(id, lifetime: .seconds(60))
            yard.clock.advance(by: .milliseconds(1))
            #expect(topics.cache.cost <= 2_500)
        }

        #expect(yard.targets == [1, 2, 3, 1].map { "/v1/topics/\($0)" })
        #expect(topics.cache.cost == 2 * body.utf8.count)
    }

    @Test func `the number of stored responses stays within the count limit`() async throws {
        let (yard, topics) = try yard { ResponseCache(limits: .init(count: 2), time: $0.clock) }
        defer { yard.stop() }
        for id in [1, 2, 3, 3, 2, 1] {
            _ = try await topics.topic(id, lifetime: .seconds(60))
            yard.clock.advance(by: .milliseconds(1))
        }

        #expect(yard.targets == [1, 2, 3, 1].map { "/v1/topics/\($0)" })
    }

    @Test func `calls with different paths or parameters have separate stored responses`() async throws {
        let (yard, topics) = try yard { _ in nil }
        defer { yard.stop() }
        for (path, page) in [("a", 1), ("b", 1), ("a", 2), ("a", 1), ("b", 1), ("a", 2)] {
            var configuration = APIConfiguration(path: path, query: ["page": page])
            configuration.cacheLifetime = .seconds(60)
            _ = try await topics.value(Topic.self, for: configuration)
        }

        #expect(yard.targets == ["/v1/a?page=1", "/v1/b?page=1", "/v1/a?page=2"])
    }

    @Test func `calls with different values for a path template have separate stored responses`() async throws {
        let (yard, topics) = try yard { _ in nil }
        defer { yard.stop() }
        for id in [1, 2, 1] {
            var configuration = APIConfiguration(path: "topics/{id}")
            configuration.pathValues = ["id": id]
            configuration.cacheLifetime = .seconds(60)
            _ = try await topics.value(Topic.self, for: configuration)
        }

        #expect(yard.targets == ["/v1/topics/1", "/v1/topics/2"])
    }

    @Test func `calls with different methods or hosts have separate stored responses`() async throws {
        let (yard, topics) = try yard { _ in nil }
        let other = try LoopbackYard(answer: .json(#"{"id":1,"title":"other host"}"#))
        defer {
            yard.stop()
            other.stop()
        }
        var own = TopicAPI.topic(1, lifetime: .seconds(60))
        var foreign = own
        foreign.path = "\(other.server.baseURL)/v1/topics/1"
        var posted = own
        posted.method = .post
        posted.cache.allowsUnsafeMethods = true
        var based = own
        based.server = .baseURL(try #require(RequestURL("\(other.server.baseURL)/v1/")))
        own.cache.tags = ["mine"]

        for _ in 0..<2 {
            #expect(try await topics.value(Topic.self, for: own).title == "1")
            #expect(try await topics.value(Topic.self, for: posted).title == "2")
            #expect(try await topics.value(Topic.self, for: foreign).title == "other host")
            #expect(try await topics.value(Topic.self, for: based).title == "other host")
        }
        #expect(yard.server.requests.map(\.method) == [.get, .post])
        #expect(other.targets.count == 2)
    }

    @Test func `two services do not share the response of the same path`() async throws {
        let (yard, topics) = try yard { _ in nil }
        defer { yard.stop() }
        let client = try yard.client(of: "users")
        defer { client.shutdown() }
        client.responseCache = yard.client.responseCache
        let users = TopicAPI(client: client)
        for _ in 0..<2 {
            #expect(try await topics.topic(1, lifetime: .seconds(60)).title == "1")
            #expect(try await users.topic(1, lifetime: .seconds(60)).title == "2")
        }

        #expect(yard.client.responseCache.count == 2)
    }

    @Test func `a response is valid during its lifetime and is removed by a later lookup`() async throws {
        let (yard, topics) = try yard { _ in nil }
        defer { yard.stop() }
        var never = TopicAPI.topic(1, lifetime: .seconds(10))
        never.cache.keepsForConfirmation = .zero
        _ = try await topics.value(Topic.self, for: never)
        yard.clock.advance(by: .milliseconds(9_999))
        #expect(try await topics.value(Topic.self, for: never).title == "1")
        yard.clock.advance(by: .milliseconds(1))
        #expect(topics.cache.count == 1)

        never.cache.reading = .only
        await #expect(throws: APIError(.cache(.invalidMetadata))) { try await topics.value(Topic.self, for: never) }
        #expect(topics.cache.count == 0)
        #expect(yard.targets.count == 1)
    }

    @Test func `the cached response of a call that ignores the body is not used for a call that decodes it`()
        async throws
    {
        let (yard, topics) = try yard { _ in nil }
        defer { yard.stop() }
        let nothing = ResponseSerializer<EmptyBody>.empty
        _ = try await topics.response(for: TopicAPI.topic(1, lifetime: .seconds(60)), with: nothing)

        #expect(try await topics.topic(1, lifetime: .seconds(60)).title == "2")
    }

    @Test func `with separatesServers, a response of one server is not returned for another server`() async throws {
        let (yard, topics) = try yard { _ in nil }
        defer { yard.stop() }
        var apart = TopicAPI.topic(1, lifetime: .seconds(60))
        apart.cache.separatesServers = true
        _ = try await topics.value(Topic.self, for: apart)
        _ = try await topics.topic(1, lifetime: .seconds(60))

        #expect(yard.targets.count == 2)
        #expect(try await topics.value(Topic.self, for: apart).title == "1")
    }
}
