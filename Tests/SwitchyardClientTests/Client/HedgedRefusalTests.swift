import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// A 4xx response to a hedge is held back while the first server may still respond.
///
/// The clock advances only when a test advances it.
@Suite(.timeLimit(.minutes(5)), .prompt) struct HedgedRefusalTests {
    private let time = ManualClock()

    /// Sends a read whose hedge to the second server gets a 4xx.
    ///
    /// Returns the response after `end`, at the latest at the deadline of 2 s.
    private func answer(
        servers: Int = 2,
        until end: Duration = .seconds(2),
        _ answer: @escaping @Sendable (String) -> StubResponse
    ) async throws -> ServiceResponse {
        // Completes inline, so that everything due has happened when `advance` returns.
        let transport = StubTransport(completion: .inline) { answer($0.server) }
        let client = try NetworkClient(service: .topics(servers: servers), transport: transport, time: time)
        let response = Task { try await client.send(APIConfiguration(path: "list", timeout: .seconds(2))) }
        #expect(await transport.waitForRequests(1))
        #expect(await time.waitForTimers(1, in: .milliseconds(250)))
        time.advance(by: .milliseconds(250))
        #expect(await transport.waitForRequests(servers))
        time.advance(by: end - .milliseconds(250))
        return try await response.value
    }

    /// Checks that a read with a hedge fails with a redirect loop at the given time.
    private func expectRedirectLoop(_ client: NetworkClient, _ transport: StubTransport, at end: Duration) async {
        let failure = Task { await client.failure(of: APIConfiguration(path: "list", timeout: .seconds(2))) }
        #expect(await transport.waitForRequests(1))
        #expect(await time.waitForTimers(1, in: .milliseconds(250)))
        time.advance(by: .milliseconds(250))
        #expect(await transport.waitForRequests(2))
        time.advance(by: end - .milliseconds(250))

        guard case .redirect(.loop) = await failure.value else {
            Issue.record("the call failed with \(String(describing: await failure.value))")
            return
        }
    }

    @Test(arguments: [401, 403, 404, 409, 429])
    func `if the hedge gets a 4xx, the first server's late response is returned instead`(status: Int)
        async throws
    {
        let time = time
        let response = try await answer(until: .milliseconds(600)) { server in
            server == "primary"
                ? .delayed(by: .milliseconds(600), on: time, .status(200))
                : .status(status)
        }

        #expect(response.status == 200)
        #expect(response.context.server == "primary")
    }

    @Test func `the 4xx of the second server is returned if the first server fails`() async throws {
        let time = time
        let response = try await answer(until: .milliseconds(600)) { server in
            server == "primary"
                ? .delayed(by: .milliseconds(600), on: time, .failure(.connectionReset))
                : .status(404)
        }

        #expect(response.status == 404)
        #expect(response.context.server == "secondary")
    }

    @Test(arguments: ["list", "http://elsewhere.test/", "ftp://secondary.test/list"])
    func `if the hedge gets a redirect that cannot be followed, the first server's late response is returned`(
        target: String
    ) async throws {
        let time = time
        let response = try await answer(until: .milliseconds(600)) { server in
            switch server {
            case "primary": .delayed(by: .milliseconds(600), on: time, .status(200))
            case "secondary": .status(307, headers: ["Location": target])
            default: .failure(.connectionRefused)
            }
        }

        #expect(response.status == 200)
        #expect(response.context.server == "primary")
    }

    @Test func `the hedge's response is returned if the first server's redirect cannot be followed`() async throws {
        let time = time
        let response = try await answer(until: .milliseconds(900)) { server in
            server == "primary"
                ? .delayed(by: .milliseconds(400), on: time, .status(307, headers: ["Location": "list"]))
                : .delayed(by: .milliseconds(600), on: time, .status(200))
        }

        #expect(response.status == 200)
        #expect(response.context.server == "secondary")
    }

    @Test(arguments: ["primary", "secondary"], ["plain", "retry"])
    func `if one attempt cannot follow its redirect and the other hangs, the call fails with the redirect error`(
        redirecting: String,
        kind: String
    ) async throws {
        let time = time
        let transport = StubTransport(completion: .inline) { request in
            request.server == redirecting
                ? .delayed(by: .milliseconds(400), on: time, .status(307, headers: ["Location": "list"])) : .never
        }
        let client = try NetworkClient(service: .topics(servers: 2), transport: transport, time: time) { options in
            if kind == "retry" { options.retry = RetryPolicy(maximumRetries: 1) }
        }

        await expectRedirectLoop(client, transport, at: .seconds(2))
    }

    @Test func `if the first server's redirect cannot be followed and the hedge fails, the redirect error is thrown`()
        async throws
    {
        let time = time
        let transport = StubTransport(completion: .inline) { request in
            request.server == "primary"
                ? .delayed(by: .milliseconds(400), on: time, .status(307, headers: ["Location": "list"]))
                : .delayed(by: .milliseconds(400), on: time, .failure(.connectionReset))
        }
        let client = try NetworkClient(service: .topics(servers: 2), transport: transport, time: time)

        await expectRedirectLoop(client, transport, at: .milliseconds(650))
    }

    @Test func `the 4xx of the second server is returned at the deadline if the first server hangs`() async throws {
        let response = try await answer { $0 == "primary" ? .never : .status(404) }

        #expect(response.status == 404)
        #expect(response.context.elapsed == .seconds(2))
    }

    // Each of these options makes the call use a flow, which has its own deadline timer.
    @Test(arguments: ["retry", "interceptor", "credentials", "limit"])
    func `the second server's 4xx is returned even if retries, interceptors, credentials or limits are set`(
        what: String
    )
        async throws
    {
        let transport = StubTransport(completion: .inline) { $0.server == "primary" ? .never : .status(404) }
        let client = try NetworkClient(service: .topics(servers: 2), transport: transport, time: time) { options in
            switch what {
            case "retry": options.retry = RetryPolicy(maximumRetries: 1)
            case "interceptor": options.interceptors = [.adapting("nothing") { _, _ in }]
            case "limit": options.limits = [ConcurrencyLimit(total: 2)]
            default:
                let credentials = Credentials { _ in nil }
                credentials.set(.bearer("t"), in: .test)
                options.credentials = credentials
            }
        }
        let response = Task { try await client.send(APIConfiguration(path: "list", timeout: .seconds(2))) }
        #expect(await transport.waitForRequests(1))
        #expect(await time.waitForTimers(1, in: .milliseconds(250)))
        time.advance(by: .milliseconds(250))
        #expect(await transport.waitForRequests(2))
        time.advance(by: .milliseconds(1_750))

        #expect(try await response.value.status == 404)
        #expect(try await response.value.context.server == "secondary")
    }

    @Test func `the hedge's 4xx is not returned at the deadline if the client has an interceptor that can retry`()
        async throws
    {
        let transport = StubTransport(completion: .inline) { $0.server == "primary" ? .never : .status(404) }
        let client = try NetworkClient(service: .topics(servers: 2), transport: transport, time: time) { options in
            options.interceptors = [.retrying("judge") { _ in .undecided }]
        }
        let failure = Task { await client.failure(of: APIConfiguration(path: "list", timeout: .seconds(2))) }
        #expect(await transport.waitForRequests(1))
        #expect(await time.waitForTimers(1, in: .milliseconds(250)))
        time.advance(by: .milliseconds(250))
        #expect(await transport.waitForRequests(2))
        time.advance(by: .milliseconds(1_750))

        #expect(await failure.value == .deadlineExceeded)
    }

    @Test func `two equal 4xx responses are returned without waiting for the first server`() async throws {
        let response = try await answer(servers: 3, until: .milliseconds(250)) { server in
            server == "primary" ? .never : .status(404)
        }

        #expect(response.status == 404)
        #expect(response.context.elapsed == .milliseconds(250))
    }

    @Test func `a 503 is returned at the deadline if no better response arrived`() async throws {
        let transport = StubTransport(completion: .inline) { $0.server == "primary" ? .status(503) : .never }
        let client = try NetworkClient(service: .topics(servers: 2), transport: transport, time: time)
        let response = Task { try await client.send(APIConfiguration(path: "list", timeout: .seconds(2))) }
        #expect(await transport.waitForRequests(2))
        #expect(await time.waitForTimers(1))
        time.advance(by: .seconds(2))

        #expect(try await response.value.status == 503)
    }
}
