import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardAPI
@testable import SwitchyardResources

/// The lifetimes of resources, their clients and their managers.
@Suite(.timeLimit(.minutes(5)), .prompt) struct ResourceLifetimeTests {
    private let clock = ManualClock()

    private func manager() throws -> TopicAPI {
        TopicAPI(client: try .stubbed(StubTransport { _ in .json(#"{"id":1,"title":"one"}"#) }, time: clock))
    }

    private func resource(_ topics: TopicAPI) -> APIResource<Topic> {
        topics.resource(for: TopicAPI.topic(1, lifetime: .seconds(60)))
    }

    @Test func `unobserved resources are discarded under memory pressure and above a limit`() async throws {
        let topics = try manager()
        let followed = resource(topics)
        let updates = followed.updates.makeAsyncIterator()
        for id in 2..<300 { _ = topics.resource(Topic.self, for: TopicAPI.topic(id, lifetime: .seconds(60))) }
        // The 100 resources that were used last, and the observed one.
        #expect(topics.client.resources.count == 101)

        topics.client.discardUnobservedResources()
        #expect(topics.client.resources.count == 1)
        #expect(resource(topics) === followed)
        withExtendedLifetime(updates) {}
    }

    @Test func `the resources of a client do not keep the client alive`() async throws {
        var topics: TopicAPI? = try manager()
        _ = try await topics.map(resource)?.load()
        weak let cache = topics?.cache
        weak let other = topics?.client.resources
        #expect(cache != nil && other?.count == 1)

        topics = nil
        await until { cache == nil && other == nil }  // The task of the load may keep the objects alive for a moment.

        #expect(cache == nil && other == nil)
    }

    @Test func `a resource outlives the manager that created it while the client is in use`() throws {
        let root = try NetworkClient.stubbed(StubTransport { _ in .status(500) }, time: clock)
        var first: TopicAPI? = TopicAPI(client: root.scoped())
        weak let asked = first.map(resource)
        first = nil

        #expect(asked != nil && resource(TopicAPI(client: root.scoped())) === asked)
    }

    @Test func `updates that are requested after the resource was discarded end immediately`() async throws {
        let topics = try manager()
        let updates = resource(topics).updates
        topics.client.discardUnobservedResources()
        #expect(topics.client.resources.count == 0)

        var count = 0
        for await _ in updates { count += 1 }

        #expect(count <= 1)
    }
}
