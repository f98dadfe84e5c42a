import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardAPI

@Suite(.timeLimit(.minutes(5)), .prompt) struct SingleFlightTests {
    private static let lifetime = Duration.seconds(60)

    @Test func `one hundred concurrent calls for the same uncached response make one request`() async throws {
        let clock = ManualClock()
        let transport = StubTransport { _ in .delayed(by: .seconds(1), on: clock, Topic.answer) }
        let client = try NetworkClient.stubbed(transport, time: clock)
        let calls = (0..<100).map { number in
            let topics = TopicAPI(client: client)
            return Task { try await topics.topic(1, lifetime: Self.lifetime) }
        }
        await transport.waitForRequests(1)
        await until { client.waiting >= 100 }
        clock.advance(by: .seconds(1))

        for call in calls { #expect(try await call.value.id == 1) }
        #expect(transport.requestCount == 1)
        #expect(client.flights.count == 0)
    }

    @Test func `the failure of a shared request reaches all waiting calls, and the next call makes a new request`()
        async throws
    {
        let clock = ManualClock()
        let transport = StubTransport { _ in .delayed(by: .seconds(1), on: clock, .status(404)) }
        let client = try NetworkClient.stubbed(transport, time: clock)
        let topics = TopicAPI(client: client)
        let calls = (0..<3).map { _ in Task { try await topics.topic(1, lifetime: Self.lifetime) } }
        await until { client.waiting >= 3 }
        await transport.waitForRequests(1)
        clock.advance(by: .seconds(1))

        for call in calls { await #expect(throws: APIError(.status(404))) { try await call.value } }
        let again = Task { try await topics.topic(1, lifetime: Self.lifetime) }
        await transport.waitForRequests(2)
        again.cancel()
        await transport.waitUntilIdle()
    }

    @Test func `a shared request that was cancelled before its start is cancelled when it starts`() async {
        let (door, end) = (Latch(), AsyncStream.makeStream(of: Bool.self))
        let flight = SingleFlight<Int>(needsWaiters: true) { _ in }
        flight.cancel()

        flight.start {
            await door.wait()
            end.continuation.yield(Task.isCancelled)
            return .failure(APIError(.cancelled(.caller)))
        }
        door.open()

        #expect(await end.stream.first { _ in true } == true)
    }

    @Test func `a request that was abandoned before its start is not shared with later calls`() async {
        let isGivenUp = Locked(false)
        // A caller joins and leaves after the request was registered and before it starts.
        let flight = SingleFlight<Int>(needsWaiters: true) { _ in isGivenUp.withLock { $0 = true } }
        await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            _ = await flight.ending()
        }.value

        #expect(isGivenUp.withLock { $0 })
        flight.start { .failure(APIError(.cancelled(.caller))) }
        guard case .gone = await flight.ending() else {
            Issue.record("expected an abandoned request")
            return
        }
    }

    @Test
    func `a cancelled call leaves the shared request to other calls, and the last cancelled call ends the request`()
        async throws
    {
        let transport = StubTransport { _ in .never }
        let client = try NetworkClient.stubbed(transport)
        let topics = TopicAPI(client: client)
        let first = Task { try await topics.topic(1, lifetime: Self.lifetime) }
        let second = Task { try await topics.topic(1, lifetime: Self.lifetime) }
        await until { client.waiting >= 2 }
        await transport.waitForRequests(1)

        first.cancel()
        await #expect(throws: APIError(.cancelled(.caller))) { try await first.value }
        #expect(transport.openExchanges == 1)
        second.cancel()
        await #expect(throws: APIError(.cancelled(.caller))) { try await second.value }
        await transport.waitUntilIdle()
        #expect(client.flights.count == 0)
    }

    @Test func `a shared request continues for other calls after one manager is released`() async throws {
        let clock = ManualClock()
        let transport = StubTransport { _ in .delayed(by: .seconds(1), on: clock, Topic.answer) }
        let client = try NetworkClient.stubbed(transport, time: clock)
        let stays = TopicAPI(client: client)
        var goes: TopicAPI? = TopicAPI(client: client)
        goes?.value(Topic.self, for: TopicAPI.topic(1, lifetime: Self.lifetime)) { _ in }
        await transport.waitForRequests(1)
        let call = Task { try await stays.topic(1, lifetime: Self.lifetime) }
        await until { client.waiting >= 2 }

        goes = nil
        await until { client.waiting <= 1 }
        clock.advance(by: .seconds(1))

        #expect(try await call.value.id == 1)
        #expect(transport.requestCount == 1)
    }

    @Test func `cancelAll ends the waiting calls of one manager only`() async throws {
        let clock = ManualClock()
        let transport = StubTransport { _ in .delayed(by: .seconds(1), on: clock, Topic.answer) }
        let client = try NetworkClient.stubbed(transport, time: clock)
        let (one, two) = (TopicAPI(client: client), TopicAPI(client: client))
        let ends = Task { try await one.topic(1, lifetime: Self.lifetime) }
        let stays = Task { try await two.topic(1, lifetime: Self.lifetime) }
        await until { !one.activeRequests.isEmpty && !two.activeRequests.isEmpty }
        await transport.waitForRequests(1)

        one.cancelAll()

        await #expect(throws: APIError(.cancelled(.caller))) { try await ends.value }
        #expect(!one.isLoading && two.activeRequests.count == 1)
        clock.advance(by: .seconds(1))
        #expect(try await stays.value.id == 1)
        #expect(!two.isLoading)
    }

    @Test func `a read after a PUT with removesTags does not share the request of an earlier read`() async throws {
        let clock = ManualClock()
        let reads = Locked(0)
        let transport = StubTransport { request in
            guard request.method == .get else { return .status(204) }
            let number = reads.withLock { reads in
                reads += 1
                return reads
            }
            return .delayed(by: .seconds(1), on: clock, .json(#"{"id":1,"title":"\#(number)"}"#))
        }
        let client = try NetworkClient.stubbed(transport, time: clock)
        let topics = TopicAPI(client: client)
        let before = Task { try await topics.topic(1, lifetime: Self.lifetime) }
        await transport.waitForRequests(1)
        var change = APIConfiguration(path: "topics/1", method: .put)
        change.cache.removesTags = ["topics"]
        try await topics.send(change)

        let after = Task { try await topics.topic(1, lifetime: Self.lifetime) }
        await until { client.waiting >= 2 }
        await clock.waitForTimers(client.flights.count, in: .seconds(1))
        clock.advance(by: .seconds(1))

        #expect(try await before.value.title == "1")
        #expect(try await after.value.title == "2")
        // The response that was requested after the change is stored, whichever response arrives last.
        #expect(try await topics.topic(1, lifetime: Self.lifetime).title == "2")
    }

    @Test
    func `the response of an earlier request does not replace a response that was stored after the request started`()
        async throws
    {
        let clock = ManualClock()
        let transport = StubTransport { _ in
            .delayed(by: .seconds(1), on: clock, .json(#"{"id":1,"title":"old"}"#))
        }
        let topics = TopicAPI(client: try .stubbed(transport, time: clock))
        let call = TopicAPI.topic(1, lifetime: Self.lifetime)
        let fetch = Task { try await topics.value(Topic.self, for: call) }
        await transport.waitForRequests(1)
        try topics.storeResponse(
            Data(#"{"id":1,"title":"new"}"#.utf8),
            for: call,
            with: .decodable(Topic.self)
        )
        await clock.waitForTimers(1, in: .seconds(1))
        clock.advance(by: .seconds(1))

        #expect(try await fetch.value.title == "old")
        #expect(try await topics.value(Topic.self, for: call).title == "new")
        #expect(transport.requestCount == 1)
    }

    @Test func `a call that shares a request ends at its own deadline`() async throws {
        let clock = ManualClock()
        let transport = StubTransport { _ in .never }
        let client = try NetworkClient.stubbed(transport, time: clock)
        let topics = TopicAPI(client: client)
        let patient = Task { try await topics.topic(within: .seconds(60)) }
        await transport.waitForRequests(1)
        let other = Task { try await topics.topic(within: .seconds(5)) }
        await clock.waitForTimers(1, in: .seconds(5))

        clock.advance(by: .seconds(5))

        await #expect(throws: APIError(.limited(.deadline))) { try await other.value }
        #expect(client.waiting == 1)
        patient.cancel()
        await #expect(throws: APIError(.cancelled(.caller))) { try await patient.value }
    }

    @Test func `a call that joined a shared request later waits until its own deadline, not the first call's deadline`()
        async throws
    {
        let clock = ManualClock()
        let answers = Locked<[StubResponse]>([.never, Topic.answer])
        let transport = StubTransport { _ in answers.withLock { $0.removeFirst() } }
        let client = try NetworkClient.stubbed(transport, time: clock)
        let topics = TopicAPI(client: client)
        let first = Task { try await topics.topic(within: .seconds(5)) }
        await transport.waitForRequests(1)
        await clock.waitForTimers(1, in: .seconds(5))
        clock.advance(by: .seconds(4))
        let later = Task { try await topics.topic(within: .seconds(5)) }
        await clock.waitForTimers(1, in: .seconds(5))

        clock.advance(by: .seconds(1))

        await #expect(throws: APIError(.limited(.deadline))) { try await first.value }
        #expect(try await later.value.id == 1)
        #expect(transport.requestCount == 2)
    }

    @Test func `no call that shares a request is lost when calls are cancelled at random`() async throws {
        let transport = StubTransport { _ in Topic.answer }
        let client = try NetworkClient.stubbed(transport)
        let ended = Locked(0)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<1_000 {
                group.addTask {
                    let topics = TopicAPI(client: client)
                    let call = Task { try await topics.topic(number % 3, lifetime: .nanoseconds(1)) }
                    if number % 2 == 0 { call.cancel() }
                    _ = await call.result
                    ended.withLock { $0 += 1 }
                }
            }
        }

        #expect(ended.withLock { $0 } == 1_000)
        #expect(client.flights.count == 0)
    }

    /// Changes of a call that can make its fetch fail or wait.
    static let settings: [String: @Sendable (inout APIConfiguration) -> Void] = [
        "priority": { $0.priority = .low }, "idle timeout": { $0.idleTimeout = .seconds(1) },
        "connect timeout": { $0.connectTimeout = .seconds(1) }, "size limit": { $0.responseBodyLimit = 1_000 },
        "network": { $0.networkAccess.allowsCellular = false }, "retries": { $0.retry = .never },
        "limit": { $0.limits = [ConcurrencyLimit(total: 1)] },
    ]

    @Test(arguments: settings.keys.sorted())
    func `calls share no fetch if they differ in a setting that can make the fetch fail`(setting: String) async throws {
        let transport = StubTransport { _ in .never }
        let client = try NetworkClient.stubbed(transport)
        let topics = TopicAPI(client: client)
        var other = TopicAPI.topic(1, lifetime: Self.lifetime)
        let change = try #require(Self.settings[setting])
        change(&other)
        let calls = [TopicAPI.topic(1, lifetime: Self.lifetime), other, other].map { call in
            Task { try await topics.value(Topic.self, for: call) }
        }
        await until { client.waiting >= 3 }
        await transport.waitForRequests(2)

        #expect(client.flights.count == 2)
        for call in calls { call.cancel() }
        await transport.waitUntilIdle()
    }

    @Test(arguments: ["If-None-Match", "If-Modified-Since", "Cookie"])
    func `calls that differ in a header field that affects the response share no fetch`(field: String) async {
        let table = SingleFlightTable()
        func isNew(_ value: String) -> Bool {
            table.join(
                CacheKey(CachePartition(service: "topics", environment: "test"), path: "/a"),
                CacheStamp(),
                as: Int.self,
                asking: HTTPHeaders([.init(name: field, value: value)]),
                after: CacheChanges(removals: 0, writes: 0),
                needsWaiters: false
            ) {
                .failure(APIError(.cancelled(.caller)))
            }
            .isNew
        }

        #expect(isNew("1"))
        #expect(isNew("2"))
    }
}

extension NetworkClient {
    /// The number of calls that wait for a shared request.
    fileprivate var waiting: Int { flights.waiting }
}

extension TopicAPI {
    /// The first topic, from the cache if it is stored.
    fileprivate func topic(within timeout: Duration) async throws(APIError) -> Topic {
        var configuration = Self.topic(1, lifetime: .seconds(60))
        configuration.timeout = timeout
        return try await value(for: configuration)
    }
}
