import Foundation
import SwitchyardAPI
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// Responses that an app stores by hand.
@Suite(.timeLimit(.minutes(5)), .prompt) struct StubbedResponseTests {
    private let clock = ManualClock()
    private let serializer = ResponseSerializer.decodable(Topic.self)
    private let body = Data(#"{"id":1,"title":"given"}"#.utf8)

    private func manager() throws -> (TopicAPI, StubTransport) {
        let transport = StubTransport { _ in .json(#"{"id":1,"title":"asked"}"#) }
        return (TopicAPI(client: try .stubbed(transport, time: clock)), transport)
    }

    private func call(_ lifetime: Duration) -> APIConfiguration {
        var call = TopicAPI.topic(1, lifetime: lifetime)
        call.cache.freshness = .http
        return call
    }

    private func fields(_ control: String) -> HTTPHeaders {
        ["Content-Type": "application/json", "Cache-Control": control]
    }

    @Test
    func `under HTTP rules, the header fields of a response that the app stores decide when the response is stale`()
        async throws
    {
        let (topics, transport) = try manager()
        var call = call(.seconds(3_600))
        try topics.storeResponse(body, headers: fields("max-age=1"), for: call, with: serializer)
        clock.advance(by: .seconds(10))

        call.cache.reading = .only
        await #expect(throws: APIError.self) { try await topics.value(Topic.self, for: call) }
        call.cache.reading = .whenFresh
        #expect(try await topics.value(Topic.self, for: call).title == "asked")
        #expect(transport.requestCount == 1)
    }

    @Test func `a response that the app stores stays fresh for the max-age in its header fields`() async throws {
        let (topics, transport) = try manager()
        try topics.storeResponse(body, headers: fields("max-age=3600"), for: call(.seconds(1)), with: serializer)
        clock.advance(by: .seconds(10))

        #expect(try await topics.value(Topic.self, for: call(.seconds(1))).title == "given")
        #expect(transport.requestCount == 0)
    }

    @Test func `the willStore hook can change or reject a response that the app stores`() async throws {
        let (topics, transport) = try manager()
        var call = TopicAPI.topic(1, lifetime: .seconds(60))
        call.cache.willStore = { answer in
            var changed = answer
            changed.body = Data(#"{"id":1,"title":"without secrets"}"#.utf8)
            return changed
        }
        #expect(try topics.storeResponse(body, for: call, with: serializer).title == "given")
        #expect(try await topics.value(Topic.self, for: call).title == "without secrets")

        topics.cache.removeAll()
        call.cache.willStore = { _ in nil }
        try topics.storeResponse(body, for: call, with: serializer)
        #expect(try await topics.value(Topic.self, for: call).title == "asked")
        #expect(transport.requestCount == 1)
    }
}
