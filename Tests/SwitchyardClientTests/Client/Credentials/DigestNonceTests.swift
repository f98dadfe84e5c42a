import Foundation
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardClient

/// Which nonce a request uses, and that no count of a nonce is sent twice (RFC 7616 sections 3.4 and 3.5).
@Suite(.timeLimit(.minutes(5)), .prompt) struct DigestNonceTests {
    private let server = LoopbackServer()

    /// A client of a service that protects each path with the given guard.
    private func client(_ guards: [String: DigestGuard]) throws -> NetworkClient {
        for (path, digestGuard) in guards {
            server.route(nil, path) { digestGuard.answer($0) }
        }
        try server.start()
        return try NetworkClient(service: .loopback([server])) {
            $0.credentials = Credentials(.digest(user: "u", password: "p"))
        }
    }

    @Test(arguments: [DigestResponse.Algorithm.md5, .sha256, .md5Session, .sha256Session])
    func `the next request uses the Digest nextnonce of a response`(algorithm: DigestResponse.Algorithm) async throws {
        defer { server.stop() }
        let digestGuard = DigestGuard("n", algorithm, namesNext: true)
        let client = try client(["/x": digestGuard])

        // More nonces than are stored for a server.
        for _ in 0..<20 { #expect(try await client.send(APIConfiguration(path: "x")).status == 200) }

        #expect(digestGuard.refusals == 1)
    }

    // RFC 7616 section 3.4.2: a session begins with the first request after a challenge.
    @Test func `a Digest challenge begins a new session even if its nonce was the nextnonce of a response`() throws {
        let store = DigestChallengeStore()
        let origin = try #require(RequestURL("http://x.test/")).origin
        func answer(_ nonce: String) throws -> DigestResponse {
            let text = "Digest realm=r, qop=auth, algorithm=MD5-sess, nonce=\(nonce)"
            return try #require(DigestResponse.best(of: AuthenticationChallenge.all(in: ["WWW-Authenticate": text])))
        }
        let first = store.keep(try answer("n1"), from: origin, for: "u")
        #expect(store.keep("n2", after: first, from: origin, for: "u")?.sessionNonce == "n1")

        #expect(store.keep(try answer("n2"), from: origin, for: "u").sessionNonce == "n2")
    }

    @Test func `a retry uses the Digest nextnonce of the failed response`() async throws {
        let (client, transport) = try NetworkClient.stubbed(options: {
            $0.credentials = Credentials(.digest(user: "u", password: "p"))
            $0.retry = RetryPolicy(backoff: .constant(.zero))
        }) { request in
            let field = request.headers["Authorization"] ?? ""
            if field.contains("nonce=\"n1\"") { return .status(200) }
            let challenge = "Digest realm=r, qop=auth, nonce=n0"
            return field.isEmpty
                ? .status(401, headers: ["WWW-Authenticate": challenge])
                : .status(503, headers: ["Authentication-Info": "nextnonce=\"n1\""])
        }

        #expect(try await client.send(APIConfiguration(path: "x")).status == 200)
        #expect(transport.requestCount == 3)
    }

    // The nonce is accepted only once, so a request that uses another request's nonce is rejected again.
    @Test func `concurrent requests that get a 401 each use the Digest nonce of their own challenge`() async throws {
        defer { server.stop() }
        let (digestGuard, first) = (DigestGuard(usesOfNonce: 1), Meeting(of: 3))
        // No request is rejected before all three have been sent. Otherwise, a request could start with the nonce of
        // another request's challenge.
        server.route(nil, "/x") { request in
            if request.headers["Authorization"] == nil { await first.wait() }
            return digestGuard.answer(request)
        }
        let client = try client([:])
        // All three requests have been rejected before one of them continues. The same is true for the two that are
        // rejected again.
        let meetings = [2: Meeting(of: 3), 3: Meeting(of: 2)]
        var configuration = APIConfiguration(path: "x")
        configuration.interceptors = [.adapting { _, context in await meetings[context.round]?.wait() }]

        let ends = await withTaskGroup(of: Int?.self) { [configuration] group in
            for _ in 0..<3 { group.addTask { try? await client.result(of: configuration).get().status } }
            return await group.reduce(into: []) { $0.append($1) }
        }

        #expect(ends == [200, 200, 200])
    }

    @Test func `a Digest nonce keeps its request count while another nonce is used`() async throws {
        defer { server.stop() }
        let client = try client(["/a": DigestGuard("a", usesOfNonce: 99), "/b": DigestGuard("b", usesOfNonce: 99)])

        for path in ["a", "b", "a", "b", "a"] {
            #expect(try await client.send(APIConfiguration(path: path)).status == 200)
        }
    }

    @Test func `a Digest nonce that two realms share is used for the realm that the challenge names`() async throws {
        let (client, _) = try NetworkClient.stubbed(options: {
            $0.credentials = Credentials(.digest(user: "u", password: "p"))
        }) { request in
            let realm = request.url.path.hasSuffix("a") ? "a" : "b"
            let isRight = request.headers["Authorization"]?.contains("realm=\"\(realm)\"") ?? false
            let challenge = "Digest realm=\(realm), qop=auth, nonce=n"
            return isRight ? .status(200) : .status(401, headers: ["WWW-Authenticate": challenge])
        }

        for path in ["a", "b"] { #expect(try await client.send(APIConfiguration(path: path)).status == 200) }
    }

    @Test func `each retry may answer a challenge with a new nonce if the server had accepted the previous nonce`()
        async throws
    {
        let state = Locked((nonce: 0, taken: 0))
        let (client, _) = try NetworkClient.stubbed(options: {
            $0.credentials = Credentials(.digest(user: "u", password: "p"))
            $0.retry = RetryPolicy(maximumRetries: 9, backoff: .constant(.zero))
        }) { request in
            state.withLock { state in
                guard request.headers["Authorization"]?.contains("nonce=\"n\(state.nonce)\"") == true else {
                    let challenge = "Digest realm=r, qop=auth, nonce=n\(state.nonce), stale=true"
                    return .status(401, headers: ["WWW-Authenticate": challenge])
                }
                state.nonce += 1
                state.taken += 1
                return .status(state.taken < 3 ? 503 : 200)
            }
        }

        #expect(try await client.send(APIConfiguration(path: "x")).status == 200)
    }
}

/// Releases its waiters when the given number of them have arrived.
private final class Meeting: Sendable {
    private let gate = Gate()
    private let missing: Locked<Int>

    init(of count: Int) {
        missing = Locked(count)
    }

    func wait() async {
        let isLast = missing.withLock { missing in
            missing -= 1
            return missing == 0
        }
        if isLast { gate.open() }
        await gate.pass()
    }
}
