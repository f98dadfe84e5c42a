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

    @Test(arguments: [AttemptOutcome.ok, .timedOut])
    func `suspicion probes across a pause of the process prove nothing and cost no token`(peer: AttemptOutcome) throws {
        let driver = try CoreDriver(["a", "b"])
        let slow = try #require(driver.choose())

        for _ in 0..<10 {
            let probe = try #require(driver.suspicion(of: slow))
            driver.advance(5)
            driver.core.processResumed(at: driver.now)
            #expect(driver.core.verdict(on: probe, suspect: .timedOut, peer: peer, at: driver.now) == .undecided)
            driver.events += driver.core.settleSuspicion(probe, suspect: .timedOut, peer: peer, at: driver.now)
        }

        #expect(driver.statistics("a")?.score == 0)
        #expect(driver.statistics("b")?.score == 0)
    }

    @Test func `if neither server responds to suspicion probes, the next probes go to a third server`() throws {
        let driver = try CoreDriver(["a", "b", "c"])
        let slow = try #require(driver.choose())
        let probe = try #require(driver.suspicion(of: slow))
        #expect(probe.peer.server == 1)

        driver.advance(1)
        driver.events += driver.core.settleSuspicion(probe, suspect: .timedOut, peer: .timedOut, at: driver.now)

        #expect(driver.suspicion(of: slow)?.peer.server == 2)
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

    @Test func `suspicion probes that were not sent cost no token`() throws {
        let driver = try CoreDriver(["a", "b"])
        let slow = try #require(driver.choose())

        for _ in 0..<10 {
            let probe = try #require(driver.suspicion(of: slow))
            driver.events += driver.core.settleSuspicion(probe, suspect: .neutral, peer: .neutral, at: driver.now)
        }
    }

    @Test(arguments: [AttemptOutcome.timedOut, .neutral])
    func `suspicion probes whose peer did not respond cost a token each`(peer: AttemptOutcome) throws {
        let driver = try CoreDriver(["a", "b"])
        let slow = try #require(driver.choose())
        var pairs = 0

        while pairs < 10, let probe = driver.suspicion(of: slow) {
            pairs += 1
            driver.events += driver.core.settleSuspicion(probe, suspect: .timedOut, peer: peer, at: driver.now)
        }

        #expect(pairs == 3)
    }

    @Test func `suspicion probes that end while the machine is offline are undecided`() throws {
        let driver = try CoreDriver(["a", "b"])
        let slow = try #require(driver.choose())
        let probe = try #require(driver.suspicion(of: slow))

        driver.core.setOffline(true, at: driver.now)

        #expect(driver.core.verdict(on: probe, suspect: .timedOut, peer: .ok, at: driver.now) == .undecided)
    }

    @Test func `suspicion probes to which neither server responds do not make the other server seem overloaded`()
        throws
    {
        let driver = try CoreDriver(["a", "b"])
        driver.requests(20, .ok)
        let slow = try #require(driver.choose())
        for peer in [AttemptOutcome.timedOut, .timedOut, .ok, .ok, .ok, .ok] {
            guard let probe = driver.suspicion(of: slow) else { break }
            driver.advance(2)
            driver.events += driver.core.settleSuspicion(probe, suspect: .timedOut, peer: peer, at: driver.now)
        }
        #expect(driver.state("a") == .ejected)

        #expect((0..<20).allSatisfy { _ in driver.choose()?.server == 1 })
    }

    @Test func `a peer whose suspicion probe spans a pause of the process remains the first peer`() throws {
        let driver = try CoreDriver(["a", "b", "c"])
        let slow = try #require(driver.choose())
        let probe = try #require(driver.suspicion(of: slow))
        driver.advance(5)
        driver.core.processResumed(at: driver.now)

        driver.events += driver.core.settleSuspicion(probe, suspect: .ok, peer: .timedOut, at: driver.now)

        #expect(driver.suspicion(of: slow)?.peer.server == 1)
    }

    @Test func `a peer that responds to a suspicion probe is the first peer again`() throws {
        let driver = try CoreDriver(["a", "b", "c"])
        let slow = try #require(driver.choose())
        for (peer, outcome) in [(1, AttemptOutcome.timedOut), (2, .timedOut), (1, .ok), (1, .ok)] {
            let probe = try #require(driver.suspicion(of: slow))
            #expect(probe.peer.server == peer)
            driver.advance(1)
            driver.events += driver.core.settleSuspicion(probe, suspect: .timedOut, peer: outcome, at: driver.now)
        }
    }
}
