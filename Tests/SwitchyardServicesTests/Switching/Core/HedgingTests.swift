import Testing

@testable import SwitchyardServices

@Suite struct HedgingTests {
    @Test(arguments: [(0.1, 0.02), (0.25, 0.03125), (8, 1)])
    func `a second server is asked for again after an eighth of the wait, 20 ms at least`(
        waited: Double,
        pause: Double
    ) throws {
        let driver = try CoreDriver()
        let slow = try #require(driver.choose())
        driver.advance(waited)

        #expect(driver.core.hedgePause(for: slow, excluding: [0], at: driver.now) == .seconds(pause))
    }

    @Test func `what has waited for 10 s is slow by nature`() throws {
        let driver = try CoreDriver()
        let slow = try #require(driver.choose())

        driver.advance(10)

        #expect(driver.core.hedgePause(for: slow, excluding: [0], at: driver.now) == nil)
    }

    @Test func `it is not asked for again where there is no other server, or none may be asked`() throws {
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

    @Test func `a policy without hedging asks for no second server`() throws {
        var policy = SwitchPolicy.recommended
        policy.hedging = nil
        let driver = try CoreDriver(policy: policy)

        #expect(driver.core.hedgePause(for: try #require(driver.choose()), excluding: [0], at: driver.now) == nil)
    }

    @Test func `without a hedge to be had, only what waits for an ejected server takes a failover`() throws {
        let driver = try CoreDriver()
        let slow = try #require(driver.choose())
        while driver.hedge(excluding: [0]) != nil {}

        #expect(driver.core.takeHedge(beside: slow, excluding: [0], at: driver.now) == nil)

        driver.eject("a")
        #expect(driver.core.takeHedge(beside: slow, excluding: [0], at: driver.now)?.role == .failover)
    }

    /// A core whose hedge tokens are spent in vain, and which has just been denied one.
    private func poor() throws -> CoreDriver {
        let driver = try CoreDriver()
        while let hedge = driver.hedge(excluding: [0]) { driver.settle(hedge, .unfinished) }
        return driver
    }

    @Test func `when all tokens were spent in vain one comes back after 5 s, and the next after 10 more`() throws {
        let driver = try poor()
        driver.advance(4.9)
        #expect(driver.hedge(excluding: [0]) == nil)

        driver.advance(0.1)
        let hedge = try #require(driver.hedge(excluding: [0]))
        driver.settle(hedge, .unfinished)
        driver.advance(9.9)
        #expect(driver.hedge(excluding: [0]) == nil)

        driver.advance(0.1)
        #expect(driver.hedge(excluding: [0]) != nil)
    }

    @Test func `a hedge on such a token that wins is paid back, and the next one comes as soon as the first`() throws {
        let driver = try poor()
        driver.advance(5)
        let winner = try #require(driver.hedge(excluding: [0]))
        driver.settle(winner, .ok)
        let loser = try #require(driver.hedge(excluding: [0]))
        driver.settle(loser, .unfinished)
        #expect(driver.hedge(excluding: [0]) == nil)

        driver.advance(5)

        #expect(driver.hedge(excluding: [0]) != nil)
    }

    @Test func `a write that is slow is compared on a token that came back`() throws {
        let driver = try poor()
        let slow = try #require(driver.choose())
        #expect(driver.suspicion(of: slow) == nil)

        driver.advance(5)

        #expect(driver.suspicion(of: slow) != nil)
    }

    @Test func `a policy without hedge tokens lends none`() throws {
        var policy = SwitchPolicy.recommended
        policy.budgets.hedgeTokens = 0
        let driver = try CoreDriver(policy: policy)
        #expect(driver.hedge(excluding: [0]) == nil)

        driver.advance(100)

        #expect(driver.hedge(excluding: [0]) == nil)
    }
}
