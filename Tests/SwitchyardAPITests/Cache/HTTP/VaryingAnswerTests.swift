import Foundation
import SwitchyardClient
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardAPI

/// What is stored is no answer where HTTP's rules say that it is one to another request (RFC 9111 section 4.1).
@Suite(.timeLimit(.minutes(5))) struct VaryingAnswerTests {
    private let clock = ManualClock()

    private func call(_ change: (inout APIConfiguration) -> Void = { _ in }) -> APIConfiguration {
        var configuration = APIConfiguration(path: "me")
        configuration.cacheLifetime = .seconds(600)
        configuration.cache.freshness = .http
        change(&configuration)
        return configuration
    }

    private func answer(_ text: String, _ headers: HTTPHeaders) -> StubAnswer {
        .status(200, headers: headers, body: Data(text.utf8))
    }

    @Test(arguments: ["no-store", "max-age=10", "no-cache"])
    func `what another call keeps by its own lifetime is held to the rules by one that goes by them`(
        control: String
    ) async throws {
        let transport = StubTransport(answers: [answer("one", ["Cache-Control": control]), answer("two", [:])])
        let topics = TopicAPI(client: try .stubbed(transport, time: clock))
        let other = call { $0.cache.freshness = .lifetime }
        _ = try await topics.response(for: other, with: .string)
        clock.advance(by: .seconds(20))
        #expect(try await topics.response(for: other, with: .string).value == "one")

        #expect(try await topics.response(for: call(), with: .string).value == "two")
    }

    private static let phone: HTTPHeaders = [
        "Cache-Control": "max-age=600", "Vary": "User-Agent", "Last-Modified": "Mon, 01 Jan 2024 00:00:00 GMT",
    ]

    /// A manager of a server that tells agents apart, of whose answers one to a phone is stored.
    private func afterPhone() async throws -> (topics: TopicAPI, transport: StubTransport) {
        let transport = StubTransport { request in answer(request.headers["User-Agent"] ?? "", Self.phone) }
        let topics = TopicAPI(client: try .stubbed(transport, time: clock))
        _ = try await topics.response(for: call { $0.headers.set("User-Agent", "phone") }, with: .string)
        return (topics, transport)
    }

    @Test func `a refresh asks for no confirmation of what was answered to other fields`() async throws {
        let (topics, transport) = try await afterPhone()
        let refresh = call {
            $0.headers.set("User-Agent", "desk")
            $0.cache.reading = .never
        }

        #expect(try await topics.response(for: refresh, with: .string).value == "desk")
        #expect(transport.requests.map { $0.headers["If-Modified-Since"] } == [nil, nil])
    }

    @Test func `what was answered to other fields is not shown before the answer`() async throws {
        let (topics, _) = try await afterPhone()
        let desk = call { $0.headers.set("User-Agent", "desk") }

        #expect(topics.resource(for: desk, with: .string).value == nil)
        var values: [String] = []
        for try await answer in topics.answers(for: desk, with: .string) { values.append(answer.value) }
        #expect(values == ["desk"])
    }
}
