import SwitchyardServices
import Testing

/// Replaced server lists and pushed commands while other rules apply.
@Suite struct ReplacementTests {
    private func members(_ ids: String...) -> [SwitchingCore.Member] { ids.map { SwitchingCore.Member(id: $0) } }

    @Test func `without failback, a server that recovers after the current server was removed does not become current`()
        throws
    {
        let driver = try CoreDriver(policy: .stickyErrorRatio)
        driver.eject("a")
        try driver.replace(members("a", "c", "d"))
        #expect(driver.core.current == "c")

        driver.recover("a")

        #expect(driver.state("a") == .healthy)
        #expect(driver.core.current == "c")
        #expect(driver.choose()?.server == 1)
    }

    @Test func `a server that a new list has moved to the first position can confirm a failure`() throws {
        let driver = try CoreDriver(["a", "b"])
        let first = try #require(driver.choose())
        try driver.replace(members("b", "a"))
        let second = try #require(driver.failover(after: .reset, excluding: [1]))
        #expect(first.server == second.server)

        driver.settle([SettledAttempt(first, .failure(.reset)), SettledAttempt(second, .ok)])

        let usual = try CoreDriver(["a", "b"])
        let failed = try #require(usual.choose())
        let other = try #require(usual.failover(after: .reset, excluding: [0]))
        usual.settle([SettledAttempt(failed, .failure(.reset)), SettledAttempt(other, .ok)])
        #expect(driver.statistics("a")?.score == usual.statistics("a")?.score)
    }

    @Test func `failures that arrive after a new list has moved the servers do not eject the only server in use`()
        throws
    {
        let driver = try CoreDriver()
        // Server b does not serve these requests.
        var traits = RequestTraits(endpoint: 7)
        traits.unsuitable = [1]
        driver.requests(36, .ok, gap: 0.001)
        driver.eject("c")
        let attempts = (0..<30).compactMap { _ in driver.choose(for: traits) }

        try driver.replace(members("a", "c", "b"))
        for attempt in attempts { driver.settle(attempt, .refused) }

        #expect(driver.state("a") == .healthy)
    }

    @Test func `the server that replaces a removed current server starts with an empty window of outcomes`() throws {
        let driver = try CoreDriver(["a", "b"], policy: .stickyErrorRatio)
        for _ in 0..<30 {
            let attempt = try #require(driver.choose(excluding: [0]))
            driver.settle(attempt, .timedOut)
        }

        try driver.replace(members("b", "c"))

        #expect(driver.core.current == "b")
        #expect(driver.statistics("b")?.requests == 0)
    }

    @Test func `the minimum interval between switches starts when a new list removes the current server`() throws {
        var policy = SwitchPolicy.consecutiveFailures(3)
        policy.minimumInterval = .seconds(60)
        let driver = try CoreDriver(["a", "b"], policy: policy, at: 1000)
        try driver.replace(members("b", "c"))

        driver.requests(10, .failure(.http(500)))
        #expect(driver.core.current == "b")
        driver.advance(60)
        driver.requests(1, .failure(.http(500)))

        #expect(driver.core.current == "c")
    }

    @Test(arguments: [PushCommand.Mode.prefer, .avoid, .force])
    func `a command that was pushed to the client still applies after the list of servers was replaced`(
        mode: PushCommand.Mode
    ) throws {
        let driver = try CoreDriver()
        let named = mode == .avoid ? "a" : "b"
        try driver.push(PushCommand(version: 1, mode: mode, server: named, timeToLive: .seconds(60)))
        #expect(driver.core.current == "b")

        try driver.replace(members("a", "b", "d"))
        #expect(driver.core.current == "b")
        driver.advance(60)
        driver.request(.ok)

        #expect(driver.core.current == "a")
    }

    @Test func `a pushed command for a removed server does not change the order of the new list`() throws {
        let driver = try CoreDriver()
        try driver.push(PushCommand(version: 1, mode: .prefer, server: "b"))

        try driver.replace(members("d", "c", "a"))

        #expect(driver.core.current == "d")
    }

    @Test func `without failback, a server that a pushed command avoids stays last after a switch`() throws {
        let driver = try CoreDriver(["a", "b", "c", "d"], policy: .stickyErrorRatio)
        try driver.push(PushCommand(version: 1, mode: .avoid, server: "c"))

        driver.eject("a")
        #expect(driver.core.current == "b")
        driver.eject("b")

        #expect(driver.core.current == "d")
    }
}
