import Testing

@testable import SwitchyardServices

@Suite struct TrialTests {
    /// The good requests that it takes from the beginning of a trial until the server is healthy.
    private func trial(of id: String, by driver: CoreDriver) -> Int {
        driver.startTrial(id)
        var good = 0
        while driver.state(id) == .trial, good < 100 {
            driver.requests(1, .ok)
            good += 1
        }
        return good
    }

    @Test func `a server that was dead is healthy after sixteen good requests`() throws {
        let driver = try CoreDriver()
        for _ in 0..<2 { driver.failedOver(.refused) }

        #expect(trial(of: "a", by: driver) == 16)
    }

    @Test func `a server that failed only now and then is healthy after forty-eight`() throws {
        let driver = try CoreDriver()
        while driver.state("a") == .healthy {
            driver.failedOver(.http(500))
            driver.requests(3, .ok)
        }

        #expect(trial(of: "a", by: driver) == 48)
    }

    @Test func `a trial that begins well and fails shows a server that fails only now and then`() throws {
        let driver = try CoreDriver()
        for _ in 0..<2 { driver.failedOver(.refused) }
        driver.startTrial("a")
        driver.requests(3, .ok)
        driver.failedOver(.http(500))
        #expect(driver.state("a") == .ejected)

        #expect(trial(of: "a", by: driver) == 48)
    }

    @Test func `what was forgotten does not make a later death partial`() throws {
        let driver = try CoreDriver()
        driver.failedOver(.http(500))
        driver.requests(100, .ok)
        for _ in 0..<2 { driver.failedOver(.refused) }
        #expect(driver.state("a") == .ejected)

        #expect(trial(of: "a", by: driver) == 16)
    }

    @Test func `a server that has recovered and dies again is healthy after sixteen once more`() throws {
        let driver = try CoreDriver()
        for _ in 0..<2 { driver.failedOver(.refused) }
        #expect(trial(of: "a", by: driver) == 16)
        for _ in 0..<2 { driver.failedOver(.refused) }
        #expect(driver.state("a") == .ejected)

        #expect(trial(of: "a", by: driver) == 16)
    }

    @Test func `the longer trial is never shorter than the plain one`() {
        var rules = RecoveryRules()
        rules.trialSuccesses = 60

        #expect(rules.trialSuccesses(afterPartialFailure: true) == 60)
    }
}
