import Testing

@testable import SwitchyardServices

/// Being overtaken by a hedge counts against a server only if it is clearly more frequent than on other servers.
@Suite struct LatenessTests {
    /// Makes a request that server `a` serves late, so that a hedge is sent, which may be late too.
    private func late(_ driver: CoreDriver, hedgeIsLate: Bool = false) {
        guard let first = driver.choose() else { return }
        driver.advance(0.3)
        guard first.server == 0, let hedge = driver.hedge(excluding: [0]) else {
            return driver.settle(first, .ok)
        }
        driver.advance(hedgeIsLate ? 0.3 : 0.01)
        let latency = Duration.milliseconds(hedgeIsLate ? 300 : 10)
        driver.settle([SettledAttempt(first, .unfinished), SettledAttempt(hedge, .success(latency: latency))])
    }

    @Test func `a burst with some slow requests ejects no server`() throws {
        let driver = try CoreDriver()
        driver.requests(200, .ok)

        for _ in 0..<50 {
            driver.advance(0.3)
            let burst = (0..<300).compactMap { _ in driver.choose() }
            for attempt in burst.dropFirst(15) { driver.settle(attempt, .ok) }
            driver.advance(0.11)
            for attempt in burst.prefix(15) {
                guard let hedge = driver.hedge(excluding: [attempt.server]) else { continue }
                driver.settle([SettledAttempt(attempt, .unfinished), SettledAttempt(hedge, .ok)])
            }
        }

        #expect(driver.events.isEmpty)
    }

    @Test
    func `a server that is always slow for one endpoint is ejected from rotation, even if other endpoints are fast`()
        throws
    {
        let driver = try CoreDriver()
        let traits = RequestTraits(endpoint: 1)
        var late = 0

        while driver.state("a") == .healthy, late < 20 {
            driver.requests(100, .ok, gap: 0.001)
            let first = try #require(driver.choose(for: traits))
            driver.advance(0.3)
            let extra = driver.core.takeHedge(excluding: [0], for: traits, at: driver.now)
            let hedge = try #require(extra)
            driver.settle([SettledAttempt(first, .unfinished), SettledAttempt(hedge, .ok)])
            late += 1
        }

        #expect(late == 4)
    }

    @Test func `a server that hangs is ejected from rotation after a few requests`() throws {
        let driver = try CoreDriver()
        driver.requests(200, .ok)

        for _ in 0..<3 { late(driver) }
        #expect(driver.state("a") == .healthy)
        late(driver)

        #expect(driver.events.first?.kind == .ejected("a", generation: 1, cause: .lateness))
    }

    @Test func `servers that are all slow for 5 percent of their requests are not ejected`() throws {
        let driver = try CoreDriver()
        var random = RandomSource(seed: 3)

        for _ in 0..<20_000 {
            driver.advance(0.01)
            if random.unit() < 0.05 { late(driver, hedgeIsLate: random.unit() < 0.05) } else { driver.request(.ok) }
        }

        #expect(driver.events.isEmpty)
    }

    @Test func `a server that is slow for 30 percent of its requests is ejected within a hundred requests`() throws {
        for seed in 1...20 as ClosedRange<UInt64> {
            let driver = try CoreDriver(seed: seed)
            var random = RandomSource(seed: seed)
            driver.requests(200, .ok)
            var requests = 0
            while driver.state("a") == .healthy, requests < 1000 {
                driver.advance(0.01)
                requests += 1
                if random.unit() < 0.3 { late(driver) } else { driver.request(.ok) }
            }
            #expect(requests < 100)
        }
    }

    @Test func `no server is ejected when all servers are slow at the same time`() throws {
        let driver = try CoreDriver()
        driver.requests(200, .ok)

        for _ in 0..<50 {
            late(driver, hedgeIsLate: true)
            driver.requests(20, .ok)
        }

        #expect(driver.events.isEmpty)
    }

    @Test func `one slow response in twenty does not change the delay before a hedge`() throws {
        let driver = try CoreDriver()
        let attempt = try #require(driver.choose())
        for number in 0..<200 {
            driver.request(.success(latency: .milliseconds(number % 20 == 0 ? 900 : 10)))
        }

        #expect(driver.core.hedgeDelay(for: attempt, remaining: .seconds(5)) == .milliseconds(100))
    }

    @Test func `the delay before a hedge is longer for a slow endpoint`() throws {
        let driver = try CoreDriver()
        let (slow, quick) = (RequestTraits(endpoint: 1), RequestTraits(endpoint: 2))
        for _ in 0..<20 {
            for (traits, latency) in [(slow, Duration.seconds(1)), (quick, .milliseconds(10))] {
                guard let attempt = driver.choose(for: traits) else { break }
                driver.settle(attempt, .success(latency: latency))
            }
        }

        let waits = try [slow, quick].map { traits in
            let attempt = try #require(driver.choose(for: traits))
            return try #require(driver.core.hedgeDelay(for: attempt, remaining: .seconds(60))?.inSeconds)
        }

        #expect(abs(waits[0] - 1.3) < 0.02)
        #expect(waits[1] == 0.1)
    }

    @Test func `if the hedges of an endpoint never win, that endpoint gets at most a few of them`() throws {
        let driver = try CoreDriver()
        driver.requests(500, .ok)
        let traits = RequestTraits(endpoint: 1)
        var hedges = 0

        for _ in 0..<100 {
            driver.requests(20, .ok, gap: 0.001)
            let first = try #require(driver.choose(for: traits))
            guard let hedge = driver.core.takeHedge(excluding: [0], for: traits, at: driver.now) else {
                driver.settle(first, .success(latency: .milliseconds(300)))
                continue
            }
            hedges += 1
            driver.settle([
                SettledAttempt(first, .success(latency: .milliseconds(300))), SettledAttempt(hedge, .unfinished),
            ])
        }

        #expect(hedges <= 5)
        #expect(driver.core.takeHedge(excluding: [0], at: driver.now) != nil)
    }
}
