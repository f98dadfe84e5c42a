import SwitchyardClient
import SwitchyardFixtures
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardAPI
@testable import SwitchyardResources

@Suite(.timeLimit(.minutes(5)), .prompt) struct RetryDelayTests {
    private let clock = ManualClock()

    /// A resource whose first load has failed.
    private func failed(_ delay: Duration) async throws -> APIResource<String> {
        let transport = StubTransport(answers: [.status(503), .status(200)])
        let topics = TopicAPI(client: try .stubbed(transport, time: clock))
        let topic = topics.resource(for: TopicAPI.topic(1), with: .string, options: .init(retryDelay: delay))
        await #expect(throws: APIError(.status(503))) { try await topic.load() }
        return topic
    }

    @Test func `loadIfNeeded sends no request until the retry delay after an error has passed`() async throws {
        let topic = try await failed(.seconds(1))
        clock.advance(by: .seconds(1))
        #expect(try await topic.loadIfNeeded() == nil)
        clock.advance(by: .milliseconds(1))
        #expect(try await topic.loadIfNeeded() != nil)
    }

    @Test func `loadIfNeeded sends a request immediately after an error if the retry delay is zero`() async throws {
        let topic = try await failed(.zero)
        #expect(try await topic.loadIfNeeded() != nil)
    }

    @Test func `loadIfNeeded sends a request immediately after an error if the resource was invalidated`()
        async throws
    {
        let topic = try await failed(.seconds(1))

        topic.invalidate()

        #expect(try await topic.loadIfNeeded() != nil)
    }
}
