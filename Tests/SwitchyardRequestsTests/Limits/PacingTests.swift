import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardClient
@testable import SwitchyardRequests

@Suite(.timeLimit(.minutes(5)), .prompt) struct PacingTests {
    @Test func `a debounced request is sent after the quiet interval and supersedes earlier requests`()
        async throws
    {
        let clock = ManualClock()
        let typing = Debounce(.milliseconds(300))
        let (client, transport) = try NetworkClient.limited([typing], time: clock)

        var tasks: [Task<RequestFailure.Reason?, Never>] = []
        for number in 0..<3 {
            let before = clock.pendingTimers
            tasks.append(Task { await client.failure(of: .path("search")) })
            // Two timers: the deadline and the quiet interval of the first request. Those of the next request replace
            // them.
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

    @Test func `the latest request supersedes a request that is being sent`() async throws {
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

    @Test func `a throttle sends the first request immediately and the last at the end of the interval`() async throws {
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

    @Test func `the latest request supersedes a request that waits for a retry`() async throws {
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

    @Test func `a request that leaves a throttle before its turn does not delay the next request`() async throws {
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

    /// A round of a request as a limit sees it.
    ///
    /// Records the request when it is cancelled.
    private static func round(_ id: RequestID, _ clock: ManualClock, _ ended: Recorder<RequestID>) -> DispatchContext {
        DispatchContext(
            id: id,
            round: 1,
            service: "topics",
            environment: .test,
            startedAt: clock.now,
            deadline: clock.now.advanced(by: .seconds(60)),
            history: [],
            time: clock,
            owner: 1,
            end: { reason in if reason == .superseded { ended.record(id) } },
            preferred: { "primary" }
        )
    }

    // Rounds enter from their own tasks, so they do not always enter in the order of their requests.
    @Test func `in a debounce, a delayed older request does not supersede a newer request`() async throws {
        let clock = ManualClock()
        let typing = Debounce(.seconds(1))
        let ended = Recorder<RequestID>()
        let (older, newer) = (Self.round(RequestID(), clock, ended), Self.round(RequestID(), clock, ended))
        let latest = Task { _ = try await typing.enter(.path("search"), newer) }
        await clock.waitForTimers(1)

        let late = Task { _ = try await typing.enter(.path("search"), older) }
        await until { !ended.values.isEmpty }

        #expect(ended.values == [older.id])
        clock.advance(by: .seconds(1))
        try await latest.value
        _ = await late.result
        #expect(typing.waitingCount == 0)
    }

    @Test func `in a throttle, a delayed older request does not supersede a newer request`() async throws {
        let clock = ManualClock()
        let throttle = Throttle(.seconds(1))
        let ended = Recorder<RequestID>()
        let rounds = (0..<4).map { _ in Self.round(RequestID(), clock, ended) }
        _ = try await throttle.enter(.path("move"), rounds[1])
        let latest = Task { _ = try await throttle.enter(.path("move"), rounds[3]) }
        await clock.waitForTimers(1)

        let late = [0, 2].map { number in Task { _ = try await throttle.enter(.path("move"), rounds[number]) } }
        await until { ended.values.count == 2 }

        #expect(Set(ended.values) == [rounds[0].id, rounds[2].id])
        clock.advance(by: .seconds(1))
        try await latest.value
        for task in late { _ = await task.result }
    }

    @Test func `a request that was cancelled while a throttle delayed it does not supersede an older request`()
        async throws
    {
        let clock = ManualClock()
        let throttle = Throttle(.seconds(1))
        let ended = Recorder<RequestID>()
        let rounds = (0..<3).map { _ in Self.round(RequestID(), clock, ended) }
        _ = try await throttle.enter(.path("move"), rounds[0])
        let newest = Task { _ = try await throttle.enter(.path("move"), rounds[2]) }
        await clock.waitForTimers(1)
        newest.cancel()
        _ = await newest.result
        await until { clock.pendingTimers == 0 }

        let older = Task { _ = try await throttle.enter(.path("move"), rounds[1]) }
        await until { !ended.values.isEmpty || clock.pendingTimers > 0 }
        clock.advance(by: .seconds(1))

        _ = await older.result
        #expect(ended.values == [])
    }

    @Test func `a throttle supersedes an older request that arrives after a newer request`() async throws {
        let clock = ManualClock()
        let throttle = Throttle(.seconds(1))
        let ended = Recorder<RequestID>()
        let (older, newer) = (Self.round(RequestID(), clock, ended), Self.round(RequestID(), clock, ended))
        _ = try await throttle.enter(.path("move"), newer)

        let late = Task { _ = try await throttle.enter(.path("move"), older) }
        await until { !ended.values.isEmpty || clock.pendingTimers > 0 }

        #expect(ended.values == [older.id])
        #expect(clock.pendingTimers == 0)
        clock.advance(by: .seconds(1))
        _ = await late.result
    }
}
