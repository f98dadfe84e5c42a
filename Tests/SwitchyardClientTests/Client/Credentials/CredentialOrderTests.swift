import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The credential that is stored for the next launch when a refresh and a logout coincide.
@Suite(.timeLimit(.minutes(5)), .prompt) struct CredentialOrderTests {
    /// Records the credentials that it is asked to store, in order, and returns tokens.
    private final class Keychain: CredentialProvider {
        private let state = Locked<[Credential?]>([])

        var kept: [Credential?] { state.withLock { $0 } }

        func canRefresh(_ credential: Credential?) -> Bool { credential != nil }
        func refresh(_ refresh: CredentialRefresh) async throws -> Credential? { .bearer("new") }
        func store(_ credential: Credential?, in environment: ServiceEnvironment) async {
            state.withLock { $0.append(credential) }
        }
    }

    @Test func `if a logout coincides with the end of a refresh, the logout is stored and reported after the token`()
        async throws
    {
        for _ in 0..<20 {
            let keychain = Keychain()
            let credentials = Credentials(provider: keychain)
            var events = credentials.events().makeAsyncIterator()
            credentials.set(.bearer("old"), in: .test)
            let (client, _) = try NetworkClient.stubbed(options: { $0.credentials = credentials }) { request in
                .status(request.headers["Authorization"] == "Bearer old" ? 401 : 200)
            }
            let isOver = Locked(false)
            defer { isOver.withLock { $0 = true } }
            // A thread of its own, because the shared pools must not block.
            Thread.detachNewThread {
                // Yields to other threads, which need the lock too.
                while credentials.version(in: .test) < 2, !isOver.withLock({ $0 }) { sched_yield() }
                credentials.logOut(in: .test)
            }

            _ = await client.result(of: APIConfiguration(path: "x"))
            await until { keychain.kept.count == 3 }

            var heard: [CredentialEvent.Kind?] = []
            for _ in 0..<3 { heard.append(await events.next()?.kind) }
            #expect(keychain.kept == [.bearer("old"), .bearer("new"), nil])
            #expect(heard == [.set, .refreshed, .loggedOut])
        }
    }
}
