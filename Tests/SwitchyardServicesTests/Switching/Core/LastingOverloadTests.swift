import Testing

@testable import SwitchyardServices

/// The way back to an ejected server while every other server is overloaded.
@Suite struct LastingOverloadTests {
    /// Returns three servers, of which "a" is ejected and no probe is due.
    private func withoutFirst(_ selection: SelectionStrategy = .priority) throws -> CoreDriver {
        var policy = SwitchPolicy.recommended
        policy.selection = selection
        let driver = try CoreDriver(policy: policy)
        driver.requests(40, .ok)
        driver.eject("a")
        return driver
    }

    /// Lets every attempt of some requests time out, one request per second.
    private func timeOut(_ requests: Int, on driver: CoreDriver) {
        for _ in 0..<requests {
            driver.advance(1)
            guard let first = driver.choose() else { continue }
            guard let second = driver.choose(excluding: [first.server, 0]) else { continue }
            driver.settle([SettledAttempt(first, .timedOut), SettledAttempt(second, .timedOut)])
        }
    }

    /// Returns how many of 200 requests that are cancelled immediately go to a server first.
    private func share(of server: Int, _ driver: CoreDriver) -> Int {
        (0..<200).count { _ in
            guard let attempt = driver.choose() else { return false }
            driver.settle(attempt, .neutral)
            return attempt.server == server
        }
    }

    @Test(arguments: [SelectionStrategy.priority, .roundRobin, .lowestLatency])
    func `four of five requests try an ejected server after the servers in use have timed out for 10 s`(
        selection: SelectionStrategy
    ) throws {
        let driver = try withoutFirst(selection)
        timeOut(14, on: driver)

        #expect((140...180).contains(share(of: 0, driver)))
    }

    @Test func `a request that an ejected server refuses does not go to a server that has timed out for 10 s`() throws {
        let driver = try withoutFirst()
        timeOut(14, on: driver)

        #expect(driver.core.takeFailover(after: .refused, excluding: [0], at: driver.now) == nil)
    }

    @Test func `a request that an overloaded server rejects goes to the ejected server`() throws {
        let driver = try withoutFirst()
        timeOut(14, on: driver)

        #expect(driver.core.takeFailover(after: .http(503), excluding: [1], at: driver.now)?.server == 0)
    }

    @Test func `no request tries an ejected server after only a few seconds of timeouts`() throws {
        let driver = try withoutFirst()
        driver.requests(4, .ok)
        timeOut(5, on: driver)

        #expect(share(of: 0, driver) == 0)
    }

    @Test func `after two timeouts of 10 s each, requests may try an ejected server`() throws {
        let driver = try withoutFirst()
        for _ in 0..<2 {
            let attempts = try [[0, 2], [0, 1]].map { try #require(driver.choose(excluding: $0)) }
            driver.advance(10)
            driver.settle(attempts.map { SettledAttempt($0, .timedOut) })
        }

        #expect(share(of: 0, driver) > 0)
    }

    /// Returns two servers, of which "b" is ejected and "a" has rejected every request for 14 s.
    private func withoutSecond(_ change: (inout SwitchPolicy) -> Void = { _ in }) throws -> CoreDriver {
        var policy = SwitchPolicy.recommended
        change(&policy)
        let driver = try CoreDriver(["a", "b"], policy: policy)
        driver.requests(40, .ok)
        driver.eject("b")
        for _ in 0..<14 {
            driver.advance(1)
            if let attempt = driver.choose(excluding: [1]) { driver.settle(attempt, .failure(.http(503))) }
        }
        return driver
    }

    @Test(arguments: [SelectionStrategy.priority, .roundRobin, .lowestLatency])
    func `requests go to the overloaded first server and not to an ejected fallback`(
        selection: SelectionStrategy
    ) throws {
        let driver = try withoutSecond { $0.selection = selection }

        #expect(share(of: 1, driver) == 0)
    }

    @Test func `a request that an ejected fallback refuses goes to the overloaded first server`() throws {
        let driver = try withoutSecond()

        #expect(driver.core.takeFailover(after: .refused, excluding: [1], at: driver.now)?.server == 0)
    }

    @Test func `without failback, requests also try an ejected first server after the servers in use have timed out`()
        throws
    {
        var policy = SwitchPolicy.recommended
        policy.failsBack = false
        let driver = try CoreDriver(policy: policy)
        driver.requests(40, .ok)
        driver.eject("a")
        timeOut(14, on: driver)

        #expect((140...180).contains(share(of: 0, driver)))
    }

    @Test func `no request tries an ejected server that a pushed command avoids`() throws {
        let driver = try CoreDriver()
        driver.requests(40, .ok)
        try driver.push(PushCommand(version: 1, mode: .avoid, server: "a"))
        driver.advance(1)
        driver.eject("a")
        timeOut(14, on: driver)

        #expect(share(of: 0, driver) == 0)
    }

    @Test func `one response of a server in use ends the attempts on the ejected server`() throws {
        let driver = try withoutFirst()
        timeOut(14, on: driver)
        let attempt = try #require(driver.choose(excluding: [0]))
        driver.settle(attempt, .ok)

        #expect(share(of: 0, driver) == 0)
    }

    @Test func `an ejected server is healthy again after two responses`() throws {
        let driver = try withoutFirst()
        timeOut(14, on: driver)
        for _ in 0..<2 {
            let attempt = try #require(driver.choose(excluding: [1, 2]))
            driver.settle(attempt, .ok)
        }

        #expect(driver.state("a") == .healthy)
        #expect(driver.core.current == "a")
    }

    @Test func `timeouts from before a change of the network path do not allow attempts on an ejected server`() throws {
        let driver = try withoutFirst()
        timeOut(14, on: driver)
        driver.core.pathChanged(at: driver.now)
        driver.eject("a")

        #expect(share(of: 0, driver) == 0)
    }

    @Test func `timeouts from more than a minute ago do not allow attempts on an ejected server`() throws {
        let driver = try withoutFirst()
        timeOut(14, on: driver)
        driver.advance(61)

        #expect(share(of: 0, driver) == 0)
    }

    @Test func `a policy without admission control never tries an ejected server early`() throws {
        var policy = SwitchPolicy.recommended
        policy.admission = nil
        let driver = try CoreDriver(policy: policy)
        driver.requests(40, .ok)
        driver.eject("a")
        timeOut(14, on: driver)

        #expect(share(of: 0, driver) == 0)
    }
}
