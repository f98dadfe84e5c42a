import Testing

@testable import SwitchyardServices

@Suite struct ChoosingTests {
    @Test func `a failover skips the servers that it should avoid while another server is left`() throws {
        let driver = try CoreDriver(["a", "b", "c", "d"])

        let next = driver.core.takeFailover(after: .refused, excluding: [2], avoiding: [0, 1], at: driver.now)

        #expect(next?.server == 3)
    }

    @Test func `a failover uses a server that it should avoid if no other server is left`() throws {
        let driver = try CoreDriver(["a", "b"])

        let next = driver.core.takeFailover(after: .refused, excluding: [1], avoiding: [0], at: driver.now)
        let none = driver.core.takeHedge(excluding: [1], avoiding: [0], at: driver.now)

        #expect(next?.server == 0)
        #expect(none == nil)
    }

    @Test func `requests go to the first server of the list while it is healthy`() throws {
        let driver = try CoreDriver()

        #expect(driver.choose()?.server == 0)
        #expect(driver.core.current == "a")
        #expect(driver.core.serverIDs == ["a", "b", "c"])
    }

    @Test func `each untried server is chosen until all servers were tried`() throws {
        let driver = try CoreDriver()

        #expect(driver.choose(excluding: [0])?.server == 1)
        #expect(driver.choose(excluding: [0, 1])?.server == 2)
        #expect(driver.choose(excluding: [0, 1, 2]) == nil)
    }

    @Test func `the only server of a service is chosen whatever its failures are`() throws {
        let driver = try CoreDriver(["only"])

        driver.requests(500, .refused)

        #expect(driver.choose()?.server == 0)
        #expect(driver.state("only") == .healthy)
        #expect(driver.failover(after: .refused, excluding: [0]) == nil)
        #expect(driver.core.next(at: driver.now).isEmpty)
    }

    @Test func `if every other server is excluded, an ejected server is chosen`() throws {
        let driver = try CoreDriver(["a", "b"])
        for _ in 0..<3 { driver.failedOver(.refused) }
        #expect(driver.state("a") == .ejected)

        driver.requests(200, .refused)

        #expect(driver.state("b") == .healthy)
        #expect(driver.choose(excluding: [1])?.server == 0)
    }

    @Test func `a dead server is no longer current after two confirmed refusals`() throws {
        let driver = try CoreDriver()

        for _ in 0..<2 { driver.failedOver(.refused) }

        #expect(driver.core.current == "b")
        #expect(driver.events.map(\.kind).last == .switched(from: "a", to: "b", cause: .score))
    }

    @Test func `a recovery trial of a server permits one request at first and more after every success`() throws {
        let driver = try CoreDriver(["a", "b"], policy: .smallFleet)
        for _ in 0..<3 { driver.failedOver(.refused) }
        driver.startTrial("a")

        let first = try #require(driver.choose())
        #expect(first.server == 0)
        #expect(driver.choose()?.server == 1)
        driver.settle(first, .ok)
        let second = try #require(driver.choose())
        driver.settle(second, .ok)

        #expect((0..<3).map { _ in driver.choose()?.server } == [0, 0, 1])
    }

    @Test
    func
        `a request that neither succeeds nor fails leaves its place in the server's recovery trial to another request`()
        throws
    {
        let driver = try CoreDriver(["a", "b"], policy: .smallFleet)
        for _ in 0..<3 { driver.failedOver(.refused) }
        driver.startTrial("a")

        let first = try #require(driver.choose())
        driver.settle(first, .neutral)

        #expect(driver.choose()?.server == 0)
    }

    @Test func `if a failover skips a server in its recovery trial, the next request can test that server`()
        throws
    {
        let driver = try CoreDriver()
        for _ in 0..<2 { driver.failedOver(.refused) }
        driver.startTrial("a")
        driver.request(.timedOut)
        #expect(driver.state("a") == .trial)

        let first = try #require(driver.choose(excluding: [0]))
        #expect(driver.failover(after: .reset, excluding: [first.server])?.server == 2)

        #expect(driver.choose()?.server == 0)
    }

    @Test func `after a response with Retry-After, a server gets no requests until the time has passed`() throws {
        let driver = try CoreDriver()
        let first = try #require(driver.choose())
        let second = try #require(driver.choose(excluding: [0]))

        driver.settle([
            SettledAttempt(first, .failure(.http(503), retryAfter: .seconds(10))), SettledAttempt(second, .ok),
        ])

        #expect(driver.choose()?.server == 1)
        driver.advance(9.9)
        #expect(driver.choose()?.server == 1)
        driver.advance(120)
        #expect(driver.choose()?.server == 0)
    }

    @Test func `a very long Retry-After keeps requests away from a server for only a minute`() throws {
        let driver = try CoreDriver()
        let first = try #require(driver.choose())
        let second = try #require(driver.choose(excluding: [0]))

        driver.settle([
            SettledAttempt(first, .failure(.http(503), retryAfter: .seconds(3_155_760_000))),
            SettledAttempt(second, .ok),
        ])

        driver.advance(59)
        #expect(driver.choose()?.server == 1)
        driver.advance(120)
        #expect(driver.choose()?.server == 0)
    }

