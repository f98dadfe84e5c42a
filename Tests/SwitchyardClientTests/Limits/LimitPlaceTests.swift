import Dispatch
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// Servers with the same name in different environments are different servers.
@Suite(.timeLimit(.minutes(5)), .prompt) struct LimitPlaceTests {
    private let limit = ConcurrencyLimit(perServer: 1)

    @Test func `a server that hangs takes no slot of the same server in another environment`() async throws {
        let (client, transport) = try NetworkClient.limited([limit]) { request in
            request.url.text.contains("primary.test") ? .never : .status(200)
        }
        client.send(.path("slow"), on: .global()) { _ in }
        #expect(await transport.waitForRequests(1))

        try client.switchEnvironment(to: .release)
        let other = Task { await client.failure(of: .path("list")) }

        #expect(await other.value == nil)
        client.cancelAll()
    }
}
