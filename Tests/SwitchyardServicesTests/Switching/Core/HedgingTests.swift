import Testing

@testable import SwitchyardServices

@Suite struct HedgingTests {
    @Test(arguments: [(0.1, 0.02), (0.25, 0.03125), (8, 1)])
    func `a hedge without a token is tried again after an eighth of the elapsed time, at least 20 ms`(
        waited: Double,
        pause: Double
    ) throws {
        let driver = try CoreDriver()
        let slow = try #require(driver.choose())
        driver.advance(waited)

        #expect(driver.core.hedgePause(for: slow, excluding: [0], at: driver.now) == .seconds(pause))
    }

    @Test func `a request that has taken 10 s is not hedged any more`() throws {
        let driver = try CoreDriver()
        let slow = try #require(driver.choose())

        driver.advance(10)

        #expect(driver.core.hedgePause(for: slow, excluding: [0], at: driver.now) == nil)
    }

    @Test func `a hedge is not tried again if no other server, no attempt or no token is left`() throws {
        let alone = try CoreDriver(["a"])
        let driver = try CoreDriver(["a", "b", "c", "d"])
        let slow = try #require(driver.choose())
        var policy = SwitchPolicy.recommended
        policy.budgets.hedgeTokens = 0
        policy.budgets.failoverTokens = 0
        let poor = try CoreDriver(policy: policy)

        #expect(alone.core.hedgePause(for: try #require(alone.choose()), excluding: [0], at: alone.now) == nil)
        #expect(driver.core.hedgePause(for: slow, excluding: [0, 1, 2], at: driver.now) == nil)
        #expect(driver.core.hedgePause(for: slow, excluding: [0], avoiding: [1, 2, 3], at: driver.now) == nil)
        #expect(poor.core.hedgePause(for: try #require(poor.choose()), excluding: [0], at: poor.now) == nil)
    }

    @Test func `a policy without hedging starts no hedges`() throws {
        var policy = SwitchPolicy.recommended
        policy.hedging = nil
        let driver = try CoreDriver(policy: policy)

        #expect(driver.core.hedgePause(for: try #require(driver.choose()), excluding: [0], at: driver.now) == nil)
    }

    @Test func `a slow attempt at an ejected server becomes a failover if no hedge token is left`() throws {
        let driver = try CoreDriver()
        let slow = try #require(driver.choose())
        while driver.hedge(excluding: [0]) != nil {}

        #expect(driver.core.takeHedge(beside: slow, excluding: [0], at: driver.now) == nil)

        driver.eject("a")
        #expect(driver.core.takeHedge(beside: slow, excluding: [0], at: driver.now)?.role == .failover)
    }

    /// A core whose hedge tokens were spent on losing hedges, with an attempt that has just begun.
    private func poor(_ policy: SwitchPolicy = .recommended) throws -> (driver: CoreDriver, slow: Attempt) {
        let driver = try CoreDriver(policy: policy)
        while let hedge = driver.hedge(excluding: [0]) { driver.settle(hedge, .unfinished) }
        return (driver, try #require(driver.choose()))
    }

    @Test func `a read that has waited 500 ms may be hedged although all hedge tokens were spent without success`()
        throws
    {
        let (driver, slow) = try poor()
        driver.advance(0.49)
        #expect(driver.core.takeHedge(beside: slow, excluding: [0], at: driver.now) == nil)

        driver.advance(0.01)

        #expect(driver.core.takeHedge(beside: slow, excluding: [0], at: driver.now)?.role == .hedge)
    }

    /// Returns the seconds at which a waiting read may be hedged despite an empty budget, while each hedge loses.
    private func hedgeTimes(_ driver: CoreDriver, _ slow: Attempt, until end: Int) -> [Int] {
        (1...end).filter { _ in
            driver.advance(1)
            let hedge = driver.core.takeHedge(beside: slow, excluding: [0], at: driver.now)
            if let hedge { driver.settle(hedge, .unfinished) }
            return hedge != nil
        }
    }

    @Test func `despite an empty budget, one hedge a minute is allowed while hedges do not win`() throws {
        let (driver, slow) = try poor()

        #expect(hedgeTimes(driver, slow, until: 130) == [1, 61, 121])
    }

    @Test func `if a hedge wins despite an empty budget, it returns a token for the next hedge`()
        throws
    {
        let (driver, slow) = try poor()
        driver.advance(1)
        let winner = driver.core.takeHedge(beside: slow, excluding: [0], at: driver.now)
        driver.settle([SettledAttempt(slow, .unfinished), SettledAttempt(try #require(winner), .ok)])

        #expect(driver.hedge(excluding: [0]) != nil)
    }

    @Test func `a hedge that wins slowly does not return its token`() throws {
        let (driver, slow) = try poor()
        driver.advance(1)
        let winner = driver.core.takeHedge(beside: slow, excluding: [0], at: driver.now)
        driver.settle([SettledAttempt(slow, .unfinished), SettledAttempt(try #require(winner), .slow)])

        #expect(driver.hedge(excluding: [0]) == nil)
    }

    @Test func `a hedge that wins slowly returns its token if the winning server is never quicker`() throws {
        let (driver, slow) = try poor()
        driver.settle(try #require(driver.choose(excluding: [0])), .slow)
        driver.advance(1)
        driver.settle([SettledAttempt(slow, .unfinished), SettledAttempt(try #require(hedge(driver, slow)), .slow)])

        #expect(driver.hedge(excluding: [0]) != nil)
    }

    private func hedge(_ driver: CoreDriver, _ slow: Attempt) -> Attempt? {
        driver.core.takeHedge(beside: slow, excluding: [0], at: driver.now)
    }

    @Test func `hedge tokens expire, so that a client with little traffic cannot save them`() throws {
        let driver = try CoreDriver()
        for _ in 0..<100 {
            driver.advance(10)
            driver.requests(1, .ok)
        }

        #expect(driver.core.extras.hedges.tokens < 1)
    }

    @Test func `a client that sends ten requests per second accumulates hedge tokens`() throws {
        let driver = try CoreDriver()
        for _ in 0..<1_000 {
            driver.advance(0.1)
            driver.requests(1, .ok)
        }

        #expect(driver.core.extras.hedges.tokens > 5)
    }

    @Test func `a policy with zero hedge tokens never allows a hedge, not even once a minute`() throws {
        var policy = SwitchPolicy.recommended
        policy.budgets.hedgeTokens = 0
        let (driver, slow) = try poor(policy)

        driver.advance(100)

        #expect(driver.core.takeHedge(beside: slow, excluding: [0], at: driver.now) == nil)
    }

    @Test func `after a hedge has won despite an empty budget, another hedge is allowed immediately`() throws {
        let (driver, slow) = try poor()
        driver.advance(1)
        let winner = driver.core.takeHedge(beside: slow, excluding: [0], at: driver.now)
        driver.settle([SettledAttempt(slow, .unfinished), SettledAttempt(try #require(winner), .ok)])
        while let hedge = driver.hedge(excluding: [0]) { driver.settle(hedge, .unfinished) }

        #expect(hedgeTimes(driver, slow, until: 70) == [1, 61])
    }
}

extension AttemptOutcome {
    fileprivate static let slow = AttemptOutcome.success(latency: .seconds(1))
}
