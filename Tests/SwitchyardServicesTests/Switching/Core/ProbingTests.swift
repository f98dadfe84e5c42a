import Testing

@testable import SwitchyardServices

@Suite struct ProbingTests {
    private func dead(_ policy: SwitchPolicy = .recommended) throws -> CoreDriver {
        let driver = try CoreDriver(policy: policy)
        for _ in 0..<2 { driver.failedOver(.refused) }
        return driver
    }

    @Test func `a dead server is probed, passes its recovery trial and becomes current again`() throws {
        let driver = try dead()
        #expect(driver.core.current == "b")

        driver.recover("a")

        #expect(driver.core.current == "a")
        let last = try #require(driver.events.last?.kind)
        #expect(last == .switched(from: "b", to: "a", cause: .recovered))
        let names = driver.events.map { event in
            switch event.kind {
            case .ejected: "ejected"
            case .switched: "switched"
            case .probed: "probed"
            case .trialStarted: "trial"
            case .recovered: "recovered"
            default: "other"
            }
        }
        #expect(names == ["ejected", "switched", "probed", "probed", "trial", "recovered", "switched"])
    }

    @Test func `the first probe is due after about a second, and only one probe is active at a time`() throws {
        let driver = try dead()

        #expect(driver.probe() == nil)
        driver.advance(0.69)
        #expect(driver.probe() == nil)
        driver.advance(0.62)

        #expect(driver.probe()?.server == 0)
        #expect(driver.probe() == nil)
    }

    @Test func `a probe whose result never arrives is abandoned after a minute`() throws {
        let driver = try dead()
        driver.advance(2)
        #expect(driver.probe() != nil)

        driver.advance(59)
        #expect(driver.probe() == nil)
        driver.advance(1)

        #expect(driver.probe() != nil)
    }

    @Test func `the interval between failed probes grows to about a minute`() throws {
        let driver = try dead()
        var gaps: [Double] = []
        var last = driver.now.seconds
        while gaps.count < 12 {
            driver.advance(0.1)
            guard let probe = driver.probe() else { continue }
            gaps.append(driver.now.seconds - last)
            last = driver.now.seconds
            driver.events += driver.core.settleProbe(probe, .refused, at: driver.now)
        }

        #expect(gaps.allSatisfy { $0 < 79 })
        #expect(gaps[3] < 4)
        #expect(gaps[11] > 10)
        #expect(driver.state("a") == .ejected)
    }

    @Test func `a successful probe counts as failed if it is far slower than the server's usual latency`() throws {
        let driver = try CoreDriver()
        driver.requests(20, .ok)
        driver.eject("a")
        driver.advance(2)
        let probe = try #require(driver.probe())

        driver.events += driver.core.settleProbe(probe, .success(latency: .milliseconds(300)), at: driver.now)

        #expect(driver.events.last?.kind == .probed("a", succeeded: false))
    }

