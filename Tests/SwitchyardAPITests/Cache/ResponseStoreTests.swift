import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardResources
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardAPI
@testable import SwitchyardDiskCache

/// A store of the app in place of the disk cache.
@Suite(.timeLimit(.minutes(5)), .prompt) struct ResponseStoreTests {
    /// Keeps responses in a dictionary.
    private final class Shelf: ResponseStore {
        let appVersion: String? = nil
        let answers = Locked<[CacheKey: StoredResponse]>([:])
        /// A closure that runs during a lookup.
        let whileAsked = Locked<@Sendable () -> Void> {}

        func answer(for key: CacheKey) async throws(APIError.CacheReason) -> StoredResponse {
            defer { whileAsked.withLock { $0 }() }
            guard let answer = answers.withLock({ $0[key] }) else { throw .invalidMetadata }
            return answer
        }

        func store(_ answer: StoredResponse, for key: CacheKey) {
            answers.withLock { $0[key] = answer }
        }

        func confirm(_ key: CacheKey, by answer: StoredResponse) {
            answers.withLock { $0[key]?.take(from: answer) }
        }

        func remove(_ key: CacheKey) {
            answers.withLock { $0[key] = nil }
        }

        func removeAll(where rule: @escaping @Sendable (ResponseCache.Candidate) -> Bool) {
            answers.withLock { $0 = [:] }
        }

        func removeAll(in partition: CachePartition) {
            answers.withLock { answers in answers = answers.filter { $0.key.parts.partition != partition } }
        }

        func removeUnnamed(in partition: CachePartition) { removeAll(in: partition.withoutUser) }

        func recordChange(of path: String, in partition: CachePartition, at date: Date) {}

        func lastChange(of path: String, in partition: CachePartition) async -> Date? { nil }
    }

    private let shelf = Shelf()
    private let clock = ManualClock()
    private let date = Locked(Date(timeIntervalSince1970: 1_700_000_000))

    /// A newly started manager and its server.
    private func start() throws -> (TopicAPI, StubTransport) {
        let transport = StubTransport { request in
            if request.headers["If-None-Match"] == "\"1\"" { return .status(304) }
            let headers: HTTPHeaders = ["Content-Type": "application/json", "ETag": "\"1\""]
            return .status(200, headers: headers, body: Data(#"{"id":1,"title":"a"}"#.utf8))
        }
        let client = try NetworkClient.stubbed(transport, time: clock)
        client.responseCache = ResponseCache(disk: shelf, time: clock) { [date] in date.withLock { $0 } }
        return (TopicAPI(client: client), transport)
    }

    @Test func `raw responses are kept in a custom store in addition to the values in memory`() async throws {
        let (first, asked) = try start()
        _ = try await first.topic(1, lifetime: .seconds(60))
        #expect(shelf.answers.withLock { $0.values.map(\.body) } == [Data(#"{"id":1,"title":"a"}"#.utf8)])

        let (second, notAsked) = try start()
        #expect(try await second.topic(1, lifetime: .seconds(60)).title == "a")
        #expect(asked.requestCount == 1 && notAsked.requestCount == 0)
        second.cache.removeAll()
        #expect(shelf.answers.withLock { $0.isEmpty })
    }

    @Test func `stored responses with the same content are equal`() {
        let now = Date(timeIntervalSince1970: 0)
        let answers = [(200, "a"), (200, "a"), (203, "a"), (200, "b")].map { status, body in
            StoredResponse(status: status, body: Data(body.utf8), created: now, lifetime: .seconds(1))
        }

        #expect(answers[0] == answers[1])
        #expect(Set(answers).count == 3)
    }

    @Test func `a call ends if the app switches the environment while the response store is read`() async throws {
        let (topics, transport) = try start()
        shelf.whileAsked.withLock { $0 = { try? topics.client.switchEnvironment(to: "test") } }

        let error = await #expect(throws: APIError.self) { try await topics.topic(1, lifetime: .seconds(60)) }

        #expect(error?.reason == .cancelled(.caller))
        #expect(transport.requests.isEmpty)
        #expect(topics.cache.count == 0 && shelf.answers.withLock { $0.isEmpty })
    }

    @Test func `a response is not stored for the first user if the user changes while the response store is read`()
        async throws
    {
        let user = Locked("ada")
        let transport = StubTransport { _ in .json(#"{"id":1,"title":"\#(user.withLock { $0 })"}"#) }
        let client = try NetworkClient.stubbed(transport, time: clock)
        client.responseCache = ResponseCache(disk: shelf, time: clock) { [date] in date.withLock { $0 } }
        let topics = TopicAPI(client: client, user: "ada")
        shelf.whileAsked.withLock { asked in
            asked = {
                user.withLock { $0 = "grace" }
                topics.user.withLock { $0 = "grace" }
            }
        }
        _ = try await topics.topic(1, lifetime: .seconds(60))
        shelf.whileAsked.withLock { $0 = {} }
        user.withLock { $0 = "ada" }
        topics.user.withLock { $0 = "ada" }

        #expect(topics.cache.count == 0 && shelf.answers.withLock { $0.isEmpty })
        #expect(try await topics.topic(1, lifetime: .seconds(60)).title == "ada")
        #expect(topics.cache.count == 1)
    }

    @Test func `a response that arrives while the response store is read is not replaced by the stored response`()
        async throws
    {
        let (first, _) = try start()
        _ = try await first.topic(1, lifetime: .seconds(60))
        let (topics, transport) = try start()
        let call = TopicAPI.topic(1, lifetime: .seconds(60))
        shelf.whileAsked.withLock { asked in
            asked = {
                let body = Data(#"{"id":1,"title":"b"}"#.utf8)
                _ = try? topics.storeResponse(body, for: call, with: .decodable(Topic.self))
            }
        }
        _ = try await topics.value(Topic.self, for: call)

        #expect(try await topics.value(Topic.self, for: call).title == "b")
        #expect(transport.requestCount == 0)
    }

    /// A time source that runs a closure at its next use.
    private final class InterruptedTime: TimeSource {
        let interruption = Locked<(@Sendable () -> Void)?>(nil)

        var now: MonotonicTime {
            interruption.withLock { interruption in
                defer { interruption = nil }
                return interruption
            }?()
            return .zero
        }

        func schedule(at deadline: MonotonicTime, _ action: @escaping @Sendable () -> Void) -> any ScheduledTimer {
            ManualClock().schedule(at: deadline, action)
        }
    }

    @Test func `a response that the app removes while the cache stores it does not stay in the cache`() async throws {
        let (topics, _) = try start()
        let time = InterruptedTime()
        let cache = ResponseCache(disk: shelf, time: time) { [date] in date.withLock { $0 } }
        topics.client.responseCache = cache
        var call = TopicAPI.topic(1, lifetime: .seconds(60))
        // The hook is the last step before the cache reads its clock to store the response.
        call.cache.willStore = { answer in
            time.interruption.withLock { $0 = { topics.removeResponses() } }
            return answer
        }
        _ = try await topics.value(Topic.self, for: call)

        #expect(cache.count == 0 && shelf.answers.withLock { $0.isEmpty })
    }

    @Test func `if the app wipes a resource while the response store is read, the stored response is not used`()
        async throws
    {
        let (first, _) = try start()
        _ = try await first.topic(1, lifetime: .seconds(60))
        let (second, transport) = try start()
        let topic = second.resource(Topic.self, for: TopicAPI.topic(1, lifetime: .seconds(60)))
        shelf.whileAsked.withLock { $0 = { topic.wipe() } }

        try await topic.loadIfNeeded()

        #expect(transport.requestCount == 1)
    }

    @Test func `after a restart, a response that varies by User-Agent is not returned to another User-Agent`()
        async throws
    {
        func title(_ agent: String) async throws -> String {
            let transport = StubTransport { request in
                let headers: HTTPHeaders = [
                    "Content-Type": "application/json", "Cache-Control": "max-age=600", "Vary": "User-Agent",
                ]
                let agent = request.headers["User-Agent"] ?? ""
                return .status(200, headers: headers, body: Data(#"{"id":1,"title":"\#(agent)"}"#.utf8))
            }
            let client = try NetworkClient.stubbed(transport, time: clock)
            client.responseCache = ResponseCache(disk: shelf, time: clock) { [date] in date.withLock { $0 } }
            var call = TopicAPI.topic(1, lifetime: .seconds(60))
            call.cache.freshness = .http
            call.headers.set("User-Agent", agent)
            return try await TopicAPI(client: client).value(Topic.self, for: call).title
        }

        #expect(try await title("phone") == "phone")
        #expect(try await title("desk") == "desk")
    }

    @Test func `with usesDisk set to false, a response is stored in memory only`() async throws {
        let (topics, _) = try start()
        var memoryOnly = TopicAPI.topic(1, lifetime: .seconds(60))
        memoryOnly.cache.usesDisk = false
        _ = try await topics.value(Topic.self, for: memoryOnly)

        #expect(shelf.answers.withLock { $0.isEmpty } && topics.cache.count == 1)
    }

    @Test func `a stale stored response is revalidated after a restart and is fresh afterwards`()
        async throws
    {
        let (first, _) = try start()
        _ = try await first.topic(1, lifetime: .seconds(60))
        date.withLock { $0 += 100 }

        let (second, transport) = try start()
        let serializer = ResponseSerializer.decodable(Topic.self)
        let response = try await second.response(for: TopicAPI.topic(1, lifetime: .seconds(60)), with: serializer)
        #expect(response.source == .revalidated && response.value.title == "a")
        #expect(transport.requests.map { $0.headers["If-None-Match"] } == ["\"1\""])
        #expect(shelf.answers.withLock { $0.values.first?.created } == date.withLock { $0 })
    }

    @Test(arguments: [Double.nan, -.infinity, 1e300, -1e300])
    func `a stored response with an impossible creation date is fetched again`(created: Double) async throws {
        let (first, _) = try start()
        _ = try await first.topic(1, lifetime: .seconds(60))
        shelf.answers.withLock { answers in
            for key in answers.keys { answers[key]?.created = Date(timeIntervalSince1970: created) }
        }

        let (second, transport) = try start()
        #expect(try await second.topic(1, lifetime: .seconds(60)).title == "a")
        #expect(transport.requestCount == 1)
    }

    @Test func `stored responses expire if the clock was set back`() async throws {
        let (first, _) = try start()
        _ = try await first.topic(1, lifetime: .seconds(60))
        date.withLock { $0 -= 86_400 }

        // In memory the monotonic clock counts; a stored response from the future is not used.
        #expect(try await first.topic(1, lifetime: .seconds(60)).title == "a")
        let (second, transport) = try start()
        _ = try await second.topic(1, lifetime: .seconds(60))
        #expect(transport.requestCount == 1)
    }

    @Test func `cache keys are compared by SHA-256 in a custom store, and by the whole text in memory`() {
        let key = CacheKey(CachePartition(service: "a", environment: "b"), path: "/c")

        #expect(key.fingerprint == MessageDigest.sha256(key.data) && key.fingerprint.count == 32)
        #expect(key.data == CacheKey(CachePartition(service: "a", environment: "b"), path: "/c").data)
    }
}
