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

    /// A core whose hedge tokens were spent in vain, with an attempt that has just begun.
    private func poor(_ policy: SwitchPolicy = .recommended) throws -> (driver: CoreDriver, slow: Attempt) {
        let driver = try CoreDriver(policy: policy)
        while let hedge = driver.hedge(excluding: [0]) { driver.settle(hedge, .unfinished) }
        return (driver, try #require(driver.choose()))
    }

    @Test func `when all tokens were spent in vain one is lent to a read that has waited for 5 s`() throws {
        let (driver, slow) = try poor()
        driver.advance(4.9)
        #expect(driver.core.takeHedge(beside: slow, excluding: [0], at: driver.now) == nil)

        driver.advance(0.1)

        #expect(driver.core.takeHedge(beside: slow, excluding: [0], at: driver.now)?.role == .hedge)
    }

    @Test func `the next ones are lent after 5 s, 10 s and so on, while none is of use`() throws {
        let (driver, slow) = try poor()
        var lentAt: [Int] = []
        for second in 1...40 {
            driver.advance(1)
            guard let hedge = driver.core.takeHedge(beside: slow, excluding: [0], at: driver.now) else { continue }
            lentAt.append(second)
            driver.settle(hedge, .unfinished)
        }

        #expect(lentAt == [5, 10, 20, 40])
    }

    @Test func `a hedge on a lent token that wins brings the token back, and lets the next read have it`() throws {
        let (driver, slow) = try poor()
        driver.advance(5)
        let winner = driver.core.takeHedge(beside: slow, excluding: [0], at: driver.now)
        driver.settle(try #require(winner), .ok)

        #expect(driver.hedge(excluding: [0]) != nil)
    }

    @Test func `a policy without hedge tokens lends none`() throws {
        var policy = SwitchPolicy.recommended
        policy.budgets.hedgeTokens = 0
        let (driver, slow) = try poor(policy)

        driver.advance(100)

        #expect(driver.core.takeHedge(beside: slow, excluding: [0], at: driver.now) == nil)
    }
}
