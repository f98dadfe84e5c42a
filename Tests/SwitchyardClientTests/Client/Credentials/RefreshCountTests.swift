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

    @Test func `a refresh whose provider returns nil does not count towards the limit of credential refreshes`()
        async throws
    {
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

    @Test func `a token that has expired on arrival by the device's clock is used until the server rejects it`()
        async throws
    {
        let refreshes = Locked(0)
        let credentials = Credentials { _ in
            let number = refreshes.withLock { refreshes in
                refreshes += 1
                return refreshes
            }
            return .bearer("t\(number)", expiresAt: .distantPast)
        }
        credentials.set(.bearer("t0", expiresAt: .distantPast), in: .test)
        let good = Locked("t1")
        let (client, transport) = try NetworkClient.stubbed(options: { $0.credentials = credentials }) { request in
            .status(request.headers["Authorization"] == "Bearer \(good.withLock { $0 })" ? 200 : 401)
        }

        for _ in 0..<10 { #expect(try await client.send(APIConfiguration(path: "x")).status == 200) }
        good.withLock { $0 = "t2" }
        for _ in 0..<10 { #expect(try await client.send(APIConfiguration(path: "x")).status == 200) }

        #expect(refreshes.withLock { $0 } == 2)
        #expect(transport.requestCount == 21)
        #expect(credentials.credential(in: .test) == .bearer("t2", expiresAt: .distantPast))
    }

    @Test func `an expired token that the provider returns again is refreshed only up to the limit`() async throws {
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

    @Test func `a token that has expired on arrival is passed to the provider's storage with its expiry date`()
        async throws
    {
        let provider = ExpiredTokenProvider()
        let credentials = Credentials(provider: provider)
        let (client, _) = try NetworkClient.stubbed(options: { $0.credentials = credentials }) { _ in .status(200) }

        _ = try await client.send(APIConfiguration(path: "x"))

        #expect(await provider.stored.stream.first { _ in true } == .bearer("t", expiresAt: .distantPast))
    }
}

/// Returns a token that has expired, and records the credential that it has to store.
private struct ExpiredTokenProvider: CredentialProvider {
    let stored = AsyncStream.makeStream(of: Credential?.self)

    func canRefresh(_ credential: Credential?) -> Bool { true }

    func refresh(_ refresh: CredentialRefresh) async throws -> Credential? { .bearer("t", expiresAt: .distantPast) }

    func store(_ credential: Credential?, in environment: ServiceEnvironment) async {
        stored.continuation.yield(credential)
    }
}
