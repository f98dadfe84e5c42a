import SwitchyardAPI
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardServices
import SwitchyardTesting
import Testing

/// The events of calls that get a stored response.
@Suite(.timeLimit(.minutes(5)), .prompt) struct ObservedCallTests {
    private let clock = ManualClock()
    private let log = EventLog()

    private func topics() throws -> TopicAPI {
        var options = NetworkClient.Options(seed: 1)
        options.interceptors = [log.interceptor]
        return TopicAPI(client: try .stubbed(StubTransport { _ in Topic.answer }, options: options, time: clock))
    }

    @Test func `a call that returns a fresh stored response reports one event`() async throws {
        let topics = try topics()
        _ = try await topics.topic(1, lifetime: .seconds(60))
        _ = await log.events(until: "ended")

        _ = try await topics.topic(1, lifetime: .seconds(60))

        #expect(await log.events(until: "cachedResponseUsed") == ["cachedResponseUsed"])
    }

    @Test func `a stale response that is returned during its refresh is reported before the refresh request`()
        async throws
    {
        let topics = try topics()
        var call = TopicAPI.topic(1, lifetime: .seconds(60))
        call.cache.staleWhileRevalidate = .seconds(60)
        _ = try await topics.value(Topic.self, for: call)
        _ = await log.events(until: "ended")
        clock.advance(by: .seconds(61))

        _ = try await topics.value(Topic.self, for: call)

        let events = await log.events(until: "ended")
        #expect(events.prefix(2) == ["cachedResponseUsed", "dispatched"])
    }
}
