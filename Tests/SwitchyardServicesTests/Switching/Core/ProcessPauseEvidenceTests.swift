import Testing

@testable import SwitchyardServices

/// Failures across a pause of the process do not count against servers.
@Suite struct ProcessPauseEvidenceTests {
    private func driver() throws -> CoreDriver {
        let driver = try CoreDriver()
        driver.requests(40, .ok)
        return driver
    }

    @Test(arguments: [FailureKind.timeout, .connectTimeout, .reset, .refused, .truncated])
    func `a failed attempt that spans a pause of the process does not count against a server`(_ kind: FailureKind)
        throws
    {
        let driver = try driver()
        let attempts = (0..<40).compactMap { _ in driver.choose() }
        driver.advance(5)
        driver.core.processResumed(at: driver.now)

        for attempt in attempts { driver.settle(attempt, .failure(kind)) }

        #expect(driver.state("a") == .healthy)
        #expect(driver.core.snapshot(at: driver.now)[0].statistics.failures == 0)
    }

    @Test func `an error status counts even if the attempt spans a pause of the process`() throws {
        let driver = try driver()
        let attempt = try #require(driver.choose())
        driver.advance(5)
        driver.core.processResumed(at: driver.now)

        driver.settle(attempt, .failure(.http(500)))

        #expect(driver.core.snapshot(at: driver.now)[0].statistics.failures == 1)
    }

    @Test func `the latency of an attempt that spans a pause of the process is not recorded`() throws {
        let driver = try driver()
        let before = driver.core.snapshot(at: driver.now)[0].p99
        let attempts = (0..<40).compactMap { _ in driver.choose() }
        driver.advance(5)
        driver.core.processResumed(at: driver.now)

        for attempt in attempts { driver.settle(attempt, .success(latency: .seconds(5))) }

        #expect(driver.core.snapshot(at: driver.now)[0].p99 == before)
    }

    @Test func `an attempt that a hedge has overtaken does not count if the process was paused during the attempt`()
        throws
    {
        let driver = try driver()
        let first = try #require(driver.choose())
        driver.advance(5)
        driver.core.processResumed(at: driver.now)
        for _ in 0..<20 {
            guard let hedge = driver.hedge(excluding: [first.server]) else { continue }
            driver.settle([SettledAttempt(first, .unfinished), SettledAttempt(hedge, .ok)])
        }

        #expect(driver.core.snapshot(at: driver.now)[0].statistics.failures == 0)
        #expect(driver.state("a") == .healthy)
    }

    @Test func `an attempt that begins after a pause of the process counts`() throws {
        let driver = try driver()
        driver.advance(5)
        driver.core.processResumed(at: driver.now)

        driver.requests(1, .ok)
        driver.request(.failure(.refused))

        #expect(driver.core.snapshot(at: driver.now)[0].statistics.failures == 1)
    }
}
