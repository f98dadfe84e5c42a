import SwitchyardServices
import Testing

@Suite struct LifecycleTests {
    @Test func `failures do not count against a server while the machine is offline`() throws {
        let driver = try CoreDriver(policy: .stickyErrorRatio)
        driver.requests(40, .ok)
        driver.core.setOffline(true, at: driver.now)

        driver.requests(100, .timedOut)

        #expect(driver.core.current == "a")
        #expect(driver.statistics("a")?.failures == 0)
    }

    @Test func `failures count against servers unless the machine is reported as offline`() throws {
        let driver = try CoreDriver(policy: .stickyErrorRatio)

        driver.requests(40, .timedOut)

        #expect(driver.core.current == "b")
    }

    @Test func `time in which the machine is offline does not make the health data of servers older`() throws {
        let driver = try CoreDriver()
        driver.eject("a")
        driver.core.setOffline(true, at: driver.now)
        driver.advance(3600)
        #expect(driver.probe() == nil)
        driver.core.setOffline(false, at: driver.now)

        driver.requests(1, .ok)

        #expect(driver.statistics("b")?.requests == 1)
        #expect(driver.core.snapshot(at: driver.now).first?.nextProbe ?? .zero <= .seconds(1))
    }

    @Test
    func `after a change of the network path, the scores are reset, and attempts that began before it do not count`()
        throws
    {
        let driver = try CoreDriver()
        driver.failedOver(.reset)
        let old = try #require(driver.choose())

        driver.core.pathChanged(at: driver.now)
        driver.settle(old, .timedOut)
        #expect(driver.statistics("a")?.score == 0)
        driver.request(.refused)
        #expect(driver.statistics("a")?.score == 0)
        driver.advance(2)
        driver.request(.refused)

        #expect(driver.statistics("a")?.score ?? 0 > 0)
    }

    @Test func `a change of the network path does not delay a probe that is due`() throws {
        let driver = try CoreDriver()
        driver.eject("a")
        driver.advance(60)

        driver.core.pathChanged(at: driver.now)

        #expect(driver.probe()?.server == 0)
    }

    @Test func `after a change of the network path, an endpoint whose hedges did not help is hedged again`() throws {
        let driver = try CoreDriver()
        let traits = RequestTraits(endpoint: 7)
        func hedge(beside first: Attempt) -> Attempt? {
            driver.core.takeHedge(excluding: [first.server], for: traits, at: driver.now)
        }
        for _ in 0..<4 {
            driver.requests(200, .ok)
            let first = try #require(driver.choose(for: traits))
            let useless = try #require(hedge(beside: first))
            driver.settle([SettledAttempt(first, .ok), SettledAttempt(useless, .unfinished)])
        }
        driver.requests(1, .ok)
        let first = try #require(driver.choose(for: traits))
        #expect(hedge(beside: first) == nil)

        driver.core.pathChanged(at: driver.now)

        #expect(hedge(beside: first) != nil)
    }

    @Test func `the result of a probe from before a change of the network path does not count`() throws {
        let driver = try CoreDriver()
        driver.eject("a")
        driver.advance(60)
        let probe = try #require(driver.probe())

        driver.advance(1)
        driver.core.pathChanged(at: driver.now)
        let events = driver.core.settleProbe(probe, .ok, at: driver.now)

        #expect(!events.map(\.kind).contains(.probed("a", succeeded: true)))
        #expect(driver.core.snapshot(at: driver.now).first?.state == .ejected)
    }

    @Test func `suspicion probes from before a change of the network path do not count against a server`() throws {
        let driver = try CoreDriver()
        driver.requests(20, .ok)
        let attempt = try #require(driver.choose())
        let probe = try #require(driver.suspicion(of: attempt))

        driver.advance(1)
        driver.core.pathChanged(at: driver.now)
        driver.advance(2)
        _ = driver.core.settleSuspicion(probe, suspect: .timedOut, peer: .ok, at: driver.now)

        #expect(driver.statistics("a")?.score == 0)
    }

    @Test func `a change of environment resets the health of all servers`() throws {
        let driver = try CoreDriver()
        driver.requests(20, .ok)
        let old = try #require(driver.choose())
        driver.eject("a")

        driver.events += driver.core.reset(at: driver.now)
        driver.settle(old, .refused)

        #expect(driver.core.current == "a")
        #expect(driver.core.snapshot(at: driver.now).allSatisfy { $0.state == .healthy })
        #expect(driver.statistics("a") == HealthStatistics())
        #expect(driver.events.last?.kind == .switched(from: "b", to: "a", cause: .reset))
    }

    @Test func `servers that also occur in a new list keep their health`() throws {
        let driver = try CoreDriver()
        driver.eject("a")
        let late = try #require(driver.choose())

        let members = ["d", "b", "a"].map { SwitchingCore.Member(id: $0) }
        try driver.replace(members)
        driver.settle(late, .refused)

        #expect(driver.core.current == "d")
        #expect(driver.state("a") == .ejected)
        #expect(driver.state("d") == .healthy)
        #expect(driver.statistics("b")?.lastFailure == .refused)
    }

