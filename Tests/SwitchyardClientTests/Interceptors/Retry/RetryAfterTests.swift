import Foundation
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardClient

@Suite(.timeLimit(.minutes(5)), .prompt)
struct RetryAfterTests {
    private static func pause(
        _ field: String,
        status: Int = 503,
        ceiling: Duration? = .seconds(60),
        now: Date = Date(timeIntervalSince1970: 946_684_740)
    ) throws -> Duration? {
        var policy = RetryPolicy(backoff: .constant(.seconds(1)))
        policy.retryAfterCeiling = ceiling
        let round = RoundResult.sample(status: status, headers: ["Retry-After": field])
        guard case .retry(let pause) = policy.decision(for: round, random: 1, now: now) else { return nil }
        return pause
    }

    // The obsolete RFC 850 date counts from 1999-12-31 23:59:00.
    @Test(arguments: [
        ("7", 7), ("Fri, 31 Dec 1999 23:59:59 GMT", 59), ("Friday, 31-Dec-99 23:59:30 GMT", 30),
        ("Fri Dec 31 23:59:10 1999", 10), ("0", 1), ("Fri, 31 Dec 1999 23:00:00 GMT", 1), ("soon", 1), ("-5", 1),
    ])
    func `a retry obeys both forms of Retry-After, but its delay is never below the backoff`(
        field: String,
        seconds: Int
    )
        throws
    {
        #expect(try Self.pause(field) == .seconds(seconds))
    }

    @Test func `a two-digit year in Retry-After is resolved relative to the given time, not to today`() throws {
        let newYear = Date(timeIntervalSince1970: 3_786_912_000)  // 2090

        #expect(try Self.pause("Sunday, 01-Jan-90 00:00:30 GMT", now: newYear) == .seconds(30))
    }

    @Test(arguments: ["61", "3155760000", "99999999999999999999", "Fri, 31 Dec 2100 23:59:59 GMT"])
    func `a request is not retried if Retry-After is longer than the retry policy allows`(field: String) throws {
        #expect(try Self.pause(field) == nil)
    }

    @Test(arguments: [HTTPMethod.get, .post])
    func `a request that was dropped as overloaded is retried like a 503 whatever its method`(method: HTTPMethod) {
        var round = RoundResult.sample(method: method)
        let place = RequestContext(service: "topics", environment: .test, method: method)
        round.result = .failure(RequestFailure(.overloaded, id: RequestID(), context: place))
        let policy = RetryPolicy(backoff: .constant(.seconds(1)))
        var other = policy
        other.statuses = [500]

        guard case .retry(after: .seconds(1)) = policy.decision(for: round, random: 1) else {
            Issue.record("the request is not retried")
            return
        }
        guard case .undecided = other.decision(for: round, random: 1) else {
            Issue.record("the request is retried although 503 is not")
            return
        }
    }

    @Test func `a retry policy can ignore Retry-After`() throws {
        #expect(try Self.pause("7", ceiling: nil) == .seconds(1))
    }

    @Test func `no request is retried while the retry budget is empty, and successful requests refill the budget`()
        async throws
    {
        let budget = RetryBudget(capacity: 10, cost: 5)
        let isUp = Locked(false)
        let (client, transport) = try NetworkClient.stubbed(options: {
            $0.retry = RetryPolicy(maximumRetries: 5, backoff: .constant(.zero))
            $0.retry?.budget = budget
        }) { _ in .status(isUp.withLock { $0 } ? 200 : 503) }

        _ = try await client.send(APIConfiguration(path: "x"))
        #expect(transport.requestCount == 3)
        #expect(budget.available == 0)

        isUp.withLock { $0 = true }
        for _ in 0..<4 { _ = try await client.send(APIConfiguration(path: "x")) }
        #expect(budget.available == 4)
    }

    @Test func `requests that fail offline wait together until the network is back`() async throws {
        let clock = ManualClock()
        let isOnline = Locked(false)
        let (client, transport) = try NetworkClient.stubbed(
            time: clock,
            options: {
                $0.retry = RetryPolicy()
                $0.retry?.networkWait = .seconds(5)
            }
        ) { _ in isOnline.withLock { $0 } ? .status(200) : .failure(.offline) }

        let calls = (0..<3).map { _ in Task { try await client.send(APIConfiguration(path: "x")).status } }
        await clock.waitForTimers(3, in: .seconds(5))
        isOnline.withLock { $0 = true }
        client.networkChanged(isOnline: true)

        for call in calls { #expect(try await call.value == 200) }
        #expect(transport.requestCount == 6)
    }

    @Test func `a request that waits for the network fails with its offline error if the network is not back in time`()
        async throws
    {
        let clock = ManualClock()
        let (client, transport) = try NetworkClient.stubbed(
            time: clock,
            options: {
                $0.retry = RetryPolicy()
                $0.retry?.networkWait = .seconds(5)
            }
        ) { _ in .failure(.offline) }

        let call = Task { await client.failure(of: APIConfiguration(path: "x")) }
        await clock.waitForTimers(1, in: .seconds(5))
        clock.advance(by: .seconds(5))

        guard case .transport(let error) = await call.value else {
            Issue.record("unexpected result")
            return
        }
        #expect(error.kind == .offline)
        #expect(transport.requestCount == 1)
    }

    @Test func `a retry does not wait for the network if the network came back while interceptors decided`()
        async throws
    {
        let clock = ManualClock()
        let answers = AnswerList([.failure(.offline), .status(200)])
        let sender = Locked<NetworkClient?>(nil)
        let (client, transport) = try NetworkClient.stubbed(
            time: clock,
            options: {
                $0.retry = RetryPolicy()
                $0.retry?.networkWait = .seconds(5)
                $0.interceptors = [
                    .retrying { _ in
                        sender.withLock { $0 }?.networkChanged(isOnline: true)
                        return .undecided
                    }
                ]
            }
        ) { answers.answer($0) }
        sender.withLock { $0 = client }

        let call = Task { await client.failure(of: APIConfiguration(path: "x")) }
        await until { transport.requestCount == 2 || client.core.connectivity.waiting == 1 }

        #expect(client.core.connectivity.waiting == 0)
        clock.advance(by: .seconds(5))
        sender.withLock { $0 = nil }
        #expect(await call.value == nil)
    }

    @Test func `a retry does not wait for the network if the network came back during the failed attempt`() async throws
    {
        let clock = ManualClock()
        let answers = AnswerList([.failure(.offline), .status(200)])
        let sender = Locked<NetworkClient?>(nil)
        let (client, transport) = try NetworkClient.stubbed(
            time: clock,
            options: {
                $0.retry = RetryPolicy()
                $0.retry?.networkWait = .seconds(5)
            }
        ) { request in
            sender.withLock { $0 }?.networkChanged(isOnline: true)
            return answers.answer(request)
        }
        sender.withLock { $0 = client }

        let call = Task { await client.failure(of: APIConfiguration(path: "x")) }
        await until { transport.requestCount == 2 || client.core.connectivity.waiting == 1 }

        #expect(client.core.connectivity.waiting == 0)
        clock.advance(by: .seconds(5))
        sender.withLock { $0 = nil }
        #expect(await call.value == nil)
    }

    @Test func `returned tokens never exceed the capacity of the retry budget`() {
        let endless = RetryBudget(capacity: .max)
        endless.refund(nil)
        let small = RetryBudget(capacity: 5)
        small.refund(.max)

        #expect(endless.available == .max)
        #expect(small.available == 5)
    }
}
