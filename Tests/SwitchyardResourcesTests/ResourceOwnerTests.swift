import SwitchyardClient
import SwitchyardFixtures
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardAPI
@testable import SwitchyardResources

/// A resource belongs to one environment and one user.
@Suite(.timeLimit(.minutes(5)), .prompt) struct ResourceOwnerTests {
    private let clock = ManualClock()
    private let count = Locked(0)

    private var requests: Int { count.withLock { $0 } }

    /// A manager whose server returns the number of the request as the title.
    private func manager() throws -> TopicAPI {
        let transport = StubTransport { [count] _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return .json(#"{"id":1,"title":"\#(number)"}"#)
        }
        return TopicAPI(client: try .stubbed(transport, time: clock))
    }

    private func resource(_ topics: TopicAPI) -> APIResource<Topic> {
        topics.resource(for: TopicAPI.topic(1, lifetime: .seconds(60)))
    }

    @Test func `a resource cannot load after the environment was switched`() async throws {
        let topics = try manager()
        let topic = resource(topics)
        try await topic.load()
        try topics.client.switchEnvironment(to: "test")

        await #expect(throws: APIError(.cancelled(.superseded))) { try await topic.load() }

        #expect(requests == 1)
        #expect(resource(topics).value == nil)
        try topics.client.switchEnvironment(to: "release")
        #expect(try await topic.load().title == "2")
    }

    @Test func `a resource sends no request for another user`() async throws {
        let topics = TopicAPI(client: try manager().client, user: "ada")
        let topic = resource(topics)
        topics.user.withLock { $0 = "grace" }

        await #expect(throws: APIError(.cancelled(.superseded))) { try await topic.load() }

        #expect(topic.value == nil && topics.cache.count == 0 && requests == 0)
    }

    @Test func `a manager gets a new resource that can load if another user had the old resource`() async throws {
        let client = try manager().client
        let first = TopicAPI(client: client, user: "ada")
        let second = TopicAPI(client: client, user: "ada")
        let old = resource(first)
        #expect(resource(second) === old)
        first.user.withLock { $0 = "grace" }

        let new = resource(second)

        #expect(try await new.load().title == "1")
        #expect(resource(second) === new)
        await #expect(throws: APIError(.cancelled(.superseded))) { try await old.load() }
    }

    @Test func `a load of a resource that is active during a logout delivers no value`() async throws {
        let transport = StubTransport { [clock] _ in
            .delayed(by: .seconds(1), on: clock, .json(#"{"id":1,"title":"a"}"#))
        }
        let topics = TopicAPI(client: try .stubbed(transport, time: clock), user: "ada")
        let topic = resource(topics)
        let load = Task { try await topic.load() }
        await transport.waitForRequests(1)
        topics.user.withLock { $0 = nil }
        clock.advance(by: .seconds(1))

        await #expect(throws: APIError(.cancelled(.superseded))) { try await load.value }
        #expect(topic.value == nil)
    }
}
