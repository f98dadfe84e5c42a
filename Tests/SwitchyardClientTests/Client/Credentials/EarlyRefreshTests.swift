import Foundation
import SwitchyardFixtures
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardClient

/// Which requests are sent with the present credential when a refresh fails.
@Suite(.timeLimit(.minutes(5)), .prompt) struct EarlyRefreshTests {
    private static let now = Date(timeIntervalSince1970: 1_000_000)

    /// A credential that does not expire, and one that expires much later.
    @Test(arguments: [nil, now.addingTimeInterval(3_600)])
    func `a request that waits for the refresh of a rejected credential is not sent with the rejected credential`(
        end: Date?
    ) async throws {
        let door = Gate()
        let refreshes = Locked(0)
        let credentials = Credentials(clock: { Self.now }) { _ in
            refreshes.withLock { $0 += 1 }
            await door.pass()
            throw SampleError()
        }
        credentials.set(.bearer("t", expiresAt: end), in: .test)
        let (client, transport) = try NetworkClient.stubbed(options: { $0.credentials = credentials }) { _ in
            .status(401)
        }

        let refused = Task { await client.failure(of: APIConfiguration(path: "x")) }
        await door.waitForArrivals(1)
        let waiting = Task { await client.failure(of: APIConfiguration(path: "y")) }
        await until { credentials.state.withLock { $0[.test]?.waiters.count } == 2 }
        door.open()

        let failure = RequestFailure.Reason.credentials(
            .refreshFailed(InterceptorError(name: "refresh", underlying: SampleError()))
        )
        #expect(await [refused.value, waiting.value] == [failure, failure])
        #expect(transport.requestCount == 1)
        #expect(refreshes.withLock { $0 } == 1)
    }

    // A refresh that returns a credential with a lifetime below the leeway ends early refreshes of that credential
    // only.
    @Test func `after a short-lived credential, the credential of the next login is again refreshed early`()
        async throws
    {
        let refreshes = Locked(0)
        let credentials = Credentials(clock: { Self.now }) { _ in
            refreshes.withLock { $0 += 1 }
            return .bearer("short", expiresAt: Self.now.addingTimeInterval(10))
        }
        credentials.set(.bearer("expired", expiresAt: Self.now), in: .test)
        let (client, _) = try NetworkClient.stubbed(options: { $0.credentials = credentials }) { _ in .status(200) }
        for _ in 0..<2 { _ = try await client.send(APIConfiguration(path: "x")) }
        #expect(refreshes.withLock { $0 } == 1)

        credentials.set(.bearer("login", expiresAt: Self.now.addingTimeInterval(20)), in: .test)
        _ = try await client.send(APIConfiguration(path: "x"))

        #expect(refreshes.withLock { $0 } == 2)
    }

    @Test func `requests that wait for an early refresh are sent with the old credential if the refresh fails`()
        async throws
    {
        let door = Gate()
        let credentials = Credentials(clock: { Self.now }) { _ in
            await door.pass()
            throw SampleError()
        }
        credentials.set(.bearer("t", expiresAt: Self.now.addingTimeInterval(20)), in: .test)
        let (client, _) = try NetworkClient.stubbed(options: { $0.credentials = credentials }) { _ in .status(200) }

        let calls = (0..<2).map { _ in Task { await client.result(of: APIConfiguration(path: "x")) } }
        await until { credentials.state.withLock { $0[.test]?.waiters.count } == 2 }
        door.open()

        for call in calls { #expect(try await call.value.get().status == 200) }
    }
}
