import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardResources
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardAPI

/// Calls of managers whose user changes before the response arrives.
@Suite(.timeLimit(.minutes(5)), .prompt) struct CallOwnerTests {
    private let clock = ManualClock()
    private let credentials = Credentials { _ in nil }

    /// An app whose server returns the credential of the request after five seconds.
    private func start(user: String? = nil) throws -> (TopicAPI, StubTransport) {
        credentials.set(.bearer("ann"), in: .release)
        let transport = StubTransport { [clock] request in
            guard request.method == .get else { return .status(204) }
            let title = request.headers["Authorization"] ?? "nobody"
            return .delayed(by: .seconds(5), on: clock, .json(#"{"id":1,"title":"\#(title)"}"#))
        }
        var options = NetworkClient.Options()
        options.credentials = credentials
        return (TopicAPI(client: try .stubbed(transport, options: options, time: clock), user: user), transport)
    }

    private static let cached = TopicAPI.topic(1, lifetime: .seconds(60))

    private static let ways: [@Sendable (TopicAPI) async throws -> Topic] = [
        { try await $0.value(for: TopicAPI.topic(1)) },
        { try await $0.value(for: cached) },
        { try await $0.response(Topic.self, for: TopicAPI.topic(1)).value },
        { try await $0.resource(Topic.self, for: cached).load() },
        { topics in
            try await withCheckedThrowingContinuation { done in
                topics.value(Topic.self, for: TopicAPI.topic(1), on: .global()) { done.resume(with: $0) }
            }
        },
    ]

    @Test(arguments: ways.indices, [false, true])
    func `a call ends when the logged-in user changes, and the new user gets a new response`(way: Int, logsOut: Bool)
        async throws
    {
        let (topics, transport) = try start()
        let first = Task { try await Self.ways[way](topics) }
        await transport.waitForRequests(1)

        if logsOut { credentials.logOut(in: .release) }
        credentials.set(.bearer("bob"), in: .release)
        await #expect(throws: APIError.self) { _ = try await first.value }
        let second = Task { try await Self.ways[way](topics) }
        await transport.waitForRequests(2)
        await clock.waitForTimers(1, in: .seconds(5))
        clock.advance(by: .seconds(5))

        #expect(try await second.value.title == "Bearer bob")
    }

    @Test func `a call with a completion handler is sent as the user who was logged in when it was made`() async throws
    {
        let (topics, transport) = try start()
        for _ in 0..<50 {
            credentials.set(.bearer("ann"), in: .release)
            await withCheckedContinuation { done in
                topics.value(EmptyBody.self, for: APIConfiguration(path: "x", method: .delete), on: .global()) { _ in
                    done.resume()
                }
                credentials.logOut(in: .release)
                credentials.set(.bearer("bob"), in: .release)
            }
        }
        #expect(transport.requests.allSatisfy { $0.headers["Authorization"] == "Bearer ann" })
    }

    @Test(arguments: ways.indices)
    func `a read after a write to the same path does not share an earlier read`(way: Int) async throws {
        let (topics, transport) = try start()
        let first = Task { try await Self.ways[way](topics) }
        await transport.waitForRequests(1)

        try await topics.send(APIConfiguration(path: "topics/1", method: .put))
        let second = Task { try await Self.ways[way](topics) }
        // A resource lets the active load end and then loads again.
        if way != 3 { await transport.waitForRequests(3) }
        await clock.waitForTimers(way == 3 ? 1 : 2, in: .seconds(5))
        clock.advance(by: .seconds(5))
        _ = try await first.value
        if way == 3 {
            await transport.waitForRequests(3)
            await clock.waitForTimers(1, in: .seconds(5))
            clock.advance(by: .seconds(5))
        }
        _ = try await second.value

        #expect(transport.requests.map(\.method).filter { $0 == .get }.count == 2)
    }

    @Test func `a response that was requested before a write is not stored`() async throws {
        let (topics, transport) = try start()
        let first = Task { try await topics.value(Topic.self, for: Self.cached) }
        await transport.waitForRequests(1)

        try await topics.send(APIConfiguration(path: "topics/1", method: .patch))
        await clock.waitForTimers(1, in: .seconds(5))
        clock.advance(by: .seconds(5))
        _ = try await first.value

        #expect(topics.cache.count == 0)
    }
}
