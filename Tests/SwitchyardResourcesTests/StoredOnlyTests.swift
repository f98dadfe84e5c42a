import SwitchyardAPI
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardResources
import SwitchyardTesting
import Testing

/// Cache-only calls with observed responses.
@Suite(.timeLimit(.minutes(5)), .prompt) struct StoredOnlyTests {
    private let clock = ManualClock()

    private var only: APIConfiguration {
        var call = TopicAPI.topic(1, lifetime: .seconds(60))
        call.cache.reading = .only
        return call
    }

    private func topics() throws -> (topics: TopicAPI, transport: StubTransport) {
        let transport = StubTransport { _ in .json(#"{"id":1,"title":"one"}"#) }
        return (TopicAPI(client: try .stubbed(transport, time: clock)), transport)
    }

    private func answers(by topics: TopicAPI) async throws -> [ResponseSource] {
        var sources: [ResponseSource] = []
        for try await answer in topics.responses(Topic.self, for: only) { sources.append(answer.source) }
        return sources
    }

    @Test func `a cache-only sequence of responses ends with the stored response`() async throws {
        let (topics, transport) = try topics()
        await #expect(throws: APIError(.cache(.invalidMetadata))) { try await answers(by: topics) }
        _ = try await topics.topic(1, lifetime: .seconds(60))
        clock.advance(by: .seconds(2))

        #expect(try await answers(by: topics) == [.cache(age: .seconds(2))])
        #expect(transport.requestCount == 1)
    }

    @Test func `a cache-only resource loads the stored response`() async throws {
        let (topics, transport) = try topics()
        await #expect(throws: APIError(.cache(.invalidMetadata))) {
            try await topics.resource(Topic.self, for: only).load()
        }
        let stored = try await topics.topic(1, lifetime: .seconds(60))

        #expect(try await topics.resource(Topic.self, for: only).load() == stored)
        #expect(transport.requestCount == 1)
    }
}
