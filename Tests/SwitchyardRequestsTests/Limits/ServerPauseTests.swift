import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardRequests
import SwitchyardServices
import SwitchyardTesting
import Testing

/// Delays that servers request, and limits that observe them.
@Suite(.timeLimit(.minutes(5)), .prompt) struct ServerPauseTests {
    private static let now = Date(timeIntervalSince1970: 1_700_000_000)

    @Test(
        arguments: [
            (200, ["Backoff": "30"], 30), (200, ["Backoff": "soon"], nil), (200, ["Backoff": "-1"], nil),
            (200, ["Retry-After": "30"], nil), (202, ["Retry-After": "30"], nil), (429, ["Retry-After": "30"], 30),
            (503, ["Retry-After": "30", "Backoff": "60"], 60), (200, ["X-RateLimit-Remaining": "0"], nil),
            (200, ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "50"], 50),
            (200, ["X-RateLimit-Remaining": "1", "X-RateLimit-Reset": "50"], nil),
            (200, ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1700000050"], 50),
            (200, ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1700000050000"], 50),
            (200, ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1600000000"], nil),
            (200, ["X-Rate-Limit-Remaining": "0", "X-Rate-Limit-Reset": "5"], 5),
            (200, ["RateLimit-Remaining": "0", "RateLimit-Reset": "7"], 7),
            (200, ["RateLimit": "limit=100, remaining=0, reset=50"], 50),
            (200, ["RateLimit": "limit=100, remaining=1, reset=50"], nil),
            (200, ["RateLimit": #""default";r=0;t=50"#], 50),
            (200, ["RateLimit": #""a";r=5;t=90, "b";r=0;t=20"#], 20), (200, [:], nil),
        ] as [(Int, HTTPHeaders, Int?)]
    )
    func `header fields such as Retry-After or RateLimit delay later requests by the given time`(
        status: Int,
        headers: HTTPHeaders,
        seconds: Int?
    ) {
        let pause = ServerPause.duration(status: status, headers: headers, now: Self.now)

        #expect(pause == seconds.map { .seconds($0) })
    }

    @Test func `the reset time of a server's rate limit is measured from the response's Date`() {
        let headers: HTTPHeaders = [
            "Date": HTTPDate.text(for: Self.now) ?? "", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1700000050",
        ]

        let pause = ServerPause.duration(status: 200, headers: headers, now: Self.now.addingTimeInterval(3_600))

        #expect(pause == .seconds(50))
    }

    @Test func `the Age of a stored response shortens the pause until the reset time of the rate limit`() {
        let headers: HTTPHeaders = [
            "Date": HTTPDate.text(for: Self.now) ?? "", "Age": "20", "X-RateLimit-Remaining": "0",
            "X-RateLimit-Reset": "1700000050",
        ]

        let pause = ServerPause.duration(status: 200, headers: headers, now: Self.now.addingTimeInterval(3_600))

        #expect(pause == .seconds(30))
    }

    @Test func `a successful response with a Backoff field delays later requests`() async throws {
        let clock = ManualClock()
        let answers = AnswerList([.status(200, headers: ["Backoff": "30"]), .status(200)])
        let limit = RateLimit(.unlimited)
        let transport = StubTransport { answers.answer($0) }
        let client = try NetworkClient(service: .topics(servers: 1), transport: transport, time: clock) { options in
            options.limits = [limit]
            options.interceptors = [.pausing(limit)]
        }
        _ = try await client.send(.init(path: "a"))

        let second = Task { try await client.send(.init(path: "b", timeout: .seconds(60))).status }
        await until { limit.waitingCount == 1 }
        clock.advance(by: .seconds(29))
        #expect(transport.requestCount == 1)
        clock.advance(by: .seconds(1))

        #expect(try await second.value == 200)
        #expect(transport.requestCount == 2)
    }

    @Test func `a request whose delay would exceed its deadline fails immediately`() async throws {
        let clock = ManualClock()
        let limit = RateLimit(.unlimited)
        let transport = StubTransport { _ in .status(200) }
        let client = try NetworkClient(service: .topics(servers: 1), transport: transport, time: clock) { options in
            options.limits = [limit]
        }
        limit.pause(until: client.time.now.advanced(by: .seconds(90)))
        limit.pause(for: .seconds(5), on: client.time)

        let reason = await client.failure(of: .init(path: "a", timeout: .seconds(60)))

        #expect(reason == .rateLimited(retryAfter: .seconds(90)))
        clock.advance(by: .seconds(90))
        #expect(await client.failure(of: .init(path: "a")) == nil)
    }

    @Test func `requests that a paused rate limit delays wait longer if the pause is extended`()
        async throws
    {
        let clock = ManualClock()
        let limit = RateLimit(.bucket(perSecond: 1, burst: 5))
        let transport = StubTransport { _ in .status(200) }
        let client = try NetworkClient(service: .topics(servers: 1), transport: transport, time: clock) { options in
            options.limits = [limit]
        }
        limit.pause(for: .seconds(10), on: clock)
        let calls = (0..<3).map { _ in Task { await client.failure(of: .init(path: "a", timeout: .seconds(600))) } }
        await until { limit.waitingCount == 3 }
        limit.pause(for: .seconds(20), on: clock)

        clock.advance(by: .seconds(10))
        await until { clock.nextDeadline == MonotonicTime(seconds: 20) }
        #expect(transport.requestCount == 0)
        clock.advance(by: .seconds(10))

        for call in calls { #expect(await call.value == nil) }
    }
}
