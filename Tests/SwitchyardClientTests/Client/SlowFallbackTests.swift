import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// A first server that hangs, and a fallback that always takes longer than the first server usually took.
@Suite(.timeLimit(.minutes(5)), .prompt) struct SlowFallbackTests {
    @Test func `reads succeed before their deadlines while the first server hangs`() async throws {
        let (first, second) = (LoopbackServer(), LoopbackServer())
        for server in [first, second] {
            try server.start()
            server.setDefaultRoute { _ in .text("done") }
        }
        second.fault = .slow(by: .milliseconds(200))
        let client = try NetworkClient(service: .loopback([first, second]))
        for _ in 0..<40 { _ = try await client.send(APIConfiguration(path: "list")) }
        first.fault = .hang

        for _ in 0..<12 {
            let failure = await client.failure(of: APIConfiguration(path: "list", timeout: .seconds(5)))
            #expect(failure == nil)
        }
    }
}
