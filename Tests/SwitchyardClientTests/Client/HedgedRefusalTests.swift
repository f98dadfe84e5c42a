import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// A refusal by an extra attempt is no response as long as the server that was asked first may still give one.
///
/// Time stands still unless a test moves it.
@Suite(.timeLimit(.minutes(5)), .prompt) struct HedgedRefusalTests {
    private let time = ManualClock()

    /// Sends a read of which the hedge at the second server is refused; the response comes when its deadline of 2 s has
    /// passed, or before.
    private func answer(
        servers: Int = 2,
        until end: Duration = .seconds(2),
        _ answer: @escaping @Sendable (String) -> StubResponse
    ) async throws -> ServiceResponse {
        // Inline, so that what is due has come when the clock stands again.
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

    @Test(arguments: [401, 403, 404, 409, 429])
    func `the late response of the first server wins over a refusal by the second`(status: Int) async throws {
        let time = time
        let response = try await answer(until: .milliseconds(600)) { server in
            server == "primary"
                ? .delayed(by: .milliseconds(600), on: time, .status(200))
                : .status(status)
        }

        #expect(response.status == 200)
        #expect(response.context.server == "primary")
    }

    @Test func `when the first server fails in the end, the refusal is the response`() async throws {
        let time = time
        let response = try await answer(until: .milliseconds(600)) { server in
            server == "primary"
                ? .delayed(by: .milliseconds(600), on: time, .failure(.connectionReset))
                : .status(404)
        }

        #expect(response.status == 404)
        #expect(response.context.server == "secondary")
    }

    @Test func `when the first server never answers, the refusal is the response at the deadline`() async throws {
        let response = try await answer { $0 == "primary" ? .never : .status(404) }

        #expect(response.status == 404)
        #expect(response.context.elapsed == .seconds(2))
    }

    // A call with any of these goes by a flow, which has a timer for its deadline, too.
    @Test(arguments: ["retry", "interceptor", "credentials", "limit"])
    func `so it is for a call with more around it`(what: String) async throws {
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

    @Test func `past an interceptor that has a say in answers none goes at the deadline`() async throws {
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

    @Test func `two servers that refuse alike are enough`() async throws {
        let response = try await answer(servers: 3, until: .milliseconds(250)) { server in
            server == "primary" ? .never : .status(404)
        }

        #expect(response.status == 404)
        #expect(response.context.elapsed == .milliseconds(250))
    }

    @Test func `an error available is the response at the deadline when nothing better has come`() async throws {
        let transport = StubTransport(completion: .inline) { $0.server == "primary" ? .status(503) : .never }
        let client = try NetworkClient(service: .topics(servers: 2), transport: transport, time: time)
        let response = Task { try await client.send(APIConfiguration(path: "list", timeout: .seconds(2))) }
        #expect(await transport.waitForRequests(2))
        #expect(await time.waitForTimers(1))
        time.advance(by: .seconds(2))

        #expect(try await response.value.status == 503)
    }
}
