import SwitchyardFixtures
import Testing

@testable import SwitchyardServices

@Suite struct TrialTests {
    /// The number of successful requests from the start of a trial until the server is healthy.
    private func trial(of id: String, by driver: CoreDriver) -> Int {
        driver.startTrial(id)
        var good = 0
        while driver.state(id) == .trial, good < 100 {
            driver.requests(1, .ok)
            good += 1
        }
        return good
    }

    @Test func `the recovery trial of a dead server ends after sixteen successful requests`() throws {
        let driver = try CoreDriver()
        for _ in 0..<2 { driver.failedOver(.refused) }

        #expect(trial(of: "a", by: driver) == 16)
    }

    @Test func `the recovery trial of a server that failed only some requests ends after 48 successful requests`()
        throws
    {
        let driver = try CoreDriver()
        while driver.state("a") == .healthy {
            driver.failedOver(.http(500))
            driver.requests(3, .ok)
        }

        #expect(trial(of: "a", by: driver) == 48)
    }

    @Test func `a recovery trial that fails after successes makes the next trial last 48 successful requests`() throws {
        let driver = try CoreDriver()
        for _ in 0..<2 { driver.failedOver(.refused) }
        driver.startTrial("a")
        driver.requests(3, .ok)
        driver.failedOver(.http(500))
        #expect(driver.state("a") == .ejected)

        #expect(trial(of: "a", by: driver) == 48)
    }

    @Test func `an old failure does not make a later complete outage count as a partial failure`() throws {
        let driver = try CoreDriver()
        driver.failedOver(.http(500))
        driver.requests(100, .ok)
        for _ in 0..<2 { driver.failedOver(.refused) }
        #expect(driver.state("a") == .ejected)

        #expect(trial(of: "a", by: driver) == 16)
    }

    @Test func `the recovery trial after a second outage also ends after sixteen successful requests`() throws {
        let driver = try CoreDriver()
        for _ in 0..<2 { driver.failedOver(.refused) }
        #expect(trial(of: "a", by: driver) == 16)
        for _ in 0..<2 { driver.failedOver(.refused) }
        #expect(driver.state("a") == .ejected)

        #expect(trial(of: "a", by: driver) == 16)
    }

    @Test func `a server that keeps failing 15 % of its requests rarely passes its recovery trial`() throws {
        let early = try (1...UInt64(Rounds.count(6, thorough: 20))).map { try recoveries(failing: 0.15, seed: $0) }

        #expect(early.reduce(0, +) < 3)
    }

    /// Returns how often the first server recovers within five minutes in which it fails a share of its requests.
    private func recoveries(failing share: Double, seed: UInt64) throws -> Int {
        let driver = try CoreDriver(seed: seed)
        var random = RandomSource(seed: seed)
        driver.requests(100, .ok)
        for _ in 0..<6000 {
            driver.advance(0.05)
            if let probe = driver.probe() {
                let outcome = random.unit() < share ? AttemptOutcome.failure(.http(500)) : .ok
                driver.events += driver.core.settleProbe(probe, outcome, at: driver.now)
            }
            let first = try #require(driver.choose())
            if first.server == 0, random.unit() < share {
                let second = try #require(driver.failover(after: .http(500), excluding: [0]))
                driver.settle([SettledAttempt(first, .failure(.http(500))), SettledAttempt(second, .ok)])
            } else {
                driver.settle(first, .ok)
            }
        }
        return driver.events.count { if case .recovered = $0.kind { true } else { false } }
    }

    @Test func `the recovery trial after a partial failure is never shorter than trialSuccesses`() {
        var rules = RecoveryRules()
        rules.trialSuccesses = 60

        #expect(rules.trialSuccesses(afterPartialFailure: true) == 60)
    }
}
