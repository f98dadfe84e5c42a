import SwitchyardClient
import SwitchyardServices
import SwitchyardTesting
import Testing

/// Row K17.
@Suite(.timeLimit(.minutes(1))) struct PacingTests {
    @Test func `K17: a debounced request goes when it is quiet, the earlier ones are superseded`() async throws {
        let clock = ManualClock()
        let typing = Debounce(.milliseconds(300))
        let (client, transport) = try NetworkClient.limited([typing], time: clock)

        var tasks: [Task<RequestFailure.Reason?, Never>] = []
        for number in 0..<3 {
            let before = clock.pendingTimers
            tasks.append(Task { await client.failure(of: .path("search")) })
            // The first one's deadline and quiet; the next one's take the place of those before it.
            await until { clock.pendingTimers == 2 && (number == 0 || before == 2) && typing.waitingCount == 1 }
            if number > 0 { #expect(await tasks[number - 1].value == .superseded) }
            await clock.waitForTimers(2)
            clock.advance(by: .milliseconds(200))
        }
        #expect(transport.requestCount == 0)
        clock.advance(by: .milliseconds(100))

        #expect(await tasks[2].value == nil)
        #expect(transport.requestCount == 1)
        #expect(typing.waitingCount == 0)
    }

    @Test func `K17: the latest wins over one that is under way, wherever it stands`() async throws {
        let latest = LatestWins()
        let (client, transport) = try NetworkClient.limited([latest]) { request in
            request.url.text.hasSuffix("?n=1") ? .never : .status(200)
        }
        let first = Task { await client.failure(of: APIConfiguration(path: "search", query: ["n": 1])) }
        #expect(await transport.waitForRequests(1))

        #expect(await client.failure(of: APIConfiguration(path: "search", query: ["n": 2])) == nil)

        #expect(await first.value == .superseded)
        #expect(await transport.waitUntilIdle())
        #expect(latest.count == 0)
    }

    @Test func `K17: a throttle sends the first at once and the last at the end of the interval`() async throws {
        let clock = ManualClock()
        let throttle = Throttle(.seconds(1))
        let (client, transport) = try NetworkClient.limited([throttle], time: clock)
        #expect(await client.failure(of: .path("move")) == nil)

        let second = Task { await client.failure(of: .path("move")) }
        await clock.waitForTimers(2)
        let third = Task { await client.failure(of: .path("move")) }
        #expect(await second.value == .superseded)
        await clock.waitForTimers(2)
        clock.advance(by: .seconds(1))

        #expect(await third.value == nil)
        #expect(transport.requestCount == 2)
        let early = Task { await client.failure(of: .path("move")) }
        await clock.waitForTimers(2)
        #expect(clock.nextDeadline == MonotonicTime(seconds: 2))
        clock.advance(by: .seconds(1))
        #expect(await early.value == nil)
    }

    @Test func `K17: the latest wins over one that pauses before another round`() async throws {
        let clock = ManualClock()
        let latest = LatestWins()
        let answers = AnswerList(503, 200, 200)
        let (client, transport) = try NetworkClient.limited([latest], time: clock) { answers.answer($0) }
        var stubborn = APIConfiguration(path: "search", query: ["n": 1])
        stubborn.retry = RetryPolicy(maximumRetries: 1, backoff: .constant(.seconds(1)))
        let first = Task { [stubborn] in await client.failure(of: stubborn) }
        await clock.waitForTimers(1, in: .seconds(1))

        #expect(await client.failure(of: APIConfiguration(path: "search", query: ["n": 2])) == nil)
        clock.advance(by: .seconds(1))

        #expect(await first.value == .superseded)
        #expect(transport.requestCount == 2)
        #expect(latest.count == 0)
    }

    @Test func `K17: one who leaves a throttle before its turn leaves no gap behind`() async throws {
        let clock = ManualClock()
        let (client, transport) = try NetworkClient.limited([Throttle(.seconds(1))], time: clock)
        #expect(await client.failure(of: .path("move")) == nil)
        for _ in 0..<3 {
            let id = RequestID()
            let impatient = Task { await client.failure(of: .path("move"), id: id) }
            await clock.waitForTimers(2)
            client.cancel(id)
            #expect(await impatient.value == .cancelled)
            await until { clock.pendingTimers == 0 }
        }

        let last = Task { await client.failure(of: .path("move")) }
        await clock.waitForTimers(2)
        #expect(clock.nextDeadline == MonotonicTime(seconds: 1))
        clock.advance(by: .seconds(10))

        #expect(await last.value == nil)
        #expect(transport.requestCount == 2)
    }
}