    @Test func `a server still gets about half of the requests after one 503`() throws {
        let driver = try CoreDriver()
        let first = try #require(driver.choose())
        let second = try #require(driver.choose(excluding: [0]))
        driver.settle([SettledAttempt(first, .failure(.http(503))), SettledAttempt(second, .ok)])

        let kept = (0..<1000).count { _ in driver.choose()?.server == 0 }

        #expect((400...600).contains(kept))
    }

    @Test func `if every server is overloaded, requests are dropped by priority`() throws {
        let driver = try CoreDriver(["a", "b"], policy: Self.shedding)
        for _ in 0..<3 { driver.overload() }
        driver.advance(60)

        let shed = (0..<1000).count { _ in driver.sheds(.normal) }

        #expect((500...620).contains(shed))
        #expect(driver.sheds(.low))
        #expect(!driver.sheds(.high))
    }

    @Test func `by default, overload drops only requests of low priority`() throws {
        let driver = try CoreDriver(["a", "b"])
        var none = SwitchPolicy.recommended
        none.admission?.sheds = nil
        let patient = try CoreDriver(["a", "b"], policy: none)

        for _ in 0..<6 {
            driver.overload()
            patient.overload()
        }

        #expect(driver.sheds(.low))
        #expect(!(0..<100).contains { _ in driver.sheds(.normal) || driver.sheds(.high) })
        #expect(!patient.sheds(.low))
    }

    /// A policy that also sheds requests of normal priority.
    private static var shedding: SwitchPolicy {
        var policy = SwitchPolicy.recommended
        policy.admission?.sheds = .normal
        return policy
    }

    @Test func `two signs of overload do not cause any request to be dropped`() throws {
        let driver = try CoreDriver(["a", "b"])

        for _ in 0..<2 { driver.overload() }

        #expect(!driver.sheds(.low))
    }

    @Test func `the only server of a service is chosen however overloaded it is`() throws {
        let driver = try CoreDriver(["a"])

        for _ in 0..<6 { driver.overload() }

        #expect(!driver.sheds(.low))
    }

    @Test func `a policy that drops requests lowers a server's admission share after an unconfirmed timeout`()
        throws
    {
        let driver = try CoreDriver(["a", "b"], policy: Self.shedding)

        driver.request(.timedOut)
        #expect(driver.statistics("a")?.share == 0.25)
        #expect(driver.statistics("b")?.share == 1)
        #expect(!driver.sheds(.low))
        driver.requests(20, .ok)

        #expect(driver.statistics("a")?.share == 1)
    }

