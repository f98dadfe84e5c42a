import Dispatch
import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardRequests
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardAPI

/// The rules of the client in all forms of calls.
@Suite(.timeLimit(.minutes(5)), .prompt) struct RuledCallTests {
    /// A client whose server returns the number of the request as the title.
    private func client() throws -> NetworkClient {
        let count = Locked(0)
        return try .stubbed(
            StubTransport { _ in
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                return .json(#"{"id":1,"title":"\#(number)"}"#)
            }
        )
    }

    @Test func `a cache lifetime from the client's rules applies to request objects`() async throws {
        let client = try client()
        client.rules.add("**") { $0.cacheLifetime = .seconds(60) }
        let topics = TopicAPI(client: client)

        for _ in 0..<2 {
            let request = topics.request(Topic.self, for: TopicAPI.topic(1), on: .global())
            #expect(try await request.value().title == "1")
        }
    }

    @Test func `response rules from the client's rules apply to request objects`() async throws {
        let transport = StubTransport { _ in
            .status(200, headers: ["Content-Type": "text/html"], body: Data(#"{"id":1,"title":"a"}"#.utf8))
        }
        let client = try NetworkClient.stubbed(transport)
        client.rules.add("**") { $0.rules = .lenient }
        let topics = TopicAPI(client: client)

        #expect(try await topics.request(Topic.self, for: TopicAPI.topic(1), on: .global()).value().title == "a")
    }

    @Test func `a client rule with removesTags also applies to a call without a response value`()
        async throws
    {
        let client = try client()
        client.rules.add("**", methods: [.post]) { $0.cache.removesTags = ["topics"] }
        let topics = TopicAPI(client: client)
        var call = TopicAPI.topic(1, lifetime: .seconds(60))
        call.cache.tags = ["topics"]
        _ = try await topics.value(Topic.self, for: call)

        try await topics.send(APIConfiguration(path: "topics", method: .post))

        #expect(try await topics.value(Topic.self, for: call).title == "3")
    }

    @Test func `a call with removesTags stores its own response`() async throws {
        let topics = TopicAPI(client: try client())
        var tagged = TopicAPI.topic(1, lifetime: .seconds(60))
        tagged.cache.tags = ["topics"]
        var call = TopicAPI.topic(2, lifetime: .seconds(60))
        call.cache.removesTags = ["topics"]
        _ = try await topics.value(Topic.self, for: tagged)

        #expect(try await topics.value(Topic.self, for: call).title == "2")

        #expect(try await topics.value(Topic.self, for: call).title == "2")
        #expect(try await topics.value(Topic.self, for: tagged).title == "3")
    }

    @Test func `the response of a call is not stored if other responses were removed during the request`() async throws
    {
        let clock = ManualClock()
        let answer = StubResponse.json(#"{"id":2,"title":"a"}"#)
        let transport = StubTransport { _ in .delayed(by: .seconds(1), on: clock, answer) }
        let client = try NetworkClient.stubbed(transport, time: clock)
        let topics = TopicAPI(client: client)
        var call = TopicAPI.topic(2, lifetime: .seconds(60))
        call.cache.removesTags = ["topics"]
        for number in 1...2 {
            let asking = Task { [call] in try await topics.value(Topic.self, for: call) }
            await transport.waitForRequests(number)
            client.responseCache.removeAll(tagged: "users")
            clock.advance(by: .seconds(1))
            _ = try await asking.value
        }

        #expect(transport.requestCount == 2)
    }

    @Test func `the response of a POST with allowsUnsafeMethods and a lifetime is stored`() async throws {
        let topics = TopicAPI(client: try client())
        var ruled = TopicAPI.topic(1, lifetime: .seconds(60))
        ruled.cache.freshness = .http
        var search = APIConfiguration(path: "search", method: .post, body: .json(["q": 1]))
        search.cacheLifetime = .seconds(60)
        search.cache.allowsUnsafeMethods = true
        _ = try await topics.value(Topic.self, for: ruled)

        #expect(try await topics.value(Topic.self, for: search).title == "2")
        #expect(try await topics.value(Topic.self, for: search).title == "2")
    }
}
