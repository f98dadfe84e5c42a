import Foundation
import SwitchyardAPI
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@Suite(.timeLimit(.minutes(5)), .prompt) struct APIManagerTests {
    @Test func `a call becomes a request, and its response becomes a value`() async throws {
        let transport = StubTransport { _ in Topic.answer }
        let topics = TopicAPI(client: try .stubbed(transport))

        #expect(try await topics.topic(1) == Topic(id: 1, title: "one"))
        #expect(transport.requests.map(\.url.text) == ["http://release.example/v1/topics/1"])
    }

    @Test func `a response keeps status, header fields, source and context when its value is mapped`() async throws {
        let transport = StubTransport { _ in .status(203, headers: ["X-Trace": "7"], body: Data("12".utf8)) }
        let topics = TopicAPI(client: try .stubbed(transport))

        let answer = try await topics.response(for: TopicAPI.topic(1), with: .string).map { $0.count }

        #expect(answer.value == 2)
        #expect(answer.status == 203)
        #expect(answer.headers["X-Trace"] == "7")
        #expect(answer.source == .network)
        #expect(answer.context?.server == "primary")
    }

    @Test func `the error of a failed call contains the request, the server and the response`() async throws {
        let transport = StubTransport { _ in .status(503, headers: ["X-Trace": "7"], body: Data("busy".utf8)) }
        let topics = TopicAPI(client: try .stubbed(transport))

        let error = try #require(await #expect(throws: APIError.self) { try await topics.topic(1) })

        #expect(error.reason == .status(503))
        #expect(error.context.service == "topics")
        #expect(error.context.environment == "release")
        #expect(error.context.server == "primary")
        #expect(error.context.attempts >= 1)
        #expect(error.context.status == 503)
        #expect(error.context.headers["X-Trace"] == "7")
        #expect(error.context.body == Data("busy".utf8))
        #expect(error.context.path == "http://release.example/v1/topics/1")
        #expect(error.context.requestID != nil)
    }

    @Test(arguments: [
        (TransportError.Kind.timeout, 101), (.connectionRefused, 102), (.dnsFailure, 102), (.connectionReset, 104),
        (.certificateRejected, 104), (.truncated, 104),
    ])
    func `a transport failure is reported with its code`(kind: TransportError.Kind, code: Int) async throws {
        let topics = TopicAPI(client: try .stubbed(StubTransport { _ in .failure(kind) }))

        let error = await #expect(throws: APIError.self) { try await topics.topic(1) }

        #expect(error?.code.number == code)
        #expect(error?.context.underlying != nil)
    }

    @Test func `a request that cannot be built is a configuration error`() async throws {
        let transport = StubTransport { _ in Topic.answer }
        let topics = TopicAPI(client: try .stubbed(transport))
        var configuration = TopicAPI.topic(1)
        configuration.headers["X-Bad"] = "a\r\nb"

        let error = await #expect(throws: APIError.self) { try await topics.value(Topic.self, for: configuration) }

        guard case .configuration(.request(.header)) = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(transport.requestCount == 0)
    }

    @Test func `a call ends as a timeout when its deadline passes`() async throws {
        let clock = ManualClock()
        let topics = TopicAPI(client: try .stubbed(StubTransport { _ in .never }, time: clock))
        var configuration = TopicAPI.topic(1)
        configuration.timeout = .seconds(5)
        let call = Task { [configuration] in try await topics.value(Topic.self, for: configuration) }
        await clock.waitForTimers(1)

        clock.advance(by: .seconds(5))

        let error = await #expect(throws: APIError.self) { try await call.value }
        #expect(error?.code == .timeout)
        #expect(error?.context.elapsed == .seconds(5))
    }

    // Cancelling the awaiting task ends the request.
    @Test func `cancelling the task cancels the call, and the cancellation has no user message`() async throws {
        let transport = StubTransport { _ in .never }
        let topics = TopicAPI(client: try .stubbed(transport))
        let call = Task { try await topics.topic(1) }
        await transport.waitForRequests(1)

        call.cancel()

        let error = await #expect(throws: APIError.self) { try await call.value }
        #expect(error?.isCancellation == true)
        #expect(error?.userMessage == nil)
        await transport.waitUntilIdle()
    }

    @Test func `a call without a response value accepts an empty response`() async throws {
        let topics = TopicAPI(client: try .stubbed(StubTransport { _ in .status(204) }))

        try await topics.send(APIConfiguration(path: "topics/1", method: .delete))

        await #expect(throws: APIError(.body(.empty))) { try await topics.topic(1) }
    }

    @Test func `a body that arrives in several chunks is decoded as a whole`() async throws {
        let pieces = [Data(#"{"id":1,"#.utf8), Data(#""title":"one"}"#.utf8)]
        let transport = StubTransport { _ in .chunks(pieces, headers: ["Content-Type": "application/json"]) }
        let topics = TopicAPI(client: try .stubbed(transport))
        var configuration = TopicAPI.topic(1)
        configuration.delivery = .stream

        #expect(try await topics.value(Topic.self, for: configuration).title == "one")
    }

    @Test func `the response rules of a call replace those of its module`() async throws {
        let topics = TopicAPI(client: try .stubbed(StubTransport { _ in .status(404) }))
        var configuration = TopicAPI.topic(1)
        configuration.rules = ResponseRules(status: .only([404]))

        #expect(try await topics.value(Topic?.self, for: configuration) == nil)
    }

    @Test func `the client's rules are applied exactly once, however the call is made`() async throws {
        let transport = StubTransport { _ in Topic.answer }
        let client = try NetworkClient.stubbed(transport)
        client.rules.add("/**") { $0.headers.add("X-Rule", "1") }
        let topics = TopicAPI(client: client)

        _ = try await topics.topic(1)
        _ = try await topics.topic(2, lifetime: .seconds(60))
        _ = try await topics.value(Int.self, for: TopicAPI.topic(3), at: "id")
        try await topics.send(TopicAPI.topic(4))

        #expect(transport.requests.map { $0.headers.values(of: "X-Rule") } == Array(repeating: ["1"], count: 4))
    }

    @Test func `a list is loaded page by page through a manager`() async throws {
        let transport = StubTransport { request in
            request.url.text.contains("page=1") ? .json(#"[{"id":1,"title":"a"},{"id":2,"title":"b"}]"#) : .json("[]")
        }
        let topics = TopicAPI(client: try .stubbed(transport))

        #expect(try await topics.refreshTopics().count == 2)
        await #expect(throws: APIError(.list(.noMoreData))) { try await topics.loadMoreTopics() }
        await #expect(throws: APIError(.list(.noMoreData))) { try await topics.loadMoreTopics() }
        #expect(transport.requestCount == 2)
    }
}
