import Dispatch
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardRequests
import SwitchyardServices
import SwitchyardTesting
import Testing

@Suite(.timeLimit(.minutes(5)), .prompt) struct RateLimitTests {
    @Test func `the error of a request that comes too early contains the remaining time`() async throws {
        let clock = ManualClock()
        let limit = RateLimit(.interval(.seconds(5)), by: .endpoint, excess: .refuse)
        let (client, transport) = try NetworkClient.limited([limit], time: clock)

        #expect(await client.failure(of: .path("a")) == nil)
        clock.advance(by: .seconds(2))
        #expect(await client.failure(of: .path("a")) == .rateLimited(retryAfter: .seconds(3)))
        #expect(await client.failure(of: .path("b")) == nil)
        clock.advance(by: .seconds(3))
        #expect(await client.failure(of: .path("a")) == nil)

        #expect(transport.requestCount == 3)
    }

    @Test func `a request that may wait is sent when its rate limit allows it, without polling`() async throws {
        let clock = ManualClock()
        let limit = RateLimit(.interval(.seconds(5)))
        let (client, transport) = try NetworkClient.limited([limit], time: clock)
        #expect(await client.failure(of: .path("a")) == nil)

        let second = Task { await client.failure(of: .path("a")) }
        let third = Task { await client.failure(of: .path("a")) }
        await until { limit.waitingCount == 2 }
        // Two deadlines, and one timer for the key.
        await clock.waitForTimers(3)
        #expect(clock.pendingTimers == 3)
        clock.advance(by: .seconds(5))
        await transport.waitForRequests(2)
        await until { clock.nextDeadline == MonotonicTime(seconds: 10) }
        clock.advance(by: .seconds(5))

        #expect(await second.value == nil)
        #expect(await third.value == nil)
        #expect(transport.requestCount == 3)
        #expect(clock.pendingTimers == 0)
    }

    @Test func `a request that waits for a rate limit is cancelled by its identifier`() async throws {
        let clock = ManualClock()
        let limit = RateLimit(.interval(.seconds(5)))
        let (client, transport) = try NetworkClient.limited([limit], time: clock)
        #expect(await client.failure(of: .path("a")) == nil)
        let id = RequestID()
        let waiting = Task { await client.failure(of: .path("a"), id: id) }
        await until { limit.waitingCount == 1 }

        client.cancel(id)

        #expect(await waiting.value == .cancelled)
        await until { limit.waitingCount == 0 }
        #expect(transport.requestCount == 1)
    }

    @Test func `requests that wait for a rate limit are cancelled when their scoped client is released`() async throws {
        let limit = RateLimit(.interval(.seconds(5)))
        let (client, _) = try NetworkClient.limited([limit])
        #expect(await client.failure(of: .path("a")) == nil)
        var scope: NetworkClient? = client.scoped()
        let (endings, continuation) = AsyncStream.makeStream(of: RequestFailure.Reason?.self)
        scope?.send(.path("a"), on: .global()) { result in
            if case .failure(let failure) = result { continuation.yield(failure.reason) }
        }
        await until { limit.waitingCount == 1 }

        scope = nil

        #expect(await endings.first { _ in true } == .cancelled)
        await until { limit.waitingCount == 0 }
    }

    @Test func `a rate limit distinguishes requests by the chosen parameters`() async throws {
        let limit = RateLimit(.interval(.seconds(5)), by: .parameters("q"), excess: .refuse)
        let (client, _) = try NetworkClient.limited([limit])

        #expect(await client.failure(of: APIConfiguration(path: "s", query: ["q": "a", "page": 1])) == nil)
        #expect(await client.failure(of: APIConfiguration(path: "s", query: ["q": "b", "page": 1])) == nil)
        let again = await client.failure(of: APIConfiguration(path: "s", query: ["q": "a", "page": 2]))

        #expect(again == .rateLimited(retryAfter: .seconds(5)))
    }

    @Test func `a rate limit of one call does not affect other calls`() async throws {
        let limit = RateLimit(.bucket(perSecond: 1, burst: 1), excess: .refuse)
        let (client, _) = try NetworkClient.limited([])
        var limited = APIConfiguration(path: "s")
        limited.limits = [limit]

        #expect(await client.failure(of: limited) == nil)
        #expect(await client.failure(of: limited) == .rateLimited(retryAfter: .seconds(1)))
        #expect(await client.failure(of: APIConfiguration(path: "s")) == nil)
    }

    @Test func `a rate limit by tag applies only to calls with that tag`() async throws {
        let limit = RateLimit(.interval(.seconds(5)), by: .tag("slow"), excess: .refuse)
        let (client, _) = try NetworkClient.limited([limit])
        var tagged = APIConfiguration(path: "a")
        tagged.tags = ["slow"]

        #expect(await client.failure(of: tagged) == nil)
        #expect(await client.failure(of: tagged) != nil)
        #expect(await client.failure(of: APIConfiguration(path: "a")) == nil)
    }
}
