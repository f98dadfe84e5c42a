import Testing

@testable import SwitchyardServices

@Suite struct ChoosingTests {
    @Test func `servers to be avoided are no attempts of the request`() throws {
        let driver = try CoreDriver(["a", "b", "c", "d"])

        let next = driver.core.takeFailover(after: .refused, excluding: [2], avoiding: [0, 1], at: driver.now)

        #expect(next?.server == 3)
    }

    @Test func `servers to be avoided are asked when no other is left`() throws {
        let driver = try CoreDriver(["a", "b"])

        let next = driver.core.takeFailover(after: .refused, excluding: [1], avoiding: [0], at: driver.now)
        let none = driver.core.takeHedge(excluding: [1], avoiding: [0], at: driver.now)

        #expect(next?.server == 0)
        #expect(none == nil)
    }

    @Test func `A1: the first server of the list gets the requests`() throws {
        let driver = try CoreDriver()

        #expect(driver.choose()?.server == 0)
        #expect(driver.core.current == "a")
        #expect(driver.core.serverIDs == ["a", "b", "c"])
    }

    @Test func `there is a server as long as one was not tried`() throws {
        let driver = try CoreDriver()

        #expect(driver.choose(excluding: [0])?.server == 1)
        #expect(driver.choose(excluding: [0, 1])?.server == 2)
        #expect(driver.choose(excluding: [0, 1, 2]) == nil)
    }

    @Test func `a single server is asked whatever it does`() throws {
        let driver = try CoreDriver(["only"])

        driver.requests(500, .refused)

        #expect(driver.choose()?.server == 0)
        #expect(driver.state("only") == .healthy)
        #expect(driver.failover(after: .refused, excluding: [0]) == nil)
        #expect(driver.core.next(at: driver.now).isEmpty)
    }

    @Test func `TAF-S12: when every server failed, the one that is probed first is asked`() throws {
        let driver = try CoreDriver(["a", "b"])
        for _ in 0..<3 { driver.failedOver(.refused) }
        #expect(driver.state("a") == .ejected)

        driver.requests(200, .refused)

        #expect(driver.state("b") == .healthy)
        #expect(driver.choose(excluding: [1])?.server == 0)
    }

    @Test func `a dead server is left after three withConfirmation refusals`() throws {
        let driver = try CoreDriver()

        for _ in 0..<2 { driver.failedOver(.refused) }

        #expect(driver.core.current == "b")
        #expect(driver.events.map(\.kind).last == .switched(from: "a", to: "b", cause: .score))
    }

