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
}
