import Dispatch
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardServices
import SwitchyardTesting
import Testing

/// Requests that wait for a slot at a server while the client moves to another server with free slots.
@Suite(.timeLimit(.minutes(5)), .prompt) struct DeadServerQueueTests {
    private let time = ManualClock()
    private let limit = ConcurrencyLimit(perServer: 2)

    /// A client whose first server hangs: two requests use its two slots and three requests wait.
    private func heldUp() async throws -> (client: NetworkClient, waiting: [Task<Int?, Never>]) {
        let (client, transport) = try NetworkClient.limited([limit], time: time) { request in
            request.server == "primary" ? .never : .status(200)
        }
        for _ in 0..<2 { client.send(.path("slow", timeout: .seconds(60)), on: .global()) { _ in } }
        #expect(await transport.waitForRequests(2))
        let waiting = (0..<3).map { index in
            Task { try? await client.send(.path("list\(index)", timeout: .seconds(10))).status }
        }
        await until { limit.waitingCount == 3 }
        return (client, waiting)
    }

    @Test func `requests that wait for a server move to the new current server`() async throws {
        let (client, waiting) = try await heldUp()

        try client.switchServer(to: "secondary")

        for call in waiting { #expect(await call.value == 200) }
        client.cancelAll()
        await client.waitUntilIdle()
        #expect(limit.runningCount == 0)
    }

    @Test func `requests that are cancelled after they moved to another server's queue leave that queue`() async throws
    {
        let (client, waiting) = try await heldUp()
        try client.switchServer(to: "tertiary")
        try client.switchServer(to: "secondary")

        for call in waiting { call.cancel() }
        for call in waiting { _ = await call.value }
        client.cancelAll()
        await client.waitUntilIdle()

        await until { limit.runningCount == 0 }
        #expect(limit.waitingCount == 0)
    }
}
