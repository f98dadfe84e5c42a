import Dispatch
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// After the first server has recovered, it gets its traffic back even if its responses are slow.
@Suite(.timeLimit(.minutes(5)), .prompt) struct RecoveredServerTests {
    private let time = ManualClock()
    private let isDown = Locked(false)

    /// A client whose servers take `usual` for every response unless they are down.
    private func client(answeringAfter usual: Duration) throws -> NetworkClient {
        var policy = SwitchPolicy.recommended
        policy.hedging = nil
        let (time, isDown) = (time, isDown)
        let transport = StubTransport(completion: .inline, time: time) { request in
            if request.server == "primary", isDown.withLock({ $0 }) { return .failure(.connectionReset) }
            return .delayed(by: usual, on: time, .status(200))
        }
        let service = try Service.topics(switching: policy, servers: 2)
        return try NetworkClient(service: service, transport: transport, options: .init(seed: 1), time: time)
    }

    /// Sends a read and advances the clock by `duration`.
    private func ask(_ client: NetworkClient, for duration: Duration) {
        client.send(APIConfiguration(path: "list"), on: .global()) { _ in }
        time.advance(by: duration)
    }

    @Test(arguments: [0.02, 1.5, 6])
    func `a recovered server gets its traffic back whether its usual response time is short or long`(usual: Double)
        throws
    {
        let client = try client(answeringAfter: .seconds(usual))
        for _ in 0..<20 { ask(client, for: .seconds(7)) }
        isDown.withLock { $0 = true }
        for _ in 0..<20 where client.currentServer == "primary" { ask(client, for: .seconds(7)) }
        #expect(client.currentServer == "secondary")

        isDown.withLock { $0 = false }
        for _ in 0..<200 where client.currentServer != "primary" { ask(client, for: .seconds(7)) }

        #expect(client.currentServer == "primary")
    }

    @Test func `a recovered server without earlier traffic gets its traffic back if the other server is equally slow`()
        throws
    {
        isDown.withLock { $0 = true }
        let client = try client(answeringAfter: .seconds(1.5))
        for _ in 0..<20 { ask(client, for: .seconds(7)) }
        #expect(client.currentServer == "secondary")

        isDown.withLock { $0 = false }
        for _ in 0..<200 where client.currentServer != "primary" { ask(client, for: .seconds(7)) }

        #expect(client.currentServer == "primary")
    }
}
