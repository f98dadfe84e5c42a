import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import Testing

@testable import SwitchyardInspector

@Suite(.timeLimit(.minutes(5)), .prompt) struct InspectorLimitTests {
    @Test(arguments: [Int.max, Int.max - 65_536, Int.max / 4 * 3])
    func `an inspector without a body limit keeps whole bodies`(bytes: Int) async throws {
        let lab = try InspectorLab(inspector: .quiet { $0.bodyBytes = bytes })
        _ = try await lab.page.feed()
        _ = try await lab.client.send(APIConfiguration(path: "topics", method: .post, body: .text("hello")))

        let feed = try await lab.feed(ended: 1)

        let detail = try await lab.page.detail(of: try #require(feed.calls.first).id)
        #expect(detail.attempts.first?.request.body.text == "hello")
        #expect(detail.attempts.first?.response?.body.text == "[]")
    }
}
