import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardClient

/// Retries that were charged to the budget but never made.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct RetryBudgetTests {
    private let clock = ManualClock()
    private let budget = RetryBudget(capacity: 10, cost: 5)

    private func client(
        _ change: @escaping (inout RetryPolicy) -> Void = { _ in },
        answer: StubResponse
    ) throws -> (client: NetworkClient, transport: StubTransport) {
        try NetworkClient.stubbed(
            time: clock,
            options: { options in
                var policy = RetryPolicy(maximumRetries: 5, backoff: .constant(.seconds(10)))
                policy.budget = budget
                change(&policy)
                options.retry = policy
            },
            answer: { _ in answer }
        )
    }

    @Test func `a retry whose request is cancelled during the delay costs no retry tokens`() async throws {
        let (client, transport) = try client(answer: .status(503))
        let call = Task { await client.failure(of: APIConfiguration(path: "x")) }
        #expect(await clock.waitForTimers(1, in: .seconds(10)))
        #expect(budget.available == 5)

        client.cancelAll()

        #expect(await call.value == .cancelled)
        await until { budget.available == 10 }
        #expect(transport.requestCount == 1)
    }

    @Test func `a retry that waits for the network in vain costs no retry tokens`() async throws {
        let (client, transport) = try client({ $0.networkWait = .seconds(5) }, answer: .failure(.offline))
        let call = Task { await client.failure(of: APIConfiguration(path: "x")) }
        #expect(await clock.waitForTimers(1, in: .seconds(5)))

        clock.advance(by: .seconds(5))

        #expect(await call.value != nil)
        #expect(budget.available == 10)
        #expect(transport.requestCount == 1)
    }

    @Test func `if the backoff is longer than the remaining time, the request waits for the network instead`()
        async throws
    {
        let answers = AnswerList([.failure(.offline), .status(200)])
        var policy = RetryPolicy(maximumRetries: 3, backoff: .constant(.seconds(60)))
        policy.networkWait = .seconds(8)
        let (client, transport) = try NetworkClient.stubbed(time: clock, options: { $0.retry = policy }) { request in
            answers.answer(request)
        }
        client.networkChanged(isOnline: false)
        let call = Task { try await client.send(APIConfiguration(path: "x", timeout: .seconds(10))).status }
        #expect(await clock.waitForTimers(1, in: .seconds(8)))

        client.networkChanged(isOnline: true)

        #expect(try await call.value == 200)
        #expect(transport.requestCount == 2)
    }

    @Test(arguments: [
        (TransportError.Kind.timeout, 8), (.connectTimeout, 8), (.connectionReset, 3), (.connectionRefused, 3),
    ])
    func `a retry after a timeout of any kind costs more retry tokens than after another failure`(
        kind: TransportError.Kind,
        cost: Int
    ) {
        let budget = RetryBudget(capacity: 10, cost: 3, timeoutCost: 8)

        #expect(budget.take(after: TransportError(kind, message: "")) == cost)
        #expect(budget.available == 10 - cost)
    }

    @Test func `a retry that was sent costs retry tokens even if an interceptor then ends the request`() async throws {
        struct Veto: Error {}
        var policy = RetryPolicy(maximumRetries: 5, backoff: .constant(.zero))
        policy.budget = budget
        let (client, transport) = try NetworkClient.stubbed(options: { options in
            options.retry = policy
            options.interceptors = [.retrying("veto") { $0.context.round > 1 ? .fail(Veto()) : .undecided }]
        }) { _ in .status(503) }

        #expect(await client.failure(of: APIConfiguration(path: "x")) != nil)

        #expect(transport.requestCount == 2)
        #expect(budget.available == 5)
    }

    @Test func `a retry that fails costs retry tokens`() async throws {
        let (client, transport) = try client({ $0.maximumRetries = 1 }, answer: .status(503))
        let call = Task { await client.failure(of: APIConfiguration(path: "x")) }
        #expect(await clock.waitForTimers(1, in: .seconds(10)))

        clock.advance(by: .seconds(10))

        #expect(await call.value == nil)
        #expect(budget.available == 5)
        #expect(transport.requestCount == 2)
    }
}