    @Test func `the outcome of an attempt at a removed server does not count`() throws {
        let driver = try CoreDriver()
        let late = try #require(driver.choose())

        try driver.replace([SwitchingCore.Member(id: "z")])
        driver.settle(late, .refused)

        #expect(driver.core.current == "z")
        #expect(driver.statistics("z") == HealthStatistics())
        #expect(driver.events.map(\.kind) == [.switched(from: "a", to: "z", cause: .listReplaced)])
    }

    @Test func `an invalid server list is an error and changes nothing`() throws {
        let driver = try CoreDriver()
        let one = SwitchingCore.Member(id: "x")

        #expect(throws: SwitchError.noServers) { try driver.replace([]) }
        #expect(throws: SwitchError.duplicateServer("x")) { try driver.replace([one, one]) }
        let bad = SwitchingCore.Member(id: "y", weight: -1)
        #expect(throws: SwitchError.invalidWeight("y", -1)) { try driver.replace([bad]) }
        let many = (0...64).map { SwitchingCore.Member(id: "\($0)") }
        #expect(throws: SwitchError.tooManyServers(65)) { try driver.replace(many) }

        #expect(driver.core.serverIDs == ["a", "b", "c"])
    }

    @Test func `an ejection that was stored at most ten minutes ago is restored, and the server is probed immediately`()
        throws
    {
        let driver = try CoreDriver()
        driver.eject("a")
        let memory = driver.core.memory(wallClock: 1000)

        let soon = try CoreDriver()
        soon.events += soon.core.restore(memory, wallClock: 1600, at: soon.now)
        let late = try CoreDriver()
        late.events += late.core.restore(memory, wallClock: 1601, at: late.now)

        #expect(soon.core.current == "b")
        #expect(soon.probe()?.server == 0)
        #expect(late.core.current == "a")
    }

    @Test func `a restored ejection does not override an active pushed command`() throws {
        let driver = try CoreDriver()
        driver.eject("a")
        let memory = driver.core.memory(wallClock: 1000)

        let later = try CoreDriver()
        try later.push(PushCommand(version: 1, mode: .force, server: "a"))
        later.events += later.core.restore(memory, wallClock: 1001, at: later.now)

        #expect(later.state("a") == .healthy)
        #expect(later.choose()?.server == 0)
    }

    @Test func `a policy without failback remembers the last server without a time limit`() throws {
        let driver = try CoreDriver(policy: .stickyErrorRatio)
        try driver.switchTo("c")
        let memory = driver.core.memory(wallClock: 0)

        let later = try CoreDriver(policy: .stickyErrorRatio)
        later.events += later.core.restore(memory, wallClock: 1e6, at: later.now)

        #expect(later.core.current == "c")
    }

    @Test func `a clock that jumps back does not prevent a server's recovery`() throws {
        let driver = try CoreDriver(at: 1000)
        driver.eject("a")
        driver.now = MonotonicTime(seconds: 10)
        driver.request(.ok)

        driver.recover("a")

        #expect(driver.core.current == "a")
        #expect(driver.now.seconds < 200)
    }

    @Test func `failures count again after a change of the network path even if the clock jumped back`() throws {
        let driver = try CoreDriver(at: 1000)
        driver.core.pathChanged(at: driver.now)
        driver.now = MonotonicTime(seconds: 10)
        driver.request(.ok)
        driver.advance(3)

        driver.failedOver(.refused)

        #expect(driver.statistics("a")?.score ?? 0 > 0)
    }

    @Test func `times at the limits of the clock do not crash the switching core`() throws {
        let driver = try CoreDriver()
        for nanoseconds in [Int64.min, .max, 0, .min, -1, .max] {
            driver.now = MonotonicTime(nanoseconds: nanoseconds)
            driver.requests(50, .ok, gap: 0)
            driver.failedOver(.refused)
            driver.failedOver(.http(503))
            if let probe = driver.probe() { driver.events += driver.core.settleProbe(probe, .ok, at: driver.now) }
            driver.core.pathChanged(at: driver.now)
        }

        #expect(driver.choose() != nil)
    }

    @Test func `a snapshot of the switching core has the statistics of every server`() throws {
        let driver = try CoreDriver(["a", "b"])
        driver.requests(50, .success(latency: .milliseconds(20)))
        driver.failedOver(.refused)

        let first = try #require(driver.core.snapshot(at: driver.now).first)

        #expect(first.id == "a" && first.state == .healthy && first.isCurrent)
        #expect(first.statistics.requests == 51)
        #expect(first.statistics.failures == 1)
        #expect(first.statistics.lastFailure == .refused)
        let median = try #require(first.p50)
        #expect(median > .milliseconds(19.8) && median < .milliseconds(20.2))
        #expect(first.p99 == first.p50)
    }
}
