import Dispatch
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardServices
import SwitchyardTesting
import Testing

/// Those who wait for a place at a server that is left: the next one has places.
@Suite(.timeLimit(.minutes(5)), .prompt) struct DeadServerQueueTests {
    private let time = ManualClock()
    private let limit = ConcurrencyLimit(perServer: 2)

    /// A client whose first server holds everything up, with both of its places taken and three requests that wait.
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

    @Test func `anyone who waits for a server that is left waits for the next one`() async throws {
        let (client, waiting) = try await heldUp()

        try client.switchServer(to: "secondary")

        for call in waiting { #expect(await call.value == 200) }
        client.cancelAll()
        await client.waitUntilIdle()
        #expect(limit.runningCount == 0)
    }

    @Test func `one who is cancelled after the move leaves nothing`() async throws {
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
