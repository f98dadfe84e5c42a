import Testing

@testable import SwitchyardServices

/// Suspicion probes whose server or network changed before they were settled.
@Suite struct SuspicionEndTests {
    @Test func `a server that was ejected because of suspicion probes can be suspected again in its recovery trial`()
        throws
    {
        let driver = try CoreDriver(["a", "b"])
        driver.requests(20, .ok)
        let slow = try #require(driver.choose())
        let late = try #require(driver.suspicion(of: slow))
        driver.eject("a")
        driver.events += driver.core.settleSuspicion(late, suspect: .timedOut, peer: .ok, at: driver.now)
        driver.startTrial("a")

        let tried = try #require(driver.choose())

        #expect(tried.server == 0)
        #expect(driver.suspicion(of: tried) != nil)
    }

    @Test func `a server's count of failed suspicion probe pairs is reset in its recovery trial`() throws {
        var policy = SwitchPolicy.recommended
        policy.hedging?.suspicionRounds = 3
        let driver = try CoreDriver(["a", "b"], policy: policy)
        driver.requests(20, .ok)
        let slow = try #require(driver.choose())
        while let probe = driver.suspicion(of: slow) {
            driver.advance(0.3)
            driver.events += driver.core.settleSuspicion(probe, suspect: .timedOut, peer: .ok, at: driver.now)
        }
        #expect(driver.state("a") == .ejected)
        driver.startTrial("a")

        let tried = try #require(driver.choose())

        #expect(tried.server == 0)
        #expect(driver.suspicion(of: tried) != nil)
    }

    @Test func `suspicion probes that end while the machine is offline do not count`() throws {
        let driver = try CoreDriver(["a", "b"])
        let slow = try #require(driver.choose())
        let probe = try #require(driver.suspicion(of: slow))

        driver.core.setOffline(true, at: driver.now)
        driver.events += driver.core.settleSuspicion(probe, suspect: .timedOut, peer: .ok, at: driver.now)

        #expect(driver.statistics("a")?.score == 0)
        #expect(driver.statistics("a")?.share == 1)
    }

    @Test func `any response of the suspected server ends the suspicion against it`() throws {
        let driver = try CoreDriver(["a", "b"])
        driver.requests(20, .ok)
        let slow = try #require(driver.choose())
        let failed = try #require(driver.suspicion(of: slow))
        driver.events += driver.core.settleSuspicion(failed, suspect: .timedOut, peer: .ok, at: driver.now)
        #expect(driver.core.evidence.servers[0].suspicionRounds == 1)

        let answered = try #require(driver.suspicion(of: slow))
        driver.events += driver.core.settleSuspicion(answered, suspect: .answered, peer: .ok, at: driver.now)

        #expect(driver.core.evidence.servers[0].suspicionRounds == 0)
    }

    @Test func `a slow server that cannot be ejected gets eight pairs of suspicion probes`() throws {
        let driver = try CoreDriver(["a", "b"])
        driver.requests(20, .ok)
        driver.overload("b", .http(503))
        let slow = try #require(driver.choose())
        var rounds = 0

        while rounds < 100, let probe = driver.suspicion(of: slow) {
            rounds += 1
            driver.advance(0.3)
            driver.events += driver.core.settleSuspicion(probe, suspect: .timedOut, peer: .ok, at: driver.now)
        }

        #expect(driver.state("a") == .healthy)
        #expect(rounds == 8)
    }
}
