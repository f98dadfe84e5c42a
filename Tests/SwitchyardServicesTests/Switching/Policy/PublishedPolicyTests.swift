import SwitchyardServices
import Testing

@Suite struct PublishedPolicyTests {
    @Test(arguments: [(3, 40, false), (4, 40, true), (5, 40, true), (40, 40, true), (39, 39, false)])
    func `an error ratio at the threshold causes a switch if the minimum number of requests is reached`(
        failures: Int,
        total: Int,
        trips: Bool
    ) throws {
        let driver = try CoreDriver(policy: .stickyErrorRatio)

        driver.requests(total - failures, .ok)
        driver.requests(failures, .timedOut)

        #expect(driver.core.current == (trips ? "b" : "a"))
    }

    @Test func `the default ratio rule needs 40 requests and an error ratio of ten percent`() {
        #expect(SwitchPolicy.stickyErrorRatio.detection.ratio == RatioRule(threshold: 0.1, minimum: 40))
    }

    @Test func `an automatic switch resets the counters of the error ratio`() throws {
        let driver = try CoreDriver(policy: .stickyErrorRatio)
        driver.requests(36, .ok)

        driver.requests(4, .timedOut)

        #expect(driver.core.current == "b")
        #expect(["a", "b"].allSatisfy { driver.statistics($0)?.requests == 0 })
        #expect(["a", "b"].allSatisfy { driver.statistics($0)?.consecutiveFailures == 0 })
    }

    @Test(arguments: [PushCommand.Mode.prefer, .force])
    func `a switch by a pushed command resets the counters of the error ratio`(mode: PushCommand.Mode) throws {
        let driver = try CoreDriver(policy: .stickyErrorRatio)
        driver.requests(30, .ok)
        try driver.switchTo("b")
        driver.requests(36, .ok)

        try driver.push(PushCommand(version: 1, mode: mode, server: "a"))

        #expect(driver.core.current == "a")
        #expect(driver.statistics("a")?.requests == 0)
        driver.requests(3, .timedOut)
        #expect(driver.core.current == "a")
    }

    @Test func `if the error ratio exceeds the threshold, any number of failures causes a switch`() throws {
        for failures in 4...40 {
            let driver = try CoreDriver(policy: .stickyErrorRatio)
            driver.requests(40 - failures, .ok)
            driver.requests(failures, .timedOut)
            #expect(driver.core.current == "b")
        }
    }

    @Test func `with the policy stickyErrorRatio, a success never causes a switch`() throws {
        let driver = try CoreDriver(policy: .stickyErrorRatio)

        driver.requests(9, .timedOut)
        driver.requests(60, .ok)

        #expect(driver.core.current == "a")
    }

    @Test func `requests in progress do not count for the error ratio`() throws {
        let driver = try CoreDriver(policy: .stickyErrorRatio)

        _ = (0..<1000).map { _ in driver.choose() }
        driver.requests(36, .ok)
        driver.requests(4, .timedOut)

        #expect(driver.core.current == "b")
    }

    @Test func `an attempt counts for a server's statistics only after the attempt has ended`() throws {
        let driver = try CoreDriver(policy: .stickyErrorRatio)

        let attempts = (0..<10).compactMap { _ in driver.choose() }
        #expect(driver.statistics("a")?.requests == 0)
        for attempt in attempts { driver.settle(attempt, .ok) }

        #expect(driver.statistics("a")?.requests == 10)
    }

    @Test func `an outage after thousands of successful requests is detected within one window`() throws {
        let driver = try CoreDriver(policy: .stickyErrorRatio)

        driver.requests(4000, .ok)
        driver.requests(10, .timedOut)

        #expect(driver.core.current == "b")
    }

    @Test func `failures that are far apart in time do not add up`() throws {
        let driver = try CoreDriver(policy: .stickyErrorRatio)

        for _ in 0..<20 {
            driver.requests(1, .timedOut)
            driver.requests(41, .ok, gap: 2)
        }

        #expect(driver.core.current == "a")
        #expect(driver.switches.isEmpty)
    }

