import Dispatch
import Foundation
import SwitchyardAPI
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardRequests
import SwitchyardServices
import SwitchyardTesting
import Testing

@Suite(.timeLimit(.minutes(5)), .prompt) struct CompletionTests {
    private static let queue = DispatchQueue(label: "completion-tests")

    /// Counts the results of a completion handler.
    private final class Outcomes: Sendable {
        private let list = Locked<[Result<Topic, APIError>]>([])

        var all: [Result<Topic, APIError>] { list.withLock { $0 } }

        func add(_ result: Result<Topic, APIError>) { list.withLock { $0.append(result) } }
    }

    private static func call(
        _ topics: TopicAPI,
        _ configuration: APIConfiguration = TopicAPI.topic(1),
        _ use: (RequestID) -> Void = { _ in }
    ) async -> Result<Topic, APIError> {
        await withCheckedContinuation { continuation in
            use(topics.value(Topic.self, for: configuration, on: queue) { continuation.resume(returning: $0) })
        }
    }

    // The ID is returned before the completion, also for a stored response.
    @Test func `every call has its own ID, which is returned before the completion handler is called`()
        async throws
    {
        let topics = TopicAPI(client: try .stubbed(StubTransport { _ in Topic.answer }))
        let names = Locked<[RequestID]>([])
        let cacheable = TopicAPI.topic(1, lifetime: .seconds(60))

        for configuration in [TopicAPI.topic(1), cacheable, cacheable] {
            let order = Locked<[String]>([])
            let result = await withCheckedContinuation { continuation in
                Self.queue.sync {
                    let id = topics.value(Topic.self, for: configuration, on: Self.queue) { result in
                        order.withLock { $0.append("answer") }
                        continuation.resume(returning: result)
                    }
                    order.withLock { $0.append("name") }
                    names.withLock { $0.append(id) }
                }
            }
            #expect(try result.get().id == 1)
            #expect(order.withLock { $0 } == ["name", "answer"])
        }

        #expect(Set(names.withLock { $0 }).count == 3)
    }

    @Test func `the completion handler of a call runs on the chosen queue`() async throws {
        let topics = TopicAPI(client: try .stubbed(StubTransport { _ in Topic.answer }))
        let isThere: Bool = await withCheckedContinuation { continuation in
            topics.value(Topic.self, for: TopicAPI.topic(1), on: Self.queue) { _ in
                dispatchPrecondition(condition: .onQueue(Self.queue))
                continuation.resume(returning: true)
            }
        }

        #expect(isThere)
    }

    // A cancelled call ends like any other call.
    @Test(arguments: [nil, Duration.seconds(60)])
    func `a call that is cancelled by its ID ends once`(lifetime: Duration?) async throws {
        let transport = StubTransport { _ in .never }
        let topics = TopicAPI(client: try .stubbed(transport))

        let result = await Self.call(topics, TopicAPI.topic(1, lifetime: lifetime)) { id in
            #expect(topics.activeRequests.contains(id))
            topics.cancel(id)
            topics.cancel(id)
        }

        #expect(throws: APIError(.cancelled(.caller))) { try result.get() }
        await transport.waitUntilIdle()
        #expect(!topics.isLoading)
    }

    @Test(arguments: [nil, Duration.seconds(60)])
    func `cancelAll ends every call of the manager and no call of another manager`(lifetime: Duration?)
        async throws
    {
        let transport = StubTransport { _ in .never }
        let client = try NetworkClient.stubbed(transport)
        let topics = TopicAPI(client: client)
        let others = TopicAPI(client: client)
        let other = Task { await Self.call(others, TopicAPI.topic(99)) }
        let calls = (0..<20).map { number in
            Task { await Self.call(topics, TopicAPI.topic(number, lifetime: lifetime)) }
        }
        await transport.waitForRequests(21)

        topics.cancelAll()

        for call in calls {
            let result = await call.value
            #expect(throws: APIError(.cancelled(.caller))) { try result.get() }
        }
        #expect(!topics.isLoading)
        #expect(others.isLoading)
        others.cancelAll()
        _ = await other.value
    }

    @Test(arguments: [nil, Duration.seconds(60)])
    func `the error of a cancellation is formatted by the module`(lifetime: Duration?) async throws {
        var module = APIModule()
        module.formatError = { APIError($0.reason, serverMessage: "formatted") }
        let transport = StubTransport { _ in .never }
        let topics = TopicAPI(client: try .stubbed(transport), module: module)
        let call = TopicAPI.topic(1, lifetime: lifetime)
        let task = Task { try await topics.value(Topic.self, for: call) }
        #expect(await transport.waitForRequests(1))
        task.cancel()
        let object = topics.request(Topic.self, for: call, on: Self.queue)
        object.cancel()

        let formatted = APIError(.cancelled(.caller), serverMessage: "formatted")
        await #expect(throws: formatted) { try await task.value }
        await #expect(throws: formatted) { try await object.value() }
        let result = await Self.call(topics, call) { topics.cancel($0) }
        #expect(throws: formatted) { try result.get() }
    }

    // A call does not keep its manager alive.
    @Test(arguments: [nil, Duration.seconds(60)])
    func `releasing the manager ends its calls`(lifetime: Duration?) async throws {
        let transport = StubTransport { _ in .never }
        let client = try NetworkClient.stubbed(transport)
        let result = Locked<Result<Topic, APIError>?>(nil)
        let ended = DispatchSemaphore(value: 0)
        do {
            let topics = TopicAPI(client: client)
            topics.value(Topic.self, for: TopicAPI.topic(1, lifetime: lifetime), on: Self.queue) { outcome in
                result.withLock { $0 = outcome }
                ended.signal()
            }
            await transport.waitForRequests(1)
        }

        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                ended.wait()
                continuation.resume()
            }
        }

        #expect(throws: APIError(.cancelled(.ownerReleased))) { try result.withLock { $0 }?.get() }
        await transport.waitUntilIdle()
    }

    // Each call has its own state and always ends, with any threads.
    @Test func `each of 500 randomly cancelled calls ends exactly once`() async throws {
        let topics = TopicAPI(client: try .stubbed(StubTransport { _ in Topic.answer }))
        let outcomes = Outcomes()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<500 {
                group.addTask {
                    let lifetime: Duration? = number % 2 == 0 ? .seconds(60) : nil
                    let configuration = TopicAPI.topic(number % 7, lifetime: lifetime)
                    let result = await Self.call(topics, configuration) { id in
                        if number % 3 == 0 { Self.queue.async { topics.cancel(id) } }
                    }
                    outcomes.add(result)
                }
            }
        }

        #expect(outcomes.all.count == 500)
        #expect(!topics.isLoading)
    }
}