    @Test func `each ejection doubles the time to the first probe, and healthy time reduces it again`() throws {
        let driver = try CoreDriver(["a", "b"])
        var waits: [Duration] = []
        for _ in 0..<3 {
            driver.eject("a")
            waits.append(try #require(driver.core.snapshot(at: driver.now).first?.nextProbe))
            driver.recover("a")
        }
        #expect(waits[0] < .seconds(1.31))
        #expect(waits[1] > .seconds(1.39) && waits[1] < .seconds(2.61))
        #expect(waits[2] > .seconds(2.79))

        driver.advance(130)
        driver.requests(1, .ok)

        #expect(driver.core.snapshot(at: driver.now).first?.ejections == 1)
    }

    @Test func `only servers that come before the current server in the order of preference are probed`() throws {
        let driver = try CoreDriver()
        driver.eject("c")
        driver.advance(100)

        #expect(driver.probe() == nil)
        driver.eject("a")
        driver.advance(100)
        #expect(driver.probe()?.server == 0)
        #expect(driver.probe() == nil)
    }

    @Test func `a single failure that another server confirms ends a server's recovery trial`() throws {
        let driver = try dead()
        driver.startTrial("a")
        #expect(driver.state("a") == .trial)

        driver.failedOver(.reset)

        #expect(driver.state("a") == .ejected)
        #expect(driver.core.current == "b")
    }

    @Test func `a server that responds while all servers are ejected is healthy again after two responses`() throws {
        let driver = try CoreDriver(["a", "b"])
        driver.eject("a")
        driver.eject("b")

        driver.requests(1, .ok)
        #expect(driver.core.recovery.servers.allSatisfy { $0.state == .ejected })
        driver.requests(1, .ok)

        #expect(driver.core.recovery.servers.contains { $0.state == .healthy })
    }

    @Test(arguments: [(1, 2), (2, 4), (3, 6), (4, 6)])
    func `each further ejection requires two more successful probes, up to six`(ejections: Int, probes: Int) throws {
        let driver = try CoreDriver()
        for _ in 1..<ejections {
            driver.eject("a")
            driver.core.recover(0, at: driver.core.read(driver.now))
        }
        driver.eject("a")
        var good = 0

        while driver.state("a") == .ejected, good < 20 {
            driver.advance(0.1)
            guard let probe = driver.probe() else { continue }
            good += 1
            driver.events += driver.core.settleProbe(probe, .ok, at: driver.now)
        }

        #expect(good == probes)
    }

    @Test func `with the small-fleet policy, the first server is current again within 800 ms`() throws {
        let driver = try dead(.smallFleet)
        driver.advance(10)
        let failed = try #require(driver.probe())
        driver.events += driver.core.settleProbe(failed, .refused, at: driver.now)
        let recovery = driver.now

        while driver.core.current != "a" {
            driver.advance(0.01)
            if let probe = driver.probe() {
                driver.events += driver.core.settleProbe(probe, .ok, at: driver.now)
            }
            driver.request(.ok)
        }

        #expect(recovery.duration(to: driver.now) < .milliseconds(800))
    }
}

@Suite struct SuspicionTests {
    @Test func `a server that hangs is ejected from rotation without sending the request again`() throws {
        let driver = try CoreDriver()
        driver.requests(20, .ok)
        let slow = try #require(driver.choose())
        driver.advance(0.25)

        var rounds = 0
        while let probe = driver.suspicion(of: slow) {
            rounds += 1
            #expect(probe.suspect.server == 0 && probe.peer.server == 1)
            #expect(driver.suspicion(of: slow) == nil)
            driver.advance(probe.limit.inSeconds)
            driver.events += driver.core.settleSuspicion(probe, suspect: .timedOut, peer: .ok, at: driver.now)
        }

        #expect(rounds == 3)
        #expect(driver.state("a") == .ejected)
        #expect(driver.core.extras.hedges.tokens > 3.9)
    }

    @Test func `a suspected server that responds to a probe is no longer suspected`() throws {
        let driver = try CoreDriver()
        let slow = try #require(driver.choose())
        let probe = try #require(driver.suspicion(of: slow))

        driver.events += driver.core.settleSuspicion(probe, suspect: .ok, peer: .ok, at: driver.now)

        #expect(driver.statistics("a")?.score == 0)
        #expect(driver.events.isEmpty)
    }

    @Test
    func `suspicion probes do not count against the suspected server if the other server does not respond either`()
        throws
    {
        let driver = try CoreDriver()
        let slow = try #require(driver.choose())
        let probe = try #require(driver.suspicion(of: slow))

        driver.events += driver.core.settleSuspicion(probe, suspect: .timedOut, peer: .timedOut, at: driver.now)

        #expect(driver.statistics("a")?.score == 0)
        #expect(driver.core.extras.hedges.tokens == 2)
    }

    @Test func `the only server of a service is never suspected`() throws {
        let driver = try CoreDriver(["only"])
        let slow = try #require(driver.choose())

        #expect(driver.suspicion(of: slow) == nil)
    }
}
