import Foundation
import SwitchyardAPI
@testable import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardOAuth
import SwitchyardServices
import SwitchyardTesting
import Testing

/// Fifty callers with an expired token while the refresh server fails: the errors of the callers, the number of
/// refreshes, and that the user stays logged in.
@Suite(.timeLimit(.minutes(5)), .prompt) struct TokenRefreshFailureTests {
    /// The failure of the refresh server.
    enum Trouble: String, CaseIterable, CustomTestStringConvertible {
        case refuses, killed, hangs, busy, limited, garbage, portal, late

        var testDescription: String { rawValue }

        /// Whether a server has received the refresh and may have executed it.
        var isSent: Bool { self != .refuses }

        /// Whether no response arrives in time.
        var isSilent: Bool { self == .hangs || self == .late }

        func befall(_ server: LoopbackServer, _ token: LoopbackRoute, holding gate: AsyncStream<Void>) {
            switch self {
            case .refuses: server.fault = .refuse
            case .killed:
                server.route(.post, "/token") { _ in
                    server.fault = .refuse
                    throw CancellationError()
                }
            case .hangs: server.setFault(.hang, on: token)
            case .busy: server.setFault(.status(503), on: token)
            case .limited: server.setFault(.status(429, retryAfter: 7), on: token)
            case .garbage: server.setFault(.garbage, on: token)
            case .portal: server.route(.post, "/token", answering: .text("<html>Welcome to our hotel</html>"))
            case .late:
                server.route(.post, "/token") { _ in
                    for await _ in gate {}
                    return .json(#"{"access_token":"late","refresh_token":"r2"}"#)
                }
            }
        }
    }

    /// The provider of the refresh, and whether it declares a refresh as repeatable.
    enum Refresher: String, CaseIterable, CustomTestStringConvertible {
        case oauth, closure, manager

        var testDescription: String { rawValue }

        func credentials(mayBeRepeated: Bool) -> Credentials {
            switch self {
            case .oauth:
                var settings = OAuthSettings(clientID: "app", tokenEndpoint: "token")
                settings.refreshMayBeRepeated = mayBeRepeated
                return Credentials(provider: OAuthProvider(settings))
            case .closure:
                return Credentials { refresh in
                    let answer = try await refresh.client.send(Self.call(mayBeRepeated))
                    guard answer.status == 200, case .whole(let body) = answer.response.body else { return nil }
                    return .bearer(try JSONDecoder().decode(Token.self, from: body).access_token)
                }
            case .manager:
                return Credentials { refresh in
                    let api = TopicAPI(client: refresh.client)
                    return .bearer(try await api.value(Token.self, for: Self.call(mayBeRepeated)).access_token)
                }
            }
        }

        private static func call(_ mayBeRepeated: Bool) -> APIConfiguration {
            var call = APIConfiguration(path: "token", method: .post)
            if mayBeRepeated { call.idempotencyKey = .automatic }
            return call
        }
    }

    private struct Token: Decodable, Sendable { var access_token: String }

    /// A provider whose next refresh starts when all expected callers are waiting.
    private final class Gathering: CredentialProvider {
        private struct State {
            weak var credentials: Credentials?
            var expected = 0
        }

        private let base: any CredentialProvider
        private let state = Locked(State())

        init(_ base: any CredentialProvider) {
            self.base = base
        }

        var credentials: Credentials? {
            get { state.withLock { $0.credentials } }
            set { state.withLock { $0.credentials = newValue } }
        }

        func expect(_ count: Int) {
            state.withLock { $0.expected = count }
        }

        func canRefresh(_ credential: Credential?) -> Bool { base.canRefresh(credential) }

        func refresh(_ refresh: CredentialRefresh) async throws -> Credential? {
            let expected = state.withLock { state in
                defer { state.expected = 0 }
                return state.expected
            }
            await until { waiters(in: refresh.environment) >= expected }
            return try await base.refresh(refresh)
        }

        private func waiters(in environment: ServiceEnvironment) -> Int {
            credentials?.state.withLock { $0[environment]?.waiters.count } ?? 0
        }
    }

    /// Servers that all handle refreshes, the first of which fails, and a client with an expired token.
    private final class ServerConditions: Sendable {
        let servers: [LoopbackServer]
        let token: LoopbackRoute
        let client: NetworkClient
        let credentials: Credentials
        private let gathering: Gathering
        /// The manual clock for a refresh that takes too long; the system time if `nil`.
        private let clock: ManualClock?
        private let hold: AsyncStream<Void>.Continuation

        init(
            _ trouble: Trouble,
            servers count: Int,
            _ refresher: Refresher,
            mayBeRepeated: Bool,
            retry: RetryPolicy? = nil
        ) throws {
            servers = (0..<count).map { _ in LoopbackServer() }
            for server in servers {
                server.route(.post, "/token", answering: .json(#"{"access_token":"new","refresh_token":"r2"}"#))
                server.route(.get, "/topics/7") { request in
                    let isKnown = ["Bearer new", "Bearer late"].contains(request.headers["Authorization"])
                    return isKnown ? .json(#"{"id":7,"title":"seven"}"#) : LoopbackResponse(status: 401)
                }
                try server.start()
            }
            let (gate, hold) = AsyncStream.makeStream(of: Void.self)
            self.hold = hold
            token = LoopbackRoute(.post, "/token")
            gathering = Gathering(refresher.credentials(mayBeRepeated: mayBeRepeated).provider)
            credentials = Credentials(provider: gathering)
            gathering.credentials = credentials
            let end = Date(timeIntervalSinceNow: -1)
            credentials.set(.bearer("old", expiresAt: end, refreshToken: "r1"), in: "test")
            var options = NetworkClient.Options(seed: 1)
            options.credentials = credentials
            options.retry = retry
            let service = try Service(
                name: "topics",
                servers: zip(["primary", "secondary"], servers).map { name, server in
                    try Server(name: name, baseURLs: ["test": ServerURL(server.baseURL)])
                },
                defaultEnvironment: "test"
            )
            clock = trouble.isSilent && !mayBeRepeated ? ManualClock() : nil
            client = try NetworkClient(service: service, options: options, time: clock ?? SystemTime.shared)
            trouble.befall(servers[0], token, holding: gate)
        }

        /// The number of refreshes that have reached a server.
        var refreshes: Int {
            servers.reduce(0) { $0 + $1.requests.count { $0.method == .post && $0.path == "/token" } }
        }

        /// The errors of the callers.
        func call(_ count: Int = 50) async -> [APIError] {
            let topics = TopicAPI(client: client)
            gathering.expect(count)
            let time = Task { await letTimePass() }
            defer { time.cancel() }
            return await withTaskGroup(of: APIError?.self) { group in
                for _ in 0..<count {
                    group.addTask {
                        do throws(APIError) {
                            _ = try await topics.topic(7)
                            return nil
                        } catch { return error }
                    }
                }
                return await group.reduce(into: []) { if let error = $1 { $0.append(error) } }
            }
        }

        /// Advances the clock after the server has received the refresh.
        private func letTimePass() async {
            guard let clock else { return }
            await servers[0].waitForRequests(1)
            while !Task.isCancelled {
                clock.advance(by: .seconds(1))
                try? await Task.sleep(for: .milliseconds(5))
            }
        }

        func clearUp() {
            servers[0].clearFaults()
            servers[0].route(.post, "/token", answering: .json(#"{"access_token":"new","refresh_token":"r2"}"#))
        }

        func stop() {
            hold.finish()
            client.shutdown()
            for server in servers { server.stop() }
        }
    }

    /// Checks that one refresh served all callers.
    private static func expect(refreshes: Int, isSent: Bool) {
        #expect(refreshes == (isSent ? 1 : 0))
    }

    private static func expect(conditions errors: [APIError], count: Int = 50) {
        #expect(errors.count == count)
        for error in errors {
            #expect([101, 102].contains(error.code.number), "\(error)")
            #expect(error.isRetryable)
            #expect(!error.mayHaveBeenExecuted)
            guard case .tokenRefresh = error.reason else {
                Issue.record("expected a refresh failure, got \(error)")
                return
            }
        }
    }

    @Test(arguments: Trouble.allCases, Refresher.allCases)
    func `if the only server for token refreshes fails, all waiting calls get a transient error`(
        _ trouble: Trouble,
        _ refresher: Refresher
    ) async throws {
        let conditions = try ServerConditions(trouble, servers: 1, refresher, mayBeRepeated: false)
        defer { conditions.stop() }

        Self.expect(conditions: await conditions.call())

        Self.expect(refreshes: conditions.refreshes, isSent: trouble.isSent)
        #expect(conditions.credentials.credential(in: "test")?.refreshToken == "r1", "the user must stay logged in")
    }

    @Test(arguments: Refresher.allCases)
    func `a token refresh that could not be sent to the first server is sent to the next server`(_ refresher: Refresher)
        async throws
    {
        let conditions = try ServerConditions(.refuses, servers: 2, refresher, mayBeRepeated: false)
        defer { conditions.stop() }

        #expect(await conditions.call().isEmpty)
        #expect(conditions.refreshes == 1)
    }

    @Test(arguments: [Trouble.killed, .hangs, .busy, .garbage], Refresher.allCases)
    func `a token refresh that a server may have received is not sent to another server unless it is repeatable`(
        _ trouble: Trouble,
        _ refresher: Refresher
    ) async throws {
        let conditions = try ServerConditions(trouble, servers: 2, refresher, mayBeRepeated: false)
        defer { conditions.stop() }

        Self.expect(conditions: await conditions.call())
        Self.expect(refreshes: conditions.refreshes, isSent: true)
    }

    @Test(arguments: [Trouble.killed, .hangs, .busy, .garbage, .late], Refresher.allCases)
    func `a repeatable token refresh is sent to another server after a failure, and all waiting calls succeed`(
        _ trouble: Trouble,
        _ refresher: Refresher
    ) async throws {
        let conditions = try ServerConditions(trouble, servers: 2, refresher, mayBeRepeated: true)
        defer { conditions.stop() }

        #expect(await conditions.call().isEmpty)
        #expect(conditions.refreshes == 2)
    }

    @Test func `token refreshes that fail transiently do not count against the limit of refreshes`() async throws {
        let conditions = try ServerConditions(.busy, servers: 1, .oauth, mayBeRepeated: false)
        defer { conditions.stop() }
        for _ in 0..<8 { Self.expect(conditions: await conditions.call(3), count: 3) }

        conditions.clearUp()

        #expect(await conditions.call().isEmpty)
    }

    @Test
    func `with a retry policy, calls that wait for a token refresh succeed after a transient failure of the refresh`()
        async throws
    {
        let retry = RetryPolicy(maximumRetries: 20, backoff: .constant(.milliseconds(100)))
        let conditions = try ServerConditions(
            .busy,
            servers: 1,
            .oauth,
            mayBeRepeated: false,
            retry: retry
        )
        defer { conditions.stop() }
        let errors = Task { await conditions.call() }
        #expect(await conditions.servers[0].waitForRequests(3))

        conditions.clearUp()

        #expect(await errors.value.isEmpty)
    }

    @Test func `a rejected token does not require a login if its refresh fails transiently`() async throws {
        let conditions = try ServerConditions(.busy, servers: 1, .oauth, mayBeRepeated: false)
        defer { conditions.stop() }
        conditions.credentials.set(.bearer("old", refreshToken: "r1"), in: "test")

        Self.expect(conditions: await conditions.call())

        Self.expect(refreshes: conditions.refreshes, isSent: true)
    }

    @Test func `a call whose deadline passes during a token refresh ends with its own deadline error`() async throws {
        let conditions = try ServerConditions(.hangs, servers: 1, .oauth, mayBeRepeated: true)
        defer { conditions.stop() }
        var call = TopicAPI.topic(7)
        call.method = .post
        call.timeout = .milliseconds(300)
        let topics = TopicAPI(client: conditions.client)

        let error = try #require(
            await #expect(throws: APIError.self) { try await topics.value(Topic.self, for: call) }
        )

        #expect(error.reason == .limited(.deadline))
        #expect(error.isRetryable && !error.mayHaveBeenExecuted)
    }

    @Test func `a rejected refresh token is not transient`() async throws {
        let conditions = try ServerConditions(.busy, servers: 1, .oauth, mayBeRepeated: false)
        defer { conditions.stop() }
        conditions.clearUp()
        var refusal = LoopbackResponse.json(#"{"error":"invalid_grant"}"#)
        refusal.status = 400
        conditions.servers[0].route(.post, "/token", answering: refusal)

        let errors = await conditions.call()

        #expect(errors.count == 50 && errors.allSatisfy { $0.reason == .security(.loginRequired) })
        #expect(conditions.refreshes == 1)
    }
}
