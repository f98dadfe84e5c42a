import Testing

@testable import SwitchyardServices

@Suite struct BudgetTests {
    /// A driver without failover tokens, and one of the failovers that took them.
    private func spent(_ policy: SwitchPolicy = .recommended) throws -> (driver: CoreDriver, paid: Attempt) {
        let driver = try CoreDriver(policy: policy)
        let paid = try #require(driver.failover(after: .reset, excluding: [0]))
        while let another = driver.failover(after: .reset, excluding: [0]) { driver.settle(another, .unfinished) }
        return (driver, paid)
    }

    private func pause(
        _ driver: CoreDriver,
        after kind: FailureKind? = .reset,
        held: Duration = .zero,
        excluding tried: ServerSet = [0]
    ) -> Duration? {
        driver.core.failoverPause(after: kind, held: held, excluding: tried, at: driver.now)
    }

    @Test func `a request without a failover token asks for one again while another request's failover is active`()
        throws
    {
        let (driver, paid) = try spent()

        #expect(pause(driver) == .milliseconds(20))
        #expect(pause(driver, held: .milliseconds(400)) == .milliseconds(50))

        driver.settle(paid, .failure(.reset))
        #expect(pause(driver) == nil)
    }

    @Test
    func `a failover begins immediately if it needs no token, gets one, or is the request's second failover`()
        throws
    {
        let (driver, _) = try spent()
        let rich = try CoreDriver()
        _ = rich.failover(after: .reset, excluding: [0])

        #expect(pause(driver, after: .refused) == nil)
        #expect(pause(driver, after: nil) == nil)
        #expect(pause(driver, excluding: [0, 1]) == nil)
        #expect(pause(rich) == nil)
    }

    @Test func `a request without a failover token does not wait for failovers that have been active for 2 s`() throws {
        let (driver, _) = try spent()

        driver.advance(1.9)
        #expect(pause(driver) != nil)
        driver.advance(0.2)
        #expect(pause(driver) == nil)
    }

    @Test func `a request still waits for a failover token after a failover that needed no token has ended`() throws {
        let (driver, _) = try spent()
        let free = try #require(driver.failover(after: .refused, excluding: [0]))

        driver.settle(free, .failure(.reset))

        #expect(pause(driver) != nil)
    }

    @Test func `while the machine is offline, a failover without a token is given up immediately`() throws {
        let (driver, _) = try spent()

        driver.core.setOffline(true, at: driver.now)

        #expect(pause(driver) == nil)
    }

    private func goesOn(_ driver: CoreDriver, after kind: FailureKind?, isPaidFor: Bool = true) -> Attempt? {
        driver.core.takeFailover(after: kind, excluding: [0, 1], isPaidFor: isPaidFor, at: driver.now)
    }

    @Test(arguments: [FailureKind.reset, .truncated, .http(500), nil])
    func `a request that has a failover token reaches a third server without another token`(kind: FailureKind?) throws {
        let (driver, _) = try spent()

        #expect(goesOn(driver, after: kind)?.server == 2)
        #expect(goesOn(driver, after: kind, isPaidFor: false) == nil)
    }

    @Test(arguments: [FailureKind.timeout, .http(503), .http(429)])
    func `an overloaded request needs another failover token for a third server`(kind: FailureKind) throws {
        let (driver, _) = try spent()

        #expect(goesOn(driver, after: kind) == nil)
    }

    @Test func `with a policy without admission control, a request needs a failover token for the third server too`()
        throws
    {
        let (driver, _) = try spent(.stickyErrorRatio)

        #expect(goesOn(driver, after: .reset) == nil)
    }

    @Test func `the failover token of a successful request is returned only once`() throws {
        let (driver, paid) = try spent()
        let third = try #require(goesOn(driver, after: .reset))

        driver.settle([SettledAttempt(paid, .failure(.reset)), SettledAttempt(third, .answered)])

        #expect(driver.core.extras.failovers.tokens == 1)
    }

    @Test func `a second hedge of a request needs no token while other requests are hedged`() throws {
        let driver = try CoreDriver()
        let hedges = try (0..<3).map { _ in try #require(driver.hedge(excluding: [0])) }

        #expect(driver.hedge(excluding: [0, 1]) == nil)
        #expect(driver.core.takeHedge(beside: hedges[0], excluding: [0, 1], at: driver.now)?.server == 2)
    }

    @Test func `a second hedge of a request needs a token if no other request is hedged`() throws {
        let driver = try CoreDriver()
        let hedges = try (0..<3).map { _ in try #require(driver.hedge(excluding: [0])) }

        for hedge in hedges.dropFirst() { driver.settle(hedge, .unfinished) }

        #expect(driver.core.takeHedge(beside: hedges[0], excluding: [0, 1], at: driver.now) == nil)
    }

    @Test func `with a policy without admission control, failovers and hedges never wait for tokens`() throws {
        let (driver, _) = try spent(.stickyErrorRatio)

        #expect(pause(driver) == nil)
    }
}
