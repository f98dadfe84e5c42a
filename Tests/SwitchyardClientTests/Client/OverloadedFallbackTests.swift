import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// A first server that dies soon after its fallback servers were overloaded.
///
/// No failover goes to a server that was overloaded within the last 30 s.
@Suite(.timeLimit(.minutes(5)), .prompt) struct OverloadedFallbackTests {
    private static let read = APIConfiguration(path: "list")

    @Test(arguments: [StubResponse.failure(.connectionReset), .failure(.truncated)])
    func `reads soon leave a dead server although its fallback servers were overloaded`(dead: StubResponse) async throws
    {
        let (isDead, isOverloaded) = (Locked(false), Locked(false))
        let time = ManualClock()
        let (client, transport) = try NetworkClient.stubbed(time: time) { request in
            if request.server == "primary" { return isDead.withLock { $0 } ? dead : .status(200) }
            return isOverloaded.withLock { $0 } ? .status(503) : .status(200)
        }
        for _ in 0..<20 { _ = try await client.send(Self.read) }
        isDead.withLock { $0 = true }
        isOverloaded.withLock { $0 = true }
        for _ in 0..<2 { _ = await client.failure(of: Self.read) }
        isOverloaded.withLock { $0 = false }

        var failures = 0
        for _ in 0..<40 {
            let result = await client.result(of: Self.read)
            if (try? result.get())?.status != 200 { failures += 1 }
            await transport.waitUntilIdle()
            time.advance(by: .milliseconds(100))
        }

        #expect(failures < 20)
        #expect(client.currentServer != "primary")
    }

    @Test(arguments: [(502, true), (503, false), (429, false)])
    func `a failed server gets suspicion probes unless it reports overload`(status: Int, isProbed: Bool) async throws {
        var policy = SwitchPolicy.recommended
        policy.tooManyRequests = .overload
        let (first, second) = (Locked(200), Locked(503))
        let (client, transport) = try NetworkClient.stubbed(switching: policy, servers: 2) { request in
            .status((request.server == "primary" ? first : second).withLock { $0 })
        }
        // The response of the first server confirms that the second server is overloaded.
        try client.switchServer(to: "secondary")
        #expect(try await client.send(Self.read).context.attempts == 2)
        try client.switchServer(to: "primary")
        for _ in 0..<5 { _ = try await client.send(Self.read) }
        first.withLock { $0 = status }
        second.withLock { $0 = 200 }
        await transport.waitUntilIdle()
        let before = transport.requestCount

        let answer = try await client.send(Self.read)
        if isProbed { await transport.waitForRequests(before + 3) }
        await transport.waitUntilIdle()

        #expect(answer.context.history.attempts.map(\.next) == [.stopped(.servers)])
        #expect((transport.requestCount > before + 1) == isProbed)
    }
}
