import Dispatch
import Foundation
import SwitchyardClient
import SwitchyardDiskCache
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardAPI

/// Responses that are found on disk after the app restarts, through a manager.
@Suite(.timeLimit(.minutes(5)), .prompt) struct DiskRecallTests {
    private let folder = TemporaryFolder()
    private let clock = ManualClock()
    /// The wall clock that the tests set.
    private let date = Locked(Date(timeIntervalSince1970: 1_700_000_000))
    private let count = Locked(0)

    private var requests: Int { count.withLock { $0 } }

    /// Starts an app on the folder of the previous run; its server confirms with the given header fields.
    private func start(
        confirming confirmation: HTTPHeaders? = nil,
        appVersion: String? = "1.0",
        user: String? = nil,
        seal: DiskEncryption? = nil
    ) throws -> TopicAPI {
        let transport = StubTransport { [count] request in
            let number = count.withLock { count in
                count += 1
                return count
            }
            guard let confirmation else { return .json(#"{"id":1,"title":"\#(number)"}"#) }
            if request.headers["If-None-Match"] != nil { return .status(304, headers: confirmation) }
            let headers: HTTPHeaders = ["Content-Type": "application/json", "ETag": "1", "Cache-Control": "max-age=60"]
            return .status(200, headers: headers, body: Data(#"{"id":1,"title":"\#(number)"}"#.utf8))
        }
        let client = try NetworkClient.stubbed(transport, time: clock)
        let disk = try DiskCache(at: folder.url, appVersion: appVersion, seal: seal)
        client.responseCache = ResponseCache(disk: disk, time: clock) { [date] in date.withLock { $0 } }
        return TopicAPI(client: client, user: user)
    }

    private func flush(_ topics: TopicAPI) async throws {
        try await #require(topics.cache.disk as? DiskCache).flush()
    }

    private func configuration(_ change: (inout CachePolicy) -> Void = { _ in }) -> APIConfiguration {
        var configuration = TopicAPI.topic(1, lifetime: .seconds(60))
        change(&configuration.cache)
        return configuration
    }

    private func later(_ seconds: Double) {
        clock.advance(by: .seconds(seconds))
        date.withLock { $0 += seconds }
    }

    // The whole request is the key, and an unreadable entry is a miss.
    @Test func `the last response is available after a restart before any request is sent`() async throws {
        let first = try start()
        _ = try await first.topic(1, lifetime: .seconds(60))
        try await flush(first)
        later(10)

        let second = try start()
        let response = try await second.response(for: configuration(), with: ResponseSerializer.decodable(Topic.self))
        #expect(response.value.title == "1" && response.isFromCache && response.status == 200)
        #expect(response.source == .cache(age: .seconds(10)))
        later(50)
        #expect(try await second.topic(1, lifetime: .seconds(60)).title == "2")
    }

    /// Records whether it was decoded on the main queue.
    private struct DecodingProbe: Decodable, Sendable {
        static let mark = DispatchSpecificKey<Bool>()
        static var isOnMainQueue: Bool { DispatchQueue.getSpecific(key: mark) == true }

        let wasOnMainQueue: Bool

        init(from decoder: any Decoder) {
            wasOnMainQueue = Self.isOnMainQueue
        }
    }

    // A call from the main actor does no work on the main actor.
    @MainActor @Test func `the disk is read, and the stored body is decoded, outside the calling actor`()
        async throws
    {
        DispatchQueue.main.setSpecific(key: DecodingProbe.mark, value: true)
        let reads = Locked<[Bool]>([])
        let seal = DiskEncryption(seal: { $0 }) { data in
            reads.withLock { $0.append(DecodingProbe.isOnMainQueue) }
            return data
        }
        let first = try start(seal: seal)
        _ = try await first.topic(1, lifetime: .seconds(60))
        try await flush(first)

        #expect(DecodingProbe.isOnMainQueue)
        let answer = try await start(seal: seal).response(for: configuration(), with: .decodable(DecodingProbe.self))

        #expect(answer.isFromCache)
        #expect(!answer.value.wasOnMainQueue)
        #expect(reads.withLock { $0 } == [false])
    }

    @Test func `each call decodes a stored response with its own serializer`() async throws {
        let first = try start()
        _ = try await first.topic(1, lifetime: .seconds(60))
        try await flush(first)
        let second = try start()

        let text = #"{"id":1,"title":"1"}"#
        #expect(try await second.response(for: configuration(), with: .string).value == text)
        #expect(try await second.response(for: configuration(), with: .json).value["title"] == "1")
        #expect(try await second.response(for: configuration(), with: .data).value == Data(text.utf8))
        #expect(requests == 1)
    }

    @Test func `stored responses are checked in YTKNetwork's order and with YTKNetwork's error codes`()
        async throws
    {
        let first = try start()
        var stored = configuration()
        stored.cache.version = 1
        stored.cache.sensitiveData = "ada"
        _ = try await first.value(Topic.self, for: stored)
        try await flush(first)
        /// The YTKNetwork error code of a cache-only call.
        func refusal(_ appVersion: String? = "1.0", _ change: (inout APIConfiguration) -> Void) async throws -> Int? {
            var only = stored
            only.cache.reading = .only
            change(&only)
            let topics = try start(appVersion: appVersion)
            do throws(APIError) {
                _ = try await topics.value(Topic.self, for: only)
                return nil
            } catch {
                guard case .cache(let reason) = error.reason else { throw error }
                #expect(!error.message.isEmpty)
                return reason.rawValue
            }
        }

        #expect(try await refusal { _ in } == nil)
        #expect(try await refusal { $0.cache.version = 2 } == -2)
        #expect(try await refusal { $0.cache.sensitiveData = "bob" } == -3)
        #expect(try await refusal("1.1") { _ in } == -4)
        // The app decides whether its version is compared.
        #expect(try await refusal(nil) { _ in } == nil)
        #expect(try await refusal { $0.cacheLifetime = nil } == -5)
        #expect(try await refusal { $0.path = "topics/2" } == -6)
        // The first failed check decides.
        #expect(try await refusal("1.1") { $0.cache.version = 2 } == -2)
        later(60)
        #expect(try await refusal("1.1") { $0.cache.version = 2 } == -1)
        later(-61)
        #expect(try await refusal { _ in } == -1)
        later(1)
        let entry = try #require(folder.entries.first)
        try Data(contentsOf: entry).dropLast().write(to: entry)
        #expect(try await refusal { _ in } == -7)
        #expect(requests == 1)
    }

    @Test func `another cache version or other sensitive data leads to a new request`() async throws {
        let topics = try start()
        for (version, data, title) in [(0, "a", "1"), (0, "a", "1"), (1, "a", "2"), (1, "b", "3"), (1, "b", "3")] {
            let asked = configuration {
                $0.version = version
                $0.sensitiveData = data
            }
            #expect(try await topics.value(Topic.self, for: asked).title == title)
        }
        try await flush(topics)  // The test deletes its folder when it ends.
    }

    @Test func `a response that the app stores is returned to the call for which it was stored`() async throws {
        let topics = try start()
        let serializer = ResponseSerializer.decodable(Topic.self)
        let value = try topics.storeResponse(
            Data(#"{"id":1,"title":"gift"}"#.utf8),
            for: configuration(),
            with: serializer
        )
        #expect(value.title == "gift")
        try await flush(topics)

        #expect(try await topics.topic(1, lifetime: .seconds(60)).title == "gift")
        #expect(try await start().topic(1, lifetime: .seconds(60)).title == "gift")
        #expect(throws: APIError.self) {
            try topics.storeResponse(Data("{".utf8), for: configuration(), with: serializer)
        }
        #expect(throws: APIError(.cache(.invalidLifetime))) {
            try topics.storeResponse(Data(), for: TopicAPI.topic(1), with: serializer)
        }
        #expect(requests == 0)
    }

    @Test func `a willStore hook can prevent storing a response or change it`() async throws {
        let topics = try start()
        var asked = configuration { $0.willStore = { _ in nil } }
        for _ in 0..<2 { _ = try await topics.value(Topic.self, for: asked) }
        #expect(requests == 2)
        asked.cache.willStore = { answer in
            var changed = answer
            changed.body = Data(#"{"id":1,"title":"changed"}"#.utf8)
            changed.lifetime = .seconds(5)
            return changed
        }
        #expect(try await topics.value(Topic.self, for: asked).title == "3")
        #expect(try await topics.value(Topic.self, for: asked).title == "changed")
        later(5)
        #expect(try await topics.value(Topic.self, for: asked).title == "4")
        try await flush(topics)

        let client = topics.client
        client.responseCache = ResponseCache(defaults: .init { _ in nil }, time: clock)
        for _ in 0..<2 { _ = try await topics.value(Topic.self, for: configuration()) }
        #expect(requests == 6)
        asked.cache.willStore = { $0 }
        for _ in 0..<2 { _ = try await topics.value(Topic.self, for: asked) }
        #expect(requests == 7)
    }

    /// The stored response that a restarted app finds after the server confirmed it.
    private func confirmed(
        by confirmation: HTTPHeaders,
        _ configuration: APIConfiguration
    ) async throws -> APIResponse<Topic> {
        let topics = try start(confirming: confirmation)
        let serializer = ResponseSerializer.decodable(Topic.self)
        _ = try await topics.response(for: configuration, with: serializer)
        later(61)
        #expect(try await topics.response(for: configuration, with: serializer).source == .revalidated)
        try await flush(topics)
        return try await start().response(for: configuration, with: serializer)
    }

    @Test func `a 304 for a memory-only response does not update an older response on disk`() async throws {
        let number = Locked("1")
        func launched() throws -> TopicAPI {
            let transport = StubTransport { request in
                let number = number.withLock { $0 }
                if request.headers["If-None-Match"] == number { return .status(304) }
                let headers: HTTPHeaders = ["Content-Type": "application/json", "ETag": number]
                return .status(200, headers: headers, body: Data(#"{"id":1,"title":"\#(number)"}"#.utf8))
            }
            let client = try NetworkClient.stubbed(transport, time: clock)
            client.responseCache = ResponseCache(disk: try DiskCache(at: folder.url), time: clock)
            return TopicAPI(client: client)
        }
        let refresh = configuration { $0.reading = .never }
        let first = try launched()
        _ = try await first.value(Topic.self, for: refresh)
        number.withLock { $0 = "2" }
        let inMemory = configuration {
            $0.reading = .never
            $0.usesDisk = false
        }
        _ = try await first.value(Topic.self, for: inMemory)
        #expect(try await first.response(Topic.self, for: refresh).source == .revalidated)
        try await flush(first)

        #expect(try await launched().value(Topic.self, for: refresh).title == "2")
    }

    @Test func `cookies of a 304 response are not stored`() async throws {
        let answer = try await confirmed(by: ["Set-Cookie": "sid=s3cr3t"], configuration())

        #expect(answer.isFromCache && answer.headers["Set-Cookie"] == nil)
        let bytes = try Data(contentsOf: try #require(folder.entries.first))
        #expect(bytes.range(of: Data("s3cr3t".utf8)) == nil)
    }

    @Test func `a willStore hook changes the header fields of a 304 response`() async throws {
        let asked = configuration {
            $0.willStore = { answer in
                var changed = answer
                changed.headers.remove("X-Token")
                return changed
            }
        }

        let answer = try await confirmed(by: ["X-Token": "s3cr3t", "X-Other": "1"], asked)

        #expect(answer.isFromCache && answer.headers["X-Token"] == nil && answer.headers["X-Other"] == "1")
    }

    @Test func `a 304 response can shorten the lifetime of a stored response, even after a restart`() async throws {
        var only = configuration {
            $0.freshness = .http
        }
        _ = try await confirmed(by: ["Cache-Control": "max-age=10"], only)
        later(20)
        only.cache.reading = .only

        await #expect(throws: APIError(.cache(.expired))) { try await start().value(Topic.self, for: only) }
    }

    @Test func `a response is not stored if the willStore hook empties the cache`() async throws {
        let topics = try start()
        let cache = topics.cache
        let asked = configuration {
            $0.willStore = { answer in
                cache.removeAll()
                return answer
            }
        }

        _ = try await topics.value(Topic.self, for: asked)
        try await flush(topics)

        #expect(cache.count == 0 && folder.entries.isEmpty)
    }

    @Test func `a logout removes all responses of the user from memory and disk`() async throws {
        let ada = try start(user: "ada")
        let bob = TopicAPI(client: ada.client, user: "bob")
        for manager in [ada, bob] { _ = try await manager.topic(1, lifetime: .seconds(60)) }
        try await flush(ada)

        ada.removeResponses()
        try await flush(ada)

        #expect(folder.entries.count == 1 && ada.cache.count == 1)
        #expect(try await start(user: "ada").topic(1, lifetime: .seconds(60)).title == "3")
        #expect(try await start(user: "bob").topic(1, lifetime: .seconds(60)).title == "2")
    }

    @Test func `the responses of other calls stay when the response of one call is removed`() async throws {
        let topics = try start()
        for id in [1, 2] { _ = try await topics.topic(id, lifetime: .seconds(60)) }
        topics.removeResponse(for: configuration())
        try await flush(topics)

        #expect(folder.entries.count == 1)
        #expect(try await topics.topic(2, lifetime: .seconds(60)).title == "2")
        #expect(try await topics.topic(1, lifetime: .seconds(60)).title == "3")
    }

    @Test func `a response is not stored if its tag is removed while the request runs`() async throws {
        let transport = StubTransport { [clock] _ in
            .delayed(by: .seconds(1), on: clock, .json(#"{"id":1,"title":"old"}"#))
        }
        let topics = TopicAPI(client: try .stubbed(transport, time: clock))
        let old = Task { try await topics.topic(1, lifetime: .seconds(60)) }
        await transport.waitForRequests(1)
        topics.cache.removeAll(tagged: "topics")
        clock.advance(by: .seconds(1))

        #expect(try await old.value.title == "old")
        #expect(topics.cache.count == 0)
    }

    @Test func `cookies of a response are not stored on disk`() async throws {
        let transport = StubTransport { _ in
            .status(
                200,
                headers: ["Content-Type": "application/json", "Set-Cookie": "sid=s3cr3t"],
                body: Data(#"{"id":1,"title":"a"}"#.utf8)
            )
        }
        let client = try NetworkClient.stubbed(transport, time: clock)
        client.responseCache = ResponseCache(disk: try DiskCache(at: folder.url), time: clock)
        let topics = TopicAPI(client: client)
        let serializer = ResponseSerializer.decodable(Topic.self)
        #expect(try await topics.response(for: configuration(), with: serializer).headers["Set-Cookie"] != nil)
        try await flush(topics)

        #expect(try await topics.response(for: configuration(), with: serializer).headers["Set-Cookie"] == nil)
        let bytes = try Data(contentsOf: try #require(folder.entries.first))
        #expect(bytes.range(of: Data("s3cr3t".utf8)) == nil)
    }
}
