import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@Suite(.timeLimit(.minutes(5)), .prompt)
struct RetryTests {
    private static func client(
        _ policy: RetryPolicy?,
        servers: Int = 1,
        time: ManualClock = ManualClock(),
        _ answers: [StubResponse]
    ) throws -> (client: NetworkClient, transport: StubTransport) {
        let list = AnswerList(answers)
        return try NetworkClient.stubbed(servers: servers, time: time, options: { $0.retry = policy }) {
            list.answer($0)
        }
    }

    private static let immediate = RetryPolicy(backoff: .constant(.zero))

    @Test func `no request is retried without a retry policy`() async throws {
        let (client, transport) = try Self.client(nil, [.status(503)])

        let answer = try await client.send(APIConfiguration(path: "x"))

        #expect(answer.status == 503)
        #expect(transport.requestCount == 1)
    }

    @Test func `a call may set its own number of retries`() async throws {
        let (client, transport) = try Self.client(Self.immediate, [.status(503)])
        var configuration = APIConfiguration(path: "x")
        configuration.retry = RetryPolicy(maximumRetries: 4, backoff: .constant(.zero))

        let answer = try await client.send(configuration)

        #expect(answer.status == 503)
        #expect(answer.context.rounds == 5)
        #expect(transport.requestCount == 5)
    }

    @Test func `a call may disable the client's retry policy`() async throws {
        let (client, transport) = try Self.client(Self.immediate, [.status(503)])
        var configuration = APIConfiguration(path: "x")
        configuration.retry = .never

        _ = try await client.send(configuration)

        #expect(transport.requestCount == 1)
    }

    @Test func `a failed request is retried after a second`() async throws {
        let clock = ManualClock()
        let policy = RetryPolicy(maximumRetries: 1, backoff: .constant(.seconds(1)))
        let (client, transport) = try Self.client(policy, time: clock, [.failure(.connectionReset), .status(200)])

        let call = Task { try await client.send(APIConfiguration(path: "x")) }
        await clock.waitForTimers(1, in: .seconds(1))
        clock.advance(by: .milliseconds(999))
        #expect(transport.requestCount == 1)
        clock.advance(by: .milliseconds(1))

        #expect(try await call.value.status == 200)
    }

    @Test func `the delay before a retry is determined by the backoff and the client's seed`() async throws {
        let clock = ManualClock()
        let waits = AsyncStream.makeStream(of: Duration.self)
        let (client, _) = try NetworkClient.stubbed(
            time: clock,
            options: {
                $0.retry = RetryPolicy(maximumRetries: 3, backoff: .exponential(base: .seconds(1), cap: .seconds(3)))
                $0.interceptors = [
                    .observing { event in
                        if case .waiting(let pause) = event.kind { waits.continuation.yield(pause) }
                    }
                ]
            }
        ) { _ in .status(500) }

        let call = Task { try await client.send(APIConfiguration(path: "x")) }
        var pauses: [Duration] = []
        for await pause in waits.stream {
            pauses.append(pause)
            await clock.waitForTimers(1, in: pause)
            clock.advance(by: pause)
            if pauses.count == 3 { break }
        }
        _ = try await call.value

        #expect(zip(pauses, [1, 2, 3]).allSatisfy { $0 >= .zero && $0 <= .seconds($1) })
    }