    @Test func `a trial lets one request through at first, and more with every success`() throws {
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

    @Test func `a cancelled request gives its place in the trial back`() throws {
        let driver = try CoreDriver(["a", "b"], policy: .smallFleet)
        for _ in 0..<3 { driver.failedOver(.refused) }
        driver.startTrial("a")

        let first = try #require(driver.choose())
        driver.settle(first, .neutral)

        #expect(driver.choose()?.server == 0)
    }

    @Test func `K15: Retry-After keeps requests away until then`() throws {
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

    @Test func `K15: a Retry-After of a century keeps requests away for a minute, and no longer`() throws {
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

    @Test func `an overloaded server keeps a share of its traffic`() throws {
        let driver = try CoreDriver()
        let first = try #require(driver.choose())
        let second = try #require(driver.choose(excluding: [0]))
        driver.settle([SettledAttempt(first, .failure(.http(503))), SettledAttempt(second, .ok)])

        let kept = (0..<1000).count { _ in driver.choose()?.server == 0 }

        #expect((400...600).contains(kept))
    }

    @Test func `when every server is overloaded, requests are given up by priority`() throws {
        let driver = try CoreDriver(["a", "b"], policy: Self.shedding)
        for _ in 0..<3 { driver.overload() }
        driver.advance(60)

        let shed = (0..<1000).count { _ in driver.sheds(.normal) }

        #expect((500...620).contains(shed))
        #expect(driver.sheds(.low))
        #expect(!driver.sheds(.high))
    }

    @Test func `unless the policy says otherwise only low priority is given up`() throws {
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

    /// The policy that gives up requests of normal priority too.
    private static var shedding: SwitchPolicy {
        var policy = SwitchPolicy.recommended
        policy.admission?.sheds = .normal
        return policy
    }

    @Test func `two signs of overload are not enough to give a request up`() throws {
        let driver = try CoreDriver(["a", "b"])

        for _ in 0..<2 { driver.overload() }

        #expect(!driver.sheds(.low))
    }

    @Test func `a single server is asked however overloaded it is`() throws {
        let driver = try CoreDriver(["a"])

        for _ in 0..<6 { driver.overload() }

        #expect(!driver.sheds(.low))
    }

    @Test func `who sheds makes room after a time-out that no one withConfirmation, until a server answers`() throws {
        let driver = try CoreDriver(["a", "b"], policy: Self.shedding)

        driver.request(.timedOut)
        #expect(driver.statistics("a")?.share == 0.25)
        #expect(driver.statistics("b")?.share == 1)
        #expect(!driver.sheds(.low))
        driver.requests(20, .ok)

        #expect(driver.statistics("a")?.share == 1)
    }

    @Test func `a time-out that no one withConfirmation takes the extra attempts, and no more, until a server answers`()
        throws
    {
        let driver = try CoreDriver()

        driver.settle(try #require(driver.choose(excluding: [0])), .timedOut)
        #expect(driver.statistics("b")?.share == 1)
        #expect(driver.failover(after: .reset, excluding: [0])?.server == 2)
        driver.request(.ok)

        #expect(driver.failover(after: .reset, excluding: [0])?.server == 1)
    }

    @Test func `what failed elsewhere goes to the preferred server, though that is overloaded`() throws {
        let driver = try CoreDriver(["a", "b"])
        driver.overload("a", .http(503))

        #expect(driver.failover(after: .http(503), excluding: [1])?.server == 0)
        #expect(driver.hedge(excluding: [1])?.server == 0)
    }

    @Test func `most requests that are given up get through when they are made again`() throws {
        let driver = try CoreDriver(["a", "b"], policy: Self.shedding)
        for _ in 0..<6 { driver.overload() }

        let shed = (0..<1000).count { _ in driver.sheds(.normal) }

        #expect((650...750).contains(shed))
    }

    @Test func `failovers stop when the budget is empty`() throws {
        let driver = try CoreDriver()

        let granted = (0..<20).count { _ in driver.failover(after: .timeout, excluding: [0]) != nil }

        #expect(granted == 10)
    }

    @Test(arguments: [(true, 40, 40), (false, 10, 10)])
    func `there may be as many tokens as requests have been under way at a time`(
        grows: Bool,
        failovers: Int,
        hedges: Int
    ) throws {
        var policy = SwitchPolicy.recommended
        policy.budgets.growsWithConcurrency = grows
        let driver = try CoreDriver(policy: policy)
        let crowd = try (0..<40).map { _ in try #require(driver.choose()) }
        for attempt in crowd { driver.settle(attempt, .ok) }
        // They are earned by successes, a tenth and a twentieth of one each.
        driver.requests(1_000, .ok)

        let extra = (0..<100).map { _ in
            (driver.failover(after: .reset, excluding: [0]) != nil, driver.hedge(excluding: [0]) != nil)
        }

        #expect(extra.count(where: \.0) == failovers)
        #expect(extra.count(where: \.1) == hedges)
    }

    @Test func `what becomes known of a settled request ends no other one`() throws {
        let driver = try CoreDriver()
        let first = try #require(driver.choose())
        _ = try #require(driver.choose())
        driver.settle(first, .ok)

        driver.settle(first.afterwards, .failure(.truncated))
        for _ in 0..<2 { _ = try #require(driver.choose()) }

        #expect(driver.core.concurrency.most == 3)
    }

    @Test func `where there are to be no tokens there are none, whatever is under way`() throws {
        var policy = SwitchPolicy.recommended
        policy.budgets.failoverTokens = 0
        let driver = try CoreDriver(policy: policy)
        _ = try (0..<40).map { _ in try #require(driver.choose()) }
        driver.requests(1_000, .ok)

        #expect(driver.failover(after: .reset, excluding: [0]) == nil)
        #expect(driver.failover(after: .refused, excluding: [0]) == nil)
    }

    @Test(arguments: [FailureKind.refused, .dnsFailure])
    func `a failover after an attempt that reached no one takes nothing from the budget`(kind: FailureKind) throws {
        let driver = try CoreDriver()
        for _ in 0..<10 { _ = driver.failover(after: .reset, excluding: [0]) }

        let granted = try (0..<20).map { _ in
            (try #require(driver.choose()), try #require(driver.failover(after: kind, excluding: [0])))
        }
        #expect(driver.core.failovers.tokens == 0)

        for (first, second) in granted {
            driver.settle([SettledAttempt(first, .failure(kind)), SettledAttempt(second, .neutral)])
        }
        #expect(driver.core.failovers.tokens == 0)
    }

    @Test func `a policy without admission pays for every failover`() throws {
        let driver = try CoreDriver(policy: .stickyErrorRatio)

        let granted = (0..<20).count { _ in driver.failover(after: .refused, excluding: [0]) != nil }

        #expect(granted == 10)
    }

    @Test(arguments: [(FailureKind.reset, 9.0), (.timeout, 6), (.http(503), 6)])
    func `a failover that fails costs one, and four after overload`(kind: FailureKind, left: Double) throws {
        let driver = try CoreDriver()
        let first = try #require(driver.choose())
        let second = try #require(driver.failover(after: kind, excluding: [0]))

        driver.settle([SettledAttempt(first, .failure(kind)), SettledAttempt(second, .failure(kind))])

        #expect(driver.core.failovers.tokens == left)
    }

    @Test func `extra attempts pass over a fallback that is overloaded`() throws {
        let driver = try CoreDriver()
        driver.overload("b", .timeout)

        #expect(driver.failover(after: .reset, excluding: [0])?.server == 2)
        #expect(driver.hedge(excluding: [0])?.server == 2)
        #expect(driver.failover(after: .reset, excluding: [0, 2]) == nil)
    }

    @Test func `a request gets at most three attempts`() throws {
        let driver = try CoreDriver(["a", "b", "c", "d"])

        #expect(driver.failover(after: .refused, excluding: [0, 1]) != nil)
        #expect(driver.failover(after: .refused, excluding: [0, 1, 2]) == nil)
        #expect(driver.hedge(excluding: [0, 1, 2]) == nil)
    }

    @Test func `the wait for a hedge follows the server's latency`() throws {
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
