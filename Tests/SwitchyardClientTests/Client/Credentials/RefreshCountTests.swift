import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// How many refreshes are allowed and which of them count.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct RefreshCountTests {
    @Test func `credential refreshes beyond the limit of their time window fail`() async throws {
        let clock = ManualClock()
        let gate = TokenGate(good: "other", accepts: false)
        let credentials = Credentials { _ in gate.refresh() }
        credentials.set(.bearer("a0"), in: .test)
        let (client, _) = try NetworkClient.stubbed(
            time: clock,
            options: {
                $0.credentials = credentials
            }
        ) { gate.answer($0) }

        var ends: [Result<Int, RequestFailure.Reason>] = []
        for _ in 0..<6 {
            let result = await client.result(of: APIConfiguration(path: "x"))
            ends.append(result.map(\.status).mapError(\.reason))
        }
        clock.advance(by: .seconds(30))
        _ = await client.result(of: APIConfiguration(path: "x"))

        #expect(
            ends == Array(repeating: .success(401), count: 5) + [.failure(.credentials(.tooManyRefreshes(limit: 5)))]
        )
        #expect(gate.refreshes == 6)
    }

    @Test func `a provider that returns nil does not count as a credential refresh`() async throws {
        let credentials = Credentials { _ in nil }
        let (client, _) = try NetworkClient.stubbed(options: { $0.credentials = credentials }) { _ in .status(200) }

        for _ in 0..<20 {
            let result = await client.result(of: APIConfiguration(path: "x"))
            #expect(result.map(\.status).mapError(\.reason) == .failure(.credentials(.missing)))
        }
    }

    @Test func `a login resets the count of credential refreshes`() async throws {
        let gate = TokenGate(good: "other", accepts: false)
        let credentials = Credentials { _ in gate.refresh() }
        credentials.set(.bearer("a0"), in: .test)
        let (client, _) = try NetworkClient.stubbed(options: { $0.credentials = credentials }) { gate.answer($0) }
        for _ in 0..<6 { _ = await client.result(of: APIConfiguration(path: "x")) }

        credentials.set(.bearer("b0"), in: .test)
        let result = await client.result(of: APIConfiguration(path: "x"))

        #expect(result.map(\.status).mapError(\.reason) == .success(401))
    }

    @Test func `short-lived tokens are refreshed as often as necessary`() async throws {
        let now = Locked(Date(timeIntervalSince1970: 1_700_000_000))
        let refreshes = Locked(0)
        let credentials = Credentials(clock: { now.withLock { $0 } }) { _ in
            refreshes.withLock { $0 += 1 }
            return .bearer("t", expiresAt: now.withLock { $0 + 2 })
        }
        credentials.set(.bearer("t", expiresAt: now.withLock { $0 + 2 }), in: .test)
        let (client, _) = try NetworkClient.stubbed(options: { $0.credentials = credentials }) { _ in .status(200) }

        for _ in 0..<10 {
            now.withLock { $0 += 3 }
            #expect(try await client.send(APIConfiguration(path: "x")).status == 200)
        }

        #expect(refreshes.withLock { $0 } == 10)
    }

    @Test func `tokens that have expired on arrival are refreshed only up to the limit of the time window`()
        async throws
    {
        let refreshes = Locked(0)
        let credentials = Credentials { _ in
            refreshes.withLock { $0 += 1 }
            return .bearer("t", expiresAt: .distantPast)
        }
        credentials.set(.bearer("t", expiresAt: .distantPast), in: .test)
        let (client, _) = try NetworkClient.stubbed(options: { $0.credentials = credentials }) { _ in .status(200) }

        let result = await client.result(of: APIConfiguration(path: "x"))

        #expect(
            result.map(\.status).mapError(\.reason) == .failure(.credentials(.tooManyRefreshes(limit: 5)))
        )
        #expect(refreshes.withLock { $0 } == 5)
    }
}
