import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardClient

/// Calls with different options of the transfer do not share a transfer.
@Suite(.timeLimit(.minutes(5)), .prompt) struct SharedOptionTests {
    private static func shared(_ path: String = "list") -> APIConfiguration {
        var configuration = APIConfiguration(path: path)
        configuration.sharing = .identical
        return configuration
    }

    @Test func `a call that must not be repeated does not join the transfer of a call that may be hedged`() async throws
    {
        var policy = SwitchPolicy.recommended
        policy.warmUp = nil
        let clock = ManualClock()
        let (client, transport) = try NetworkClient.stubbed(switching: policy, time: clock) { request in
            request.server == "primary" ? .never : .status(200)
        }
        var once = Self.shared()
        once.mayBeRepeated = false
        let first = Task { await client.failure(of: Self.shared()) }
        #expect(await transport.waitForRequests(1))

        let second = Task { [once] in await client.failure(of: once) }

        #expect(await transport.waitForRequests(2))
        #expect(await clock.waitForTimers(2))
        for _ in 0..<50 { clock.advance(by: .milliseconds(100)) }
        #expect(await first.value == nil)
        client.cancelAll()
        #expect(await second.value == .cancelled)
    }
}
