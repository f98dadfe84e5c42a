import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardMarkup
import SwitchyardResources
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardAPI

@Suite(.timeLimit(.minutes(5)), .prompt) struct CachedCallTests {
    /// A server whose titles are the numbers of the requests.
    private final class Counter: Sendable {
        let count = Locked(0)
        let fails = Locked(false)

        func answer(_ request: HTTPRequest) -> StubResponse {
            let number = count.withLock { count in
                count += 1
                return count
            }
            return fails.withLock { $0 } ? .status(503) : .json(#"{"id":1,"title":"\#(number)"}"#)
        }
    }

    private static let lifetime = Duration.seconds(60)
    private let clock = ManualClock()
    private let counter = Counter()

    private func client() throws -> NetworkClient {
        try .stubbed(StubTransport { [counter] in counter.answer($0) }, time: clock)
    }

    private var requests: Int { counter.count.withLock { $0 } }

    @Test func `a stored response is returned without a request until its lifetime has passed`() async throws {
        let topics = TopicAPI(client: try client())
        let first = try await topics.topic(1, lifetime: Self.lifetime)
        clock.advance(by: .seconds(59))

        #expect(try await topics.topic(1, lifetime: Self.lifetime) == first)
        #expect(requests == 1)
        clock.advance(by: .seconds(1))
        #expect(try await topics.topic(1, lifetime: Self.lifetime).title == "2")
    }

    @Test func `a stored response is fresh for a call only within the lifetime of that call`() async throws {
        let topics = TopicAPI(client: try client())
        let first = try await topics.topic(1, lifetime: .seconds(60))
        clock.advance(by: .seconds(4))

        #expect(try await topics.topic(1, lifetime: .seconds(5)) == first)
        clock.advance(by: .seconds(1))
        #expect(try await topics.topic(1, lifetime: .seconds(60)) == first)
        #expect(try await topics.topic(1, lifetime: .seconds(5)).title == "2")
    }

    @Test func `calls without credentials share no response with calls that have credentials`() async throws {
        let client = try client()
        let (topics, anonymous) = (TopicAPI(client: client), TopicAPI(client: client.withoutCredentials()))
        var bare = TopicAPI.topic(1, lifetime: Self.lifetime)
        bare.usesCredentials = false
        let own = try await topics.topic(1, lifetime: Self.lifetime)

        let first = try await topics.value(Topic.self, for: bare)
        let second = try await anonymous.topic(1, lifetime: Self.lifetime)

        #expect([own.title, first.title, second.title] == ["1", "2", "2"])
        #expect(try await topics.topic(1, lifetime: Self.lifetime) == own)
    }

    /// A service whose titles are the caller's credential, and a refresh that calls a manager of the same client.
    private func refreshing(_ question: @escaping @Sendable (TopicAPI) async -> Void) throws -> TopicAPI {
        let asked = Locked<TopicAPI?>(nil)
        var options = NetworkClient.Options(seed: 1)
        options.credentials = Credentials { _ in
            if let topics = asked.withLock({ $0 }) { await question(topics) }
            return .bearer("user")
        }
        options.credentials?.set(.bearer("old", expiresAt: .distantPast), in: .release)
        let transport = StubTransport { request in
            .json(#"{"id":1,"title":"\#(request.headers["Authorization"] ?? "nobody")"}"#)
        }
        let client = try NetworkClient.stubbed(transport, options: options, time: clock)
        let topics = TopicAPI(client: client)
        asked.withLock { $0 = topics }
        return topics
    }

    @Test func `the response to a call that a token refresh makes is not shared with calls that wait for the refresh`()
        async throws
    {
        let topics = try refreshing { _ = try? await $0.topic(1, lifetime: Self.lifetime) }
        _ = try await topics.topic(2, lifetime: Self.lifetime)

        #expect(try await topics.topic(1, lifetime: Self.lifetime).title == "Bearer user")
    }

    @Test func `a token refresh does not deadlock if it makes the same call as a call that waits for the refresh`()
        async throws
    {
        let topics = try refreshing { _ = try? await $0.topic(1, lifetime: Self.lifetime) }

        #expect(try await topics.topic(1, lifetime: Self.lifetime).title == "Bearer user")
    }

    // A missing lifetime means the same for reading and for storing.
    @Test(arguments: [Duration.zero, .seconds(-5), nil])
    func `a call whose cache lifetime is missing or not positive stores no response`(lifetime: Duration?) async throws {
        let topics = TopicAPI(client: try client())
        _ = try await topics.topic(1, lifetime: lifetime)
        _ = try await topics.topic(1, lifetime: lifetime)

        #expect(requests == 2)
        #expect(topics.cache.count == 0)
    }

    @Test func `a stored response reports its source and keeps its status and header fields`()
        async throws
    {
        let topics = TopicAPI(client: try client())
        let configuration = TopicAPI.topic(1, lifetime: Self.lifetime)
        let serializer = ResponseSerializer.decodable(Topic.self)

        let fetched = try await topics.response(for: configuration, with: serializer)
        clock.advance(by: .seconds(7))
        let stored = try await topics.response(for: configuration, with: serializer)

        #expect(fetched.source == .network && !fetched.isFromCache && fetched.context?.server == "primary")
        #expect(stored.source == .cache(age: .seconds(7)) && stored.isFromCache)
        #expect(stored.status == 200 && stored.headers["Content-Type"] == fetched.headers["Content-Type"])
    }

    @Test func `a response with an error code in its envelope is not stored`() async throws {
        let transport = StubTransport(answers: [
            .json(#"{"code":301}"#), .json(#"{"code":0,"data":{"id":1,"title":"a"}}"#),
        ])
        let topics = TopicAPI(client: try .stubbed(transport), module: APIModule(envelope: Envelope()))

        await #expect(throws: APIError.self) { try await topics.topic(1, lifetime: Self.lifetime) }
        #expect(try await topics.topic(1, lifetime: Self.lifetime).title == "a")
        #expect(transport.requestCount == 2)
    }

    @Test func `a response to POST is stored only if the call allows it`() async throws {
        let topics = TopicAPI(client: try client())
        var configuration = TopicAPI.topic(1, lifetime: Self.lifetime)
        configuration.method = .post
        configuration.body = .json(["a": 1] as Parameters)
        for _ in 0..<2 { _ = try await topics.value(Topic.self, for: configuration) }
        #expect(requests == 2)

        configuration.cache.allowsUnsafeMethods = true
        for _ in 0..<2 { _ = try await topics.value(Topic.self, for: configuration) }
        #expect(requests == 3)
        configuration.body = .json(["a": 2] as Parameters)
        _ = try await topics.value(Topic.self, for: configuration)
        #expect(requests == 4)
    }

    @Test func `values from different key paths of a response are stored separately`() async throws {
        let transport = StubTransport { _ in .json(#"{"users":1,"posts":2}"#) }
        let topics = TopicAPI(client: try .stubbed(transport, time: clock))
        let call = TopicAPI.topic(1, lifetime: Self.lifetime)

        for (place, count) in [("users", 1), ("posts", 2), ("users", 1), ("users", 1)] {
            #expect(try await topics.value(Int.self, for: call, at: place) == count)
        }
        let serializer = ResponseSerializer<Int>.decodable(at: "posts")
        #expect(try await topics.response(for: call, with: serializer).value == 2)
        #expect(try await topics.response(for: call, with: serializer.map { $0 * 10 }.map { $0 / 10 }).value == 2)
        #expect(try await topics.resource(Int.self, for: call, at: "users").load() == 1)
        #expect(try await topics.resource(Int.self, for: call, at: "posts").load() == 2)
        topics.removeResponse(for: call)
        #expect(topics.cache.count == 0)
    }

    @Test func `the data of an envelope and the whole response are stored separately`() async throws {
        let transport = StubTransport { _ in .json(#"{"code":0,"data":{"a":1}}"#) }
        let client = try NetworkClient.stubbed(transport, time: clock)
        let topics = TopicAPI(client: client, module: APIModule(envelope: Envelope()))
        let call = TopicAPI.topic(1, lifetime: Self.lifetime)

        let data = try await topics.value(JSONValue.self, for: call)
        let whole = try await topics.response(for: call, with: .json).value

        #expect(data.value(at: "a") == whole.value(at: "data.a"))
        #expect(data.value(at: "code") == nil && whole.value(at: "code") != nil)
    }

    @Test func `the data of different envelopes is stored separately`() async throws {
        let transport = StubTransport { _ in .json(#"{"code":0,"data":1,"result":2}"#) }
        let client = try NetworkClient.stubbed(transport, time: clock)
        let call = TopicAPI.topic(1, lifetime: Self.lifetime)

        for (name, number) in [("data", 1), ("result", 2), ("data", 1)] {
            let topics = TopicAPI(client: client, module: APIModule(envelope: Envelope(data: name)))
            #expect(try await topics.value(Int.self, for: call) == number)
        }
    }

    @Test func `values from different key paths are stored separately even if they are returned with their bodies`()
        async throws
    {
        let transport = StubTransport { _ in .json(#"{"users":1,"posts":2}"#) }
        let topics = TopicAPI(client: try .stubbed(transport, time: clock))
        let call = TopicAPI.topic(1, lifetime: Self.lifetime)

        for (place, count) in [("users", 1), ("posts", 2)] {
            let serializer = ResponseSerializer<Int>.decodable(at: place).keepingData
            #expect(try await topics.response(for: call, with: serializer).value.value == count)
        }
    }

    @Test func `results of different serializers are stored separately`() async throws {
        let transport = StubTransport { _ in .json(#"{"a":1,"b":null}"#) }
        let topics = TopicAPI(client: try .stubbed(transport, time: clock))
        let call = TopicAPI.topic(1, lifetime: Self.lifetime)

        let bare = try await topics.response(for: call, with: .json(removingNulls: true)).value
        let whole = try await topics.response(for: call, with: .json).value
        let mapped = try await topics.response(for: call, with: ResponseSerializer.json.map { _ in JSONValue.null })
            .value

        #expect(bare == ["a": 1] && whole == ["a": 1, "b": nil] && mapped == nil)
    }

    @Test func `concurrent calls for different key paths share no value`() async throws {
        let clock = clock
        let transport = StubTransport { _ in .delayed(by: .seconds(1), on: clock, .json(#"{"users":1,"posts":2}"#)) }
        let client = try NetworkClient.stubbed(transport, time: clock)
        let topics = TopicAPI(client: client)
        let call = TopicAPI.topic(1, lifetime: Self.lifetime)
        let calls = ["users", "posts"].map { place in
            Task { try await topics.value(Int.self, for: call, at: place) }
        }
        await until { client.flights.waiting >= 2 }
        await clock.waitForTimers(client.flights.count, in: .seconds(1))

        clock.advance(by: .seconds(1))

        #expect(try await calls[0].value == 1)
        #expect(try await calls[1].value == 2)
    }

    @Test func `concurrent calls with different sensitive data share no response`() async throws {
        let transport = StubTransport { [clock, counter] in .delayed(by: .seconds(1), on: clock, counter.answer($0)) }
        let client = try NetworkClient.stubbed(transport, time: clock)
        let topics = TopicAPI(client: client)
        let calls = ["admin", "guest"].map { data in
            var call = TopicAPI.topic(1, lifetime: Self.lifetime)
            call.cache.sensitiveData = data
            return Task { [call] in try await topics.value(Topic.self, for: call) }
        }
        await until { client.flights.waiting >= 2 }
        await clock.waitForTimers(client.flights.count, in: .seconds(1))

        clock.advance(by: .seconds(1))

        #expect(try await calls[0].value != calls[1].value)
        #expect(requests == 2)
    }

    @Test func `a response of one CDN or URL rule is not returned to a call with another CDN or URL rule`()
        async throws
    {
        let transport = StubTransport { .json(#"{"id":1,"title":"\#($0.url.origin.host)"}"#) }
        let topics = TopicAPI(client: try .stubbed(transport, time: clock))
        func title(_ change: (inout APIConfiguration) -> Void) async throws -> String {
            var call = TopicAPI.topic(1, lifetime: Self.lifetime)
            change(&call)
            return try await topics.value(Topic.self, for: call).title
        }
        var titles: [String] = []

        for host in ["one.example", "two.example", "one.example"] {
            let url = try RequestURL(validating: "https://\(host)/topics/1")
            titles.append(
                try await title {
                    $0.usesCDN = true
                    $0.cdnURL = url
                }
            )
            titles.append(try await title { $0.urlRule = { _, _ in url } })
        }
        titles.append(try await title { _ in })

        let expected = ["one.example", "two.example", "one.example"].flatMap { [$0, $0] } + ["release.example"]
        #expect(titles == expected)
        #expect(transport.requestCount == 5)
    }

    @Test func `a stored response is not returned in another environment or to another user`()
        async throws
    {
        let client = try client()
        let ada = TopicAPI(client: client, user: "ada")
        let bob = TopicAPI(client: client, user: "bob")
        #expect(try await ada.topic(1, lifetime: Self.lifetime).title == "1")
        #expect(try await bob.topic(1, lifetime: Self.lifetime).title == "2")
        try client.switchEnvironment(to: "test")
        #expect(try await ada.topic(1, lifetime: Self.lifetime).title == "3")
        try client.switchEnvironment(to: "release")

        #expect(try await ada.topic(1, lifetime: Self.lifetime).title == "1")
        client.responseCache.removeAll(in: CachePartition(service: "topics", environment: "release", user: "ada"))
        #expect(try await ada.topic(1, lifetime: Self.lifetime).title == "4")
        #expect(try await bob.topic(1, lifetime: Self.lifetime).title == "2")
    }

    @Test func `a stored response is found again whatever types its parameters have`() async throws {
        let topics = TopicAPI(client: try client())
        let trees: [Parameters] = [
            [:], ["a": 1], ["a": "1"], ["a": nil], ["a": [1, 2] as [Int]], ["b": ["c": 1] as Parameters], ["a": true],
            ["a": 1.5], ["a": Data([1])], ["a": Date(timeIntervalSince1970: 0)],
        ]
        for tree in trees {
            var configuration = TopicAPI.topic(1, lifetime: Self.lifetime)
            configuration.query = tree
            let first = try await topics.value(Topic.self, for: configuration)
            #expect(try await topics.value(Topic.self, for: configuration) == first)
        }

        #expect(requests == trees.count)
    }

    @Test func `ignored parameters and header fields are not part of the cache key`() async throws {
        let topics = TopicAPI(client: try client())
        var configuration = TopicAPI.topic(1, lifetime: Self.lifetime)
        configuration.cache.ignoredParameters = ["time"]
        for number in 0..<3 {
            configuration.query = ["time": number, "page": 1]
            configuration.headers["X-Request-ID"] = "\(number)"
            _ = try await topics.value(Topic.self, for: configuration)
        }
        #expect(requests == 1)
        configuration.headers["Accept-Language"] = "zh"
        _ = try await topics.value(Topic.self, for: configuration)
        #expect(requests == 2)
        configuration.cache.version = 1
        _ = try await topics.value(Topic.self, for: configuration)
        #expect(requests == 3)
    }

    @Test func `a refresh requests a new response and stores it`() async throws {
        let topics = TopicAPI(client: try client())
        var fresh = TopicAPI.topic(1, lifetime: Self.lifetime)
        fresh.cache.reading = .never
        _ = try await topics.topic(1, lifetime: Self.lifetime)

        #expect(try await topics.value(Topic.self, for: fresh).title == "2")
        #expect(try await topics.topic(1, lifetime: Self.lifetime).title == "2")
    }

    @Test func `a call with reading .only sends no request, and fails without a stored response`() async throws {
        let topics = TopicAPI(client: try client())
        var stored = TopicAPI.topic(1, lifetime: Self.lifetime)
        stored.cache.reading = .only

        await #expect(throws: APIError(.cache(.invalidMetadata))) { try await topics.value(Topic.self, for: stored) }
        _ = try await topics.topic(1, lifetime: Self.lifetime)
        #expect(try await topics.value(Topic.self, for: stored).title == "1")
        #expect(requests == 1)
    }

    @Test func `a stale response is returned immediately while a new response is requested`() async throws {
        let topics = TopicAPI(client: try client())
        var configuration = TopicAPI.topic(1, lifetime: Self.lifetime)
        configuration.cache.staleWhileRevalidate = .seconds(600)
        let serializer = ResponseSerializer.decodable(Topic.self)
        _ = try await topics.response(for: configuration, with: serializer)
        clock.advance(by: .seconds(100))

        let stale = try await topics.response(for: configuration, with: serializer)
        #expect(stale.value.title == "1")
        #expect(stale.source == .staleCache(age: .seconds(100)))
        await until { topics.client.flights.count == 0 }
        #expect(try await topics.response(for: configuration, with: serializer).value.title == "2")
        clock.advance(by: .seconds(661))
        #expect(try await topics.response(for: configuration, with: serializer).source == .network)
    }

    @Test func `a stale response replaces an error of the server`() async throws {
        let topics = TopicAPI(client: try client())
        var configuration = TopicAPI.topic(1, lifetime: Self.lifetime)
        configuration.cache.staleIfError = .seconds(600)
        _ = try await topics.value(Topic.self, for: configuration)
        counter.fails.withLock { $0 = true }
        clock.advance(by: .seconds(100))

        let stale = try await topics.response(for: configuration, with: ResponseSerializer.decodable(Topic.self))
        #expect(stale.source == .staleCache(age: .seconds(100)))
        #expect(stale.value.title == "1")
        clock.advance(by: .seconds(600))
        await #expect(throws: APIError(.status(503))) { try await topics.value(Topic.self, for: configuration) }
    }
}
