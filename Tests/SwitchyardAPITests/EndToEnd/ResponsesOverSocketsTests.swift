import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardRequests
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardAPI

/// Responses of a real server.
@Suite(.timeLimit(.minutes(5)), .prompt) struct ResponsesOverSocketsTests {
    private static func manager(_ answer: LoopbackResponse, _ module: APIModule = .standard) throws -> (
        LoopbackYard, TopicAPI
    ) {
        let yard = try LoopbackYard(answer: answer)
        return (yard, TopicAPI(client: yard.client, module: module))
    }

    @Test func `the error for a status that the call does not accept has the response's body and header fields`()
        async throws
    {
        var answer = LoopbackResponse.text(#"{"title":"Down for repairs"}"#, status: 503)
        answer.headers["X-Trace"] = "42"
        let (yard, topics) = try Self.manager(answer)
        defer { yard.stop() }

        let error = try #require(await #expect(throws: APIError.self) { try await topics.topic(7) })
        #expect(error.reason == .status(503) && error.context.headers["x-trace"] == "42")
        #expect(error.context.headers["Content-Type"]?.hasPrefix("text/plain") == true)
        #expect(error.decodedBody(as: [String: String].self) == ["title": "Down for repairs"])
    }

    @Test func `the error for a content type that the call does not accept has the response's body and status`()
        async throws
    {
        let (yard, topics) = try Self.manager(.text("please log in"))
        defer { yard.stop() }

        let error = try #require(await #expect(throws: APIError.self) { try await topics.topic(7) })
        guard case .body(.contentType(let received, let acceptable)) = error.reason else { throw error }
        #expect(received?.hasPrefix("text/plain") == true && acceptable.contains("application/json"))
        #expect(error.context.body == Data("please log in".utf8) && error.context.status == 200)
    }

    @Test func `a response has value, status, header fields and context`() async throws {
        var answer = LoopbackResponse.json(#"{"id":7,"title":"seven"}"#)
        answer.headers["X-Total-Count"] = "99"
        let (yard, topics) = try Self.manager(answer)
        defer { yard.stop() }

        let response = try await topics.response(for: TopicAPI.topic(7), with: ResponseSerializer.decodable(Topic.self))
        #expect(response.value.title == "seven" && response.status == 200)
        #expect(response.headers["x-total-count"] == "99" && response.headers["X-TOTAL-COUNT"] == "99")
        let context = try #require(response.context)
        #expect(
            context.server == "primary" && context.attempts == 1 && context.url?.text.hasSuffix("/v1/topics/7") == true
        )
    }

    @Test func `the inspect rule of a module receives every accepted response`() async throws {
        let seen = Locked<[Int]>([])
        var module = APIModule.standard
        module.rules.inspect = { response in seen.withLock { $0.append(response.data.count) } }
        let (yard, topics) = try Self.manager(.json(#"{"id":7,"title":"seven"}"#), module)
        defer { yard.stop() }
        _ = try await topics.topic(7)
        _ = try await topics.response(for: TopicAPI.topic(7), with: .json)
        yard.server.route(.get, "/v1/*", answering: .json("{}", status: 500))
        _ = try? await topics.topic(7)

        #expect(seen.withLock { $0 } == [24, 24])
    }

    @Test func `the envelope and the error format of a module apply to all its calls`() async throws {
        var module = APIModule(envelope: Envelope(success: [0]))
        module.formatError = { error in
            var changed = error
            changed.serverMessage = "Forum: \(error.code.number)"
            return changed
        }
        let (yard, topics) = try Self.manager(.json(#"{"code":0,"data":{"id":7,"title":"seven"}}"#), module)
        defer { yard.stop() }

        #expect(try await topics.topic(7).title == "seven")
        yard.server.route(.get, "/v1/*", answering: .json(#"{"code":9}"#))
        let refused = await #expect(throws: APIError.self) { try await topics.topic(7) }
        #expect(refused?.message == "Forum: 104")
        yard.server.fault = .refuse
        let lost = await #expect(throws: APIError.self) { try await topics.topic(7) }
        #expect(lost?.message == "Forum: 102")
    }

    @Test func `a small gzip body that expands without limit fails at the body limit`() async throws {
        let bomb = RequestCompressor.compressed(Data(repeating: UInt8(ascii: "0"), count: 2_000_000), .gzip)
        #expect(bomb.count < 100_000)
        var answer = LoopbackResponse.json(bomb)
        answer.headers["Content-Encoding"] = "gzip"
        let (yard, topics) = try Self.manager(answer)
        defer { yard.stop() }
        var configuration = TopicAPI.topic(7)
        configuration.responseBodyLimit = 1_000_000

        let error = await #expect(throws: APIError.self) { try await topics.value(Topic.self, for: configuration) }
        #expect(error?.reason == .body(.tooLarge(limit: nil)))
    }

    @Test func `a call on a client that was shut down fails with clientClosed`() async throws {
        let (yard, topics) = try Self.manager(.json("{}"))
        yard.client.shutdown()
        defer { yard.server.stop() }

        let error = await #expect(throws: APIError.self) { try await topics.topic(7) }
        #expect(error?.reason == .configuration(.clientClosed))
    }

    @Test func `the response of a shared request is decoded once for all waiting calls`() async throws {
        let decoded = Locked(0)
        let clock = ManualClock()
        let transport = StubTransport { _ in .delayed(by: .seconds(1), on: clock, .json("[1]")) }
        let client = try NetworkClient.stubbed(transport, time: clock)
        let serializer = ResponseSerializer { (response: RawResponse) -> Int in
            decoded.withLock { $0 += 1 }
            return response.data.count
        }
        let calls = (0..<5).map { _ in
            Task {
                try await TopicAPI(client: client)
                    .response(for: TopicAPI.topic(1, lifetime: .seconds(60)), with: serializer).value
            }
        }
        await until { client.flights.waiting >= 5 }
        await clock.waitForTimers(1, in: .seconds(1))
        clock.advance(by: .seconds(1))

        for call in calls { #expect(try await call.value == 3) }
        #expect(decoded.withLock { $0 } == 1)
    }
}