    @Test(arguments: ["GET", "HEAD", "OPTIONS", "TRACE"])
    func `safe methods are retried after 408, 500, 502, 503 and 504`(method: String) async throws {
        for status in [408, 500, 502, 503, 504] {
            let (client, transport) = try Self.client(Self.immediate, [.status(status), .status(200)])

            _ = try await client.send(APIConfiguration(path: "x", method: try #require(HTTPMethod(method))))

            #expect(transport.requestCount == 2, "\(status)")
        }
    }

    @Test func `a write is retried only if it has an idempotency key or was certainly not sent`() async throws {
        var keyed = APIConfiguration(path: "x", method: .post)
        keyed.idempotencyKey = .automatic
        let cases: [(APIConfiguration, StubResponse, Int)] = [
            (APIConfiguration(path: "x", method: .post), .failure(.connectionReset), 1),
            (APIConfiguration(path: "x", method: .post), .status(503), 1),
            (APIConfiguration(path: "x", method: .post), .failure(.connectionRefused), 2), (keyed, .status(503), 2),
        ]
        for (configuration, answer, expected) in cases {
            let (client, transport) = try Self.client(Self.immediate, [answer, .status(200)])

            _ = await client.result(of: configuration)

            #expect(transport.requestCount == expected)
        }
    }

    // RFC 9110 section 15.4.4: a 303 means that the write has been executed.
    @Test(arguments: [303, 307])
    func `a redirected write is not sent again if its target cannot be reached`(
        status: Int
    ) async throws {
        let (client, transport) = try NetworkClient.stubbed(options: { $0.retry = Self.immediate }) { request in
            request.url.path == "/done"
                ? .failure(.connectionRefused) : .status(status, headers: ["Location": "/done"])
        }

        let reason = await client.failure(of: APIConfiguration(path: "x", method: .post))

        #expect(transport.requests.map(\.url.path) == ["/v1/x", "/done"])
        guard case .transport(let error) = reason else { throw SampleError() }
        #expect(error.kind == .connectionRefused)
        #expect(error.mayHaveBeenSent)
    }

    @Test func `the connectionLost policy retries only lost connections`() async throws {
        let policy = RetryPolicy.connectionLost(backoff: .constant(.zero))
        for (answer, expected) in [
            (StubResponse.failure(.connectionReset), 3), (.failure(.timeout), 1), (.status(503), 1),
        ] {
            let (client, transport) = try Self.client(policy, [answer])

            _ = await client.result(of: APIConfiguration(path: "x"))

            #expect(transport.requestCount == expected)
        }
    }

    @Test func `a retry policy retries a connect timeout even for a write`() async throws {
        let (client, transport) = try Self.client(Self.immediate, [.failure(.connectTimeout), .status(200)])

        let answer = try await client.send(APIConfiguration(path: "x", method: .post))

        #expect(answer.status == 200)
        #expect(transport.requestCount == 2)
    }

    @Test func `a request fails over to the next server before the retry policy decides`() async throws {
        let (client, transport) = try Self.client(
            Self.immediate,
            servers: 2,
            [.failure(.connectionReset), .status(200)]
        )

        let answer = try await client.send(APIConfiguration(path: "x"))

        #expect(answer.context.rounds == 1)
        #expect(transport.requests.map(\.server) == ["primary", "secondary"])
    }

    @Test func `an interceptor, not the policy, may retry a response with an unusable body`() async throws {
        // Decoding happens after the flow, so an interceptor that depends on the body has to decide about the
        // response.
        let bodies = AnswerList([.json("not json"), .json("{}")])
        let (client, transport) = try NetworkClient.stubbed(options: {
            $0.retry = Self.immediate
            $0.interceptors = [
                .retrying { round in
                    guard case .success(let answer) = round.result, answer.text != "{}" else { return .undecided }
                    return .retryNow
                }
            ]
        }) { bodies.answer($0) }

        let answer = try await client.send(APIConfiguration(path: "x"))

        #expect(answer.text == "{}")
        #expect(transport.requestCount == 2)
    }

    @Test func `the deadline covers all retries, and no delay starts that would exceed the deadline`() async throws {
        let clock = ManualClock()
        let policy = RetryPolicy(maximumRetries: 9, backoff: .constant(.seconds(4)))
        let (client, transport) = try Self.client(policy, time: clock, [.status(503)])

        let call = Task { try await client.send(APIConfiguration(path: "x", timeout: .seconds(10))) }
        for _ in 0..<2 {
            await clock.waitForTimers(1, in: .seconds(4))
            clock.advance(by: .seconds(4))
        }

        #expect(try await call.value.status == 503)
        #expect(transport.requestCount == 3)
        #expect(clock.now == MonotonicTime(seconds: 8))
    }

    @Test func `a cancel during the delay before a retry ends the request`() async throws {
        let clock = ManualClock()
        let (client, transport) = try Self.client(
            RetryPolicy(backoff: .constant(.seconds(5))),
            time: clock,
            [.status(503)]
        )
        let id = RequestID()

        let call = Task { await client.failure(of: APIConfiguration(path: "x"), id: id) }
        await clock.waitForTimers(1, in: .seconds(5))
        client.cancel(id)

        #expect(await call.value == .cancelled)
        #expect(transport.requestCount == 1)
        // A cancel may arrive while the timer is being set. The timer is then cancelled.
        await until { clock.pendingTimers == 0 }
    }

    @Test func `creating a client with an invalid retry count throws`() throws {
        #expect(throws: ClientError.retry(.negativeCount(-1))) {
            _ = try NetworkClient.stubbed(options: { $0.retry = RetryPolicy(maximumRetries: -1) }) { _ in .never }
        }
    }

    @Test(arguments: [(0.0, 5), (0.5, 10), (1.0, 12)])
    func `a random delay before a retry is never above the cap of the backoff`(random: Double, seconds: Int) {
        let backoff = Backoff(base: .seconds(10), growth: .constant, cap: .seconds(12), jitter: .spread(0.5))

        #expect(backoff.delay(beforeRetry: 1, random: random) == .seconds(seconds))
    }
}
