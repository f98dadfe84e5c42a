import Foundation
import SwitchyardClient
import SwitchyardDiskCache
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardAPI
@testable import SwitchyardResources

@Suite(.timeLimit(.minutes(5)), .prompt) struct ResourceTests {
    private let clock = ManualClock()
    private let count = Locked(0)
    private let fails = Locked(false)

    private var requests: Int { count.withLock { $0 } }

    private func manager() throws -> TopicAPI {
        let transport = StubTransport { [count, fails] _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return fails.withLock { $0 } ? .status(503) : .json(#"{"id":1,"title":"\#(number)"}"#)
        }
        return TopicAPI(client: try .stubbed(transport, time: clock))
    }

    /// A server that returns the number of the request as the title and delays the first responses by a second.
    private func numbered(late: Int) -> StubTransport {
        let answered = Locked(0)
        return StubTransport { [clock] _ in
            let number = answered.withLock { answered in
                answered += 1
                return answered
            }
            let answer = StubResponse.json(#"{"id":1,"title":"\#(number)"}"#)
            return number <= late ? .delayed(by: .seconds(1), on: clock, answer) : answer
        }
    }

    private func resource(_ topics: TopicAPI) -> APIResource<Topic> {
        topics.resource(for: TopicAPI.topic(1, lifetime: .seconds(60)))
    }

    @Test func `a resource has value, error, loading state and origin, and equal calls share one resource`()
        async throws
    {
        let topics = try manager()
        let topic = resource(topics)
        #expect(topic === resource(topics))
        #expect(topic !== topics.resource(Topic.self, for: TopicAPI.topic(2, lifetime: .seconds(60))))
        #expect(topic.snapshot.value == nil && topic.snapshot.error == nil && !topic.isLoading)

        #expect(try await topic.load().title == "1")
        #expect(topic.snapshot.value?.title == "1" && topic.snapshot.origin == .answer(.network))
        fails.withLock { $0 = true }
        await #expect(throws: APIError(.status(503))) { try await topic.load() }
        // The value stays after an error.
        #expect(topic.snapshot.value?.title == "1" && topic.snapshot.error == APIError(.status(503)))
        fails.withLock { $0 = false }
        try await topic.load()
        #expect(topic.snapshot.error == nil && topic.value?.title == "3")
    }

    @Test func `the updates of a resource deliver every change including the last state`() async throws {
        let topics = try manager()
        let topic = resource(topics)
        var states = topic.updates.makeAsyncIterator()
        #expect(await states.next()?.value == nil)
        #expect(topic.isObserved)
        let load = Task { try await topic.load() }
        var state = await states.next()
        while state?.value == nil || state?.isLoading == true { state = await states.next() }

        #expect(state?.value?.title == "1" && state?.isCurrent == true)
        _ = try await load.value
    }

    @Test func `loadIfNeeded loads only an old value, and waits after an error`() async throws {
        let topic = resource(try manager())
        #expect(try await topic.loadIfNeeded()?.title == "1")
        clock.advance(by: .milliseconds(59_999))
        #expect(try await topic.loadIfNeeded()?.title == "1")
        clock.advance(by: .milliseconds(1))
        fails.withLock { $0 = true }
        await #expect(throws: APIError.self) { try await topic.loadIfNeeded() }
        clock.advance(by: .seconds(1))
        #expect(try await topic.loadIfNeeded()?.title == "1")
        #expect(requests == 2)
        clock.advance(by: .milliseconds(1))
        fails.withLock { $0 = false }
        #expect(try await topic.loadIfNeeded()?.title == "3")
    }

    @Test func `a resource that begins with a stored response has the age of that response`() async throws {
        let topics = try manager()
        _ = try await topics.topic(1, lifetime: .seconds(60))
        clock.advance(by: .seconds(40))

        let topic = resource(topics)
        #expect(topic.value?.title == "1")
        #expect(topic.snapshot.age == .seconds(40) && topic.snapshot.isCurrent)
        clock.advance(by: .seconds(30))

        #expect(try await topic.loadIfNeeded()?.title == "2")
    }

    @Test func `a resource keeps an invalidated value as stale, and removes a wiped value`() async throws {
        let topic = resource(try manager())
        try await topic.load()
        topic.invalidate()
        #expect(topic.value?.title == "1" && !topic.snapshot.isCurrent)
        #expect(try await topic.loadIfNeeded()?.title == "2")

        topic.wipe()
        #expect(topic.value == nil && topic.snapshot.origin == nil)
        #expect(try await topic.loadIfNeeded()?.title == "3")
    }

    @Test func `a response that was requested before an invalidation does not count as current`() async throws {
        let transport = numbered(late: 2)
        let topic = resource(TopicAPI(client: try .stubbed(transport, time: clock)))
        let first = Task { try await topic.load() }
        await transport.waitForRequests(1)
        topic.invalidate()
        await clock.waitForTimers(1, in: .seconds(1))
        clock.advance(by: .seconds(1))
        #expect(try await first.value.title == "1")
        #expect(topic.value?.title == "1" && !topic.snapshot.isCurrent)

        let second = Task { try await topic.load() }
        await transport.waitForRequests(2)
        topic.invalidate()
        let third = Task { try await topic.loadIfNeeded() }
        await until { topic.state.withLock({ $0.flight?.waiting }) == 2 }
        await clock.waitForTimers(1, in: .seconds(1))
        clock.advance(by: .seconds(1))

        #expect(try await second.value.title == "2")
        #expect(try await third.value?.title == "3")
        #expect(topic.value?.title == "3" && topic.snapshot.isCurrent)
    }

    @Test(arguments: ["invalidated", "wiped", "overridden"])
    func `a load of a resource after an invalidate, wipe or override does not share an earlier request`(change: String)
        async throws
    {
        let transport = numbered(late: 1)
        let topics = TopicAPI(client: try .stubbed(transport, time: clock))
        let topic = resource(topics)
        let call = Task { try await topics.value(for: TopicAPI.topic(1, lifetime: .seconds(60))) as Topic }
        await transport.waitForRequests(1)

        switch change {
        case "invalidated": topic.invalidate()
        case "wiped": topic.wipe()
        default: topic.override(with: Topic(id: 1, title: "mine"))
        }
        #expect(try await topic.load().title == "2")

        await clock.waitForTimers(1, in: .seconds(1))
        clock.advance(by: .seconds(1))
        #expect(try await call.value.title == "1")
        #expect(topic.value?.title == "2")
    }

    @Test func `a load after a write to the path does not share an earlier load`() async throws {
        let transport = numbered(late: 1)
        let topics = TopicAPI(client: try .stubbed(transport, time: clock))
        let topic = resource(topics)
        let first = Task { try await topic.load() }
        await transport.waitForRequests(1)

        _ = try await topics.client.send(APIConfiguration(path: TopicAPI.topic(1).path, method: .put))
        let second = Task { try await topic.load() }
        await until { topic.state.withLock({ $0.flight?.waiting }) == 2 }
        await clock.waitForTimers(1, in: .seconds(1))
        clock.advance(by: .seconds(1))

        #expect(try await first.value.title == "1")
        #expect(try await second.value.title == "3")
        #expect(topic.value?.title == "3" && topic.snapshot.isCurrent)
    }

    @Test func `an invalidated resource requests a new value although a valid value is on disk`() async throws {
        let folder = TemporaryFolder()
        let call = TopicAPI.topic(1, lifetime: .seconds(60))
        func launched() throws -> TopicAPI {
            let topics = try manager()
            topics.client.responseCache = ResponseCache(disk: try DiskCache(at: folder.url), time: clock)
            return topics
        }
        let first = try launched()
        _ = try await first.value(Topic.self, for: call)
        try await #require(first.cache.disk as? DiskCache).flush()

        let topic = resource(try launched())
        topic.invalidate()

        #expect(try await topic.loadIfNeeded()?.title == "2")
        #expect(try await topic.loadIfNeeded()?.title == "2")
    }

    @Test func `an invalidated value does not count as current if a resource shows it in place of an error`()
        async throws
    {
        let topics = try manager()
        var call = TopicAPI.topic(1, lifetime: .seconds(60))
        call.cache.staleIfError = .seconds(3_600)
        let topic = topics.resource(Topic.self, for: call)
        try await topic.load()
        clock.advance(by: .seconds(10))
        topic.invalidate()
        fails.withLock { $0 = true }

        #expect(try await topic.load().title == "1")

        #expect(!topic.snapshot.isCurrent)
        fails.withLock { $0 = false }
        clock.advance(by: .seconds(2))
        #expect(try await topic.loadIfNeeded()?.title == "3")
    }

    @Test func `an override sets the value of a resource without a request and ends an active load`() async throws {
        let transport = StubTransport { _ in .never }
        let topics = TopicAPI(client: try .stubbed(transport, time: clock))
        let topic = resource(topics)
        let load = Task { try await topic.load() }
        await transport.waitForRequests(1)

        topic.override(with: Topic(id: 1, title: "mine"))

        await #expect(throws: APIError(.cancelled(.caller))) { try await load.value }
        #expect(topic.snapshot.value?.title == "mine" && topic.snapshot.origin == .local && topic.snapshot.isCurrent)
        await transport.waitUntilIdle()
    }

    @Test func `a load of a resource without observers is cancelled after a delay`() async throws {
        let transport = StubTransport { _ in .never }
        let topics = TopicAPI(client: try .stubbed(transport, time: clock))
        let topic = resource(topics)
        topic.startLoading()
        await transport.waitForRequests(1)
        topic.cancelLoadIfUnobserved(after: .seconds(5))
        #expect(topic.isLoading)
        clock.advance(by: .seconds(5))
        await transport.waitUntilIdle()
        #expect(!topic.isLoading && topic.snapshot.error == nil)

        topic.startLoading()
        var states = topic.updates.makeAsyncIterator()
        _ = await states.next()
        topic.cancelLoadIfUnobserved()
        #expect(topic.isLoading)
        topic.cancelLoad()
        await transport.waitUntilIdle()
    }

    @Test func `concurrent loads of a resource share one request, and each waiter can be cancelled alone`() async throws
    {
        let transport = StubTransport { [clock] _ in
            .delayed(by: .seconds(1), on: clock, .json(#"{"id":1,"title":"a"}"#))
        }
        let topics = TopicAPI(client: try .stubbed(transport, time: clock))
        let topic = resource(topics)
        let loads = (0..<5).map { _ in Task { try await topic.load() } }
        await until { topic.state.withLock({ $0.flight?.waiting }) == 5 }
        loads[0].cancel()
        await #expect(throws: APIError(.cancelled(.caller))) { try await loads[0].value }
        await clock.waitForTimers(1, in: .seconds(1))
        clock.advance(by: .seconds(1))

        for load in loads.dropFirst() { #expect(try await load.value.title == "a") }
        #expect(transport.requestCount == 1)
    }

    @Test func `calls with different sensitiveData have separate resources`() async throws {
        let topics = try manager()
        let resources = ["admin", "guest"].map { data in
            var call = TopicAPI.topic(1, lifetime: .seconds(60))
            call.cache.sensitiveData = data
            return topics.resource(Topic.self, for: call)
        }

        try await resources[0].load()

        #expect(resources[1].value == nil)
    }

    @Test func `a stale value that a resource shows in place of an error keeps its age and is loaded again`()
        async throws
    {
        let topics = try manager()
        var call = TopicAPI.topic(1, lifetime: .seconds(60))
        call.cache.staleIfError = .seconds(3_600)
        let topic = topics.resource(Topic.self, for: call)
        try await topic.load()
        clock.advance(by: .seconds(600))
        fails.withLock { $0 = true }
        try await topic.load()
        #expect(topic.snapshot.origin == .answer(.staleCache(age: .seconds(600))))
        #expect(topic.snapshot.age == .seconds(600) && !topic.snapshot.isCurrent && topic.snapshot.error == nil)

        fails.withLock { $0 = false }
        #expect(try await topic.loadIfNeeded()?.title == "1")
        clock.advance(by: .seconds(2))
        #expect(try await topic.loadIfNeeded()?.title == "3")
    }

    @Test func `a sequence of responses delivers the stored response before the server's response`() async throws {
        let topics = try manager()
        var configuration = TopicAPI.topic(1, lifetime: .seconds(60))
        configuration.cache.staleIfError = .seconds(600)
        let serializer = ResponseSerializer.decodable(Topic.self)
        func sources(skipsNetworkWhenFresh: Bool = false) async throws -> [ResponseSource] {
            var sources: [ResponseSource] = []
            let answers = topics.responses(
                for: configuration,
                with: serializer,
                skipsNetworkWhenFresh: skipsNetworkWhenFresh
            )
            for try await answer in answers { sources.append(answer.source) }
            return sources
        }

        #expect(try await sources() == [.network])
        clock.advance(by: .seconds(10))
        #expect(try await sources() == [.cache(age: .seconds(10)), .network])
        #expect(try await sources(skipsNetworkWhenFresh: true) == [.cache(age: .zero)])
        clock.advance(by: .seconds(70))
        #expect(try await sources(skipsNetworkWhenFresh: true) == [.staleCache(age: .seconds(70)), .network])
        #expect(requests == 3)
    }

    @Test func `a sequence of responses delivers the stored response before the error of the server`() async throws {
        let topics = try manager()
        let configuration = TopicAPI.topic(1, lifetime: .seconds(60))
        let serializer = ResponseSerializer.decodable(Topic.self)
        _ = try await topics.response(for: configuration, with: serializer)
        fails.withLock { $0 = true }

        var answers = topics.responses(for: configuration, with: serializer).makeAsyncIterator()
        #expect(try await answers.next()?.value.title == "1")
        await #expect(throws: APIError(.status(503))) { try await answers.next() }
        #expect(try await answers.next() == nil)
    }

    @Test func `a resource applies the rules that the client has when it loads`() async throws {
        let transport = numbered(late: 0)
        let client = try NetworkClient.stubbed(transport, time: clock)
        let topic = resource(TopicAPI(client: client))
        try await topic.load()

        client.rules.add("/**") { $0.headers.add("X-Rule", "1") }
        try await topic.load()
        client.rules = ConfigurationRules()
        try await topic.load()

        #expect(transport.requests.map { $0.headers.values(of: "X-Rule") } == [[], ["1"], []])
    }
}
