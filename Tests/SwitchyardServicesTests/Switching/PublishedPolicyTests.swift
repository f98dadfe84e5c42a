import SwitchyardServices
import Testing

@Suite struct PublishedPolicyTests {
    @Test(arguments: [(3, 40, false), (4, 40, true), (5, 40, true), (40, 40, true), (39, 39, false)])
    func `TAF-S1: the ratio trips at and above the threshold, from the minimum on`(
        failures: Int,
        total: Int,
        trips: Bool
    ) throws {
        var driver = try CoreDriver(policy: .published)

        driver.requests(total - failures, .ok)
        driver.requests(failures, .timedOut)

        #expect(driver.core.current == (trips ? "b" : "a"))
    }

    @Test func `TAF-S2: a success never switches`() throws {
        var driver = try CoreDriver(policy: .published)

        driver.requests(9, .timedOut)
        driver.requests(60, .ok)

        #expect(driver.core.current == "a")
    }

    @Test func `TAF-S7: late failures of the old server charge nobody else`() throws {
        var driver = try CoreDriver(policy: .published)
        driver.requests(36, .ok)
        let late = (0..<100).compactMap { _ in driver.core.choose(at: driver.now) }
        driver.requests(4, .timedOut)

        for attempt in late { driver.settle(attempt, .timedOut) }

        #expect(driver.core.current == "b")
        #expect(driver.switches.count == 1)
        #expect(driver.statistics("b")?.requests == 0)
    }
}
