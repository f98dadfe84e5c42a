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

    @Test func `a trial of a dead server takes sixteen successful requests`() throws {
        let driver = try CoreDriver()
        for _ in 0..<2 { driver.failedOver(.refused) }

        #expect(trial(of: "a", by: driver) == 16)
    }

    @Test func `a trial of a server that failed partially takes forty-eight successful requests`() throws {
        let driver = try CoreDriver()
        while driver.state("a") == .healthy {
            driver.failedOver(.http(500))
            driver.requests(3, .ok)
        }

        #expect(trial(of: "a", by: driver) == 48)
    }

    @Test func `a trial that starts well and fails shows a partial failure`() throws {
        let driver = try CoreDriver()
        for _ in 0..<2 { driver.failedOver(.refused) }
        driver.startTrial("a")
        driver.requests(3, .ok)
        driver.failedOver(.http(500))
        #expect(driver.state("a") == .ejected)

        #expect(trial(of: "a", by: driver) == 48)
    }

    @Test func `an old failure does not turn a later death into a partial failure`() throws {
        let driver = try CoreDriver()
        driver.failedOver(.http(500))
        driver.requests(100, .ok)
        for _ in 0..<2 { driver.failedOver(.refused) }
        #expect(driver.state("a") == .ejected)

        #expect(trial(of: "a", by: driver) == 16)
    }

    @Test func `a trial after a second death takes sixteen successful requests again`() throws {
        let driver = try CoreDriver()
        for _ in 0..<2 { driver.failedOver(.refused) }
        #expect(trial(of: "a", by: driver) == 16)
        for _ in 0..<2 { driver.failedOver(.refused) }
        #expect(driver.state("a") == .ejected)

        #expect(trial(of: "a", by: driver) == 16)
    }

    @Test func `the trial after a partial failure is never shorter than the plain trial`() {
        var rules = RecoveryRules()
        rules.trialSuccesses = 60

        #expect(rules.trialSuccesses(afterPartialFailure: true) == 60)
    }
}