    @Test func `late failures of the previous server do not count against another server`() throws {
        let driver = try CoreDriver(policy: .stickyErrorRatio)
        driver.requests(36, .ok)
        let late = (0..<100).compactMap { _ in driver.choose() }
        driver.requests(4, .timedOut)

        for attempt in late { driver.settle(attempt, .timedOut) }

        #expect(driver.core.current == "b")
        #expect(driver.switches.count == 1)
        #expect(driver.statistics("b")?.requests == 0)
    }

    @Test(
        arguments: [
            (FailureKind.dnsFailure, true), (.reset, true), (.tlsFailure, true), (.refused, true),
            (.connectTimeout, true),
            (.timeout, true), (.other, true), (.http(502), true), (.http(503), true), (.http(504), true),
            (.http(500), false), (.http(429), false), (.http(408), false),
        ])
    func `only documented kinds of failure count for the error ratio`(kind: FailureKind, counts: Bool) throws {
        let driver = try CoreDriver(policy: .stickyErrorRatio)

        driver.requests(36, .ok)
        driver.requests(4, .failure(kind))

        #expect(driver.core.current == (counts ? "b" : "a"))
        if !counts { #expect(driver.statistics("a")?.requests == 40) }
    }

    @Test func `a switch does not return to a server that failed recently`() throws {
        let driver = try CoreDriver(policy: .stickyErrorRatio)
        driver.fail("a")
        driver.fail("b")
        #expect(driver.core.current == "c")

        driver.requests(60, .timedOut)

        #expect(driver.core.current == "c")
        #expect(driver.switches.count == 2)
    }

    @Test func `a recovered server becomes a candidate again at its place in the order of servers`() throws {
        let driver = try CoreDriver(policy: .stickyErrorRatio)
        driver.fail("a")
        driver.recover("a")
        #expect(driver.core.current == "b")

        driver.fail("b")
        #expect(driver.core.current == "c")
        driver.fail("c")

        #expect(driver.core.current == "a")
    }

    @Test func `the minimum interval delays the next switch`() throws {
        var policy = SwitchPolicy.stickyErrorRatio
        policy.minimumInterval = .seconds(30)
        let driver = try CoreDriver(policy: policy)
        driver.fail("a")

        driver.requests(100, .timedOut)
        #expect(driver.core.current == "b")
        driver.advance(30)
        driver.requests(100, .timedOut, gap: 0.001)

        #expect(driver.core.current == "c")
    }

    @Test func `a failed request is repeated on the next server within the same call`() throws {
        let driver = try CoreDriver(policy: .stickyErrorRatio)

        let first = try #require(driver.choose())
        let next = driver.failover(after: .timeout, excluding: [first.server], )

        #expect(next?.server == 1)
        #expect(next?.role == .failover)
    }

    @Test func `every switch of servers starts an empty window of outcomes`() throws {
        let driver = try CoreDriver(policy: .stickyErrorRatio)
        driver.requests(36, .ok)
        driver.requests(3, .timedOut)

        try driver.switchTo("b")
        try driver.switchTo("a")
        driver.requests(1, .timedOut)

        #expect(driver.core.current == "a")
        #expect(driver.statistics("a")?.requests == 1)
    }

    @Test func `a switch event contains both servers and its cause, and an ejection event contains the statistics`()
        throws
    {
        let driver = try CoreDriver(policy: .stickyErrorRatio)

        driver.requests(36, .ok)
        driver.requests(4, .timedOut)

        let kinds = driver.events.map(\.kind)
        #expect(kinds.last == .switched(from: "a", to: "b", cause: .errorRatio))
        let ejected = try #require(driver.events.first)
        #expect(ejected.statistics.requests == 40)
        #expect(ejected.statistics.failures == 4)
        #expect(ejected.statistics.errorRatio == 0.1)
        #expect(ejected.statistics.lastFailure == .timeout)
    }
}