    @Test func `after an unconfirmed timeout, only failovers and hedges avoid the server until it responds`() throws {
        let driver = try CoreDriver()

        driver.settle(try #require(driver.choose(excluding: [0])), .timedOut)
        #expect(driver.statistics("b")?.share == 1)
        #expect(driver.failover(after: .reset, excluding: [0])?.server == 2)
        driver.request(.ok)
        #expect(driver.failover(after: .reset, excluding: [0])?.server == 2)
        driver.settle(try #require(driver.choose(excluding: [0])), .ok)

        #expect(driver.failover(after: .reset, excluding: [0])?.server == 1)
    }

    @Test func `failovers and hedges avoid a server for five minutes after its last attempt failed`() throws {
        let driver = try CoreDriver(["a", "b", "c", "d"])
        driver.settle([
            SettledAttempt(try #require(driver.choose()), .failure(.reset)),
            SettledAttempt(try #require(driver.failover(after: .reset, excluding: [0])), .failure(.reset)),
        ])

        #expect(driver.failover(after: .reset, excluding: [0])?.server == 2)
        #expect(driver.hedge(excluding: [0])?.server == 2)
        driver.advance(299)
        #expect(driver.failover(after: .reset, excluding: [0])?.server == 2)
        driver.advance(2)
        #expect(driver.failover(after: .reset, excluding: [0])?.server == 1)
    }

    @Test func `a failover or a hedge uses the preferred server even if that server is overloaded`() throws {
        let driver = try CoreDriver(["a", "b"])
        driver.overload("a", .http(503))

        #expect(driver.failover(after: .http(503), excluding: [1])?.server == 0)
        #expect(driver.hedge(excluding: [1])?.server == 0)
    }

    @Test func `most requests that were dropped because of overload succeed when they are repeated`() throws {
        let driver = try CoreDriver(["a", "b"], policy: Self.shedding)
        for _ in 0..<6 { driver.overload() }

        let shed = (0..<1000).count { _ in driver.sheds(.normal) }

        #expect((650...750).contains(shed))
    }

    @Test func `no request fails over while the failover budget is empty`() throws {
        let driver = try CoreDriver()

        let granted = (0..<20).count { _ in driver.failover(after: .timeout, excluding: [0]) != nil }

        #expect(granted == 10)
    }

    @Test(arguments: [(true, 40, 40), (false, 10, 10)])
    func `the number of failover tokens can grow to the number of concurrent requests`(
        grows: Bool,
        failovers: Int,
        hedges: Int
    ) throws {
        var policy = SwitchPolicy.recommended
        policy.budgets.growsWithConcurrency = grows
        let driver = try CoreDriver(policy: policy)
        let crowd = try (0..<40).map { _ in try #require(driver.choose()) }
        for attempt in crowd { driver.settle(attempt, .ok) }
        // A success earns a tenth of a failover token and a twentieth of a hedge token.
        driver.requests(1_000, .ok)

        let extra = (0..<100).map { _ in
            (driver.failover(after: .reset, excluding: [0]) != nil, driver.hedge(excluding: [0]) != nil)
        }

        #expect(extra.count(where: \.0) == failovers)
        // Up to two hedge tokens have expired since they were earned.
        #expect((hedges - 2...hedges).contains(extra.count(where: \.1)))
    }

    @Test func `an attempt's outcome that arrives after its request has ended does not end another request`() throws {
        let driver = try CoreDriver()
        let first = try #require(driver.choose())
        _ = try #require(driver.choose())
        driver.settle(first, .ok)

        driver.settle(first.afterwards, .failure(.truncated))
        for _ in 0..<2 { _ = try #require(driver.choose()) }

        #expect(driver.core.extras.requests.most == 3)
    }

    @Test func `a policy with zero failover tokens permits no failover`() throws {
        var policy = SwitchPolicy.recommended
        policy.budgets.failoverTokens = 0
        let driver = try CoreDriver(policy: policy)
        _ = try (0..<40).map { _ in try #require(driver.choose()) }
        driver.requests(1_000, .ok)

        #expect(driver.failover(after: .reset, excluding: [0]) == nil)
        #expect(driver.failover(after: .refused, excluding: [0]) == nil)
    }

    @Test(arguments: [FailureKind.refused, .dnsFailure])
    func `a failover takes no failover token if the first attempt did not reach a server`(kind: FailureKind) throws {
        let driver = try CoreDriver()
        for _ in 0..<10 { _ = driver.failover(after: .reset, excluding: [0]) }

        let granted = try (0..<20).map { _ in
            (try #require(driver.choose()), try #require(driver.failover(after: kind, excluding: [0])))
        }
        #expect(driver.core.extras.failovers.tokens == 0)

        for (first, second) in granted {
            driver.settle([SettledAttempt(first, .failure(kind)), SettledAttempt(second, .neutral)])
        }
        #expect(driver.core.extras.failovers.tokens == 0)
    }

    @Test func `a policy without admission control takes a failover token for every failover`() throws {
        let driver = try CoreDriver(policy: .stickyErrorRatio)

        let granted = (0..<20).count { _ in driver.failover(after: .refused, excluding: [0]) != nil }

        #expect(granted == 10)
    }

    @Test(arguments: [(FailureKind.reset, 9.0), (.timeout, 6), (.http(503), 6)])
    func `a failed failover costs one failover token, or four tokens if its server is overloaded`(
        kind: FailureKind,
        left: Double
    ) throws {
        let driver = try CoreDriver()
        let first = try #require(driver.choose())
        let second = try #require(driver.failover(after: kind, excluding: [0]))

        driver.settle([SettledAttempt(first, .failure(kind)), SettledAttempt(second, .failure(kind))])

        #expect(driver.core.extras.failovers.tokens == left)
    }

    @Test func `failovers and hedges skip an overloaded fallback server`() throws {
        let driver = try CoreDriver()
        driver.overload("b", .timeout)

        #expect(driver.failover(after: .reset, excluding: [0])?.server == 2)
        #expect(driver.hedge(excluding: [0])?.server == 2)
        #expect(driver.failover(after: .reset, excluding: [0, 2]) == nil)
    }

    @Test func `by default, a request gets at most three attempts`() throws {
        let driver = try CoreDriver(["a", "b", "c", "d"])

        #expect(driver.failover(after: .reset, excluding: [0, 1]) != nil)
        #expect(driver.failover(after: .reset, excluding: [0, 1, 2]) == nil)
        #expect(driver.hedge(excluding: [0, 1, 2]) == nil)
    }

    @Test(arguments: [FailureKind.refused, .dnsFailure])
    func `an attempt that has reached no server does not count toward the maximum of attempts`(kind: FailureKind) throws
    {
        let driver = try CoreDriver(["a", "b", "c", "d"])

        #expect(driver.failover(after: kind, excluding: [0, 1, 2])?.server == 3)
    }

    @Test func `the delay before a hedge depends on the latency of the server`() throws {
        let driver = try CoreDriver()
        let attempt = try #require(driver.choose())
        #expect(driver.core.hedgeDelay(for: attempt, remaining: .seconds(2)) == .milliseconds(250))

        driver.requests(20, .success(latency: .milliseconds(100)))

        let delay = try #require(driver.core.hedgeDelay(for: attempt, remaining: .seconds(2)))
        #expect(delay > .milliseconds(128) && delay < .milliseconds(132))
        let bounded = try #require(driver.core.hedgeDelay(for: attempt, remaining: .milliseconds(100)))
        #expect(abs(bounded.inSeconds - 0.04) < 1e-9)
    }
}
