import Testing

@testable import SwitchyardServices

@Suite struct RoleTests {
    /// A core with the servers a, m and b; m does not serve every request.
    private func driver(_ policy: SwitchPolicy = .recommended, _ ids: [String] = ["a", "m", "b"]) throws -> CoreDriver {
        let driver = try CoreDriver(ids, policy: policy)
        let members = ids.map { id in
            var member = SwitchingCore.Member(id: id)
            member.servesEverything = id != "m"
            return member
        }
        driver.core = try SwitchingCore(members: members, policy: policy, at: driver.now, seed: 1)
        return driver
    }

    private func traits(without unsuitable: ServerSet) -> RequestTraits {
        var traits = RequestTraits()
        traits.unsuitable = unsuitable
        return traits
    }

    @Test(arguments: SelectionStrategy.allCases)
    func `no choice, failover, hedge or probe uses a server that does not serve the request`(
        selection: SelectionStrategy
    ) throws {
        var policy = SwitchPolicy.smallFleet
        policy.selection = selection
        let driver = try driver(policy)
        let writes = traits(without: [1])
        for step in 0..<600 {
            driver.advance(0.05)
            if step % 7 == 0 { driver.eject(["a", "m", "b"][step % 3]) }
            let first = try #require(driver.choose(for: writes))
            let tried: ServerSet = [first.server]
            let next = driver.core.takeFailover(after: .refused, excluding: tried, for: writes, at: driver.now)
            let hedge = driver.core.takeHedge(excluding: tried, for: writes, at: driver.now)
            let probe = driver.core.takeProbe(for: writes, at: driver.now)
            let warmUp = driver.core.takeWarmUp(for: writes, at: driver.now)
            let attempts = [first, next, hedge, probe, warmUp].compactMap(\.self)
            #expect(attempts.allSatisfy { $0.server != 1 })
            let others = [next, hedge].compactMap(\.self).map { SettledAttempt($0, .neutral) }
            driver.settle([SettledAttempt(first, .ok)] + others)
        }
    }

    @Test func `no server is chosen if no server serves the request`() throws {
        let driver = try driver()

        #expect(driver.choose(for: traits(without: [0, 1, 2])) == nil)
        let hedge = driver.core.takeHedge(excluding: [], for: traits(without: [0, 1, 2]), at: driver.now)
        #expect(hedge == nil)
    }

    @Test func `a mirror that is first in the list gets the requests that it serves, but is not the current server`()
        throws
    {
        let driver = try driver(.recommended, ["m", "a"])

        #expect(driver.choose()?.server == 0)
        #expect(driver.choose(for: traits(without: [0]))?.server == 1)
        #expect(driver.core.current == "a")
    }

    @Test func `a mirror does not become the current server when the other servers fail`() throws {
        let driver = try driver(.recommended, ["a", "m"])
        driver.eject("a")

        #expect(driver.choose()?.server == 1)
        #expect(driver.core.current == "a")
        #expect(driver.switches.isEmpty)
        #expect(driver.choose(for: traits(without: [1]))?.server == 0)
    }

    @Test func `if all servers for a request fail it, they stay healthy even if a server for other requests responds`()
        throws
    {
        let driver = try driver(.recommended, ["m", "a", "b"])
        let failing = traits(without: [0])
        for _ in 0..<100 {
            driver.advance(0.01)
            driver.request(.ok)  // A similar request, which m serves.
            let other = try #require(driver.choose(for: failing))
            driver.settle(other, .ok)
            let first = try #require(driver.choose(for: failing))
            let tried: ServerSet = [first.server]
            let next = driver.core.takeFailover(after: .http(500), excluding: tried, for: failing, at: driver.now)
            driver.settle([first, next].compactMap(\.self).map { SettledAttempt($0, .failure(.http(500))) })
        }

        #expect(driver.state("a") == .healthy)
        #expect(driver.switches.isEmpty)
    }

    @Test func `a server that does not serve the slow requests is not compared with the servers that serve them`()
        throws
    {
        let driver = try driver(.recommended, ["m", "a", "b"])
        let late = traits(without: [0])
        for number in 0..<400 {
            driver.advance(0.01)
            driver.request(.ok)
            let isLate = number % 4 == 3
            for tried in [[], [1]] as [ServerSet] {
                let first = try #require(driver.choose(excluding: tried, for: late))
                driver.advance(isLate ? 0.3 : 0.01)
                let other: ServerSet = [first.server]
                let hedge = isLate ? driver.core.takeHedge(excluding: other, for: late, at: driver.now) : nil
                guard let hedge else {
                    driver.settle(first, .ok)
                    continue
                }
                driver.settle([SettledAttempt(first, .unfinished), SettledAttempt(hedge, .ok)])
            }
        }

        #expect(driver.state("a") == .healthy && driver.state("b") == .healthy)
    }

    @Test func `failures of requests that only one server serves do not eject that server`() throws {
        let driver = try driver(.recommended, ["a", "m"])
        for _ in 0..<200 {
            driver.advance(0.01)
            let write = try #require(driver.choose(for: traits(without: [1])))
            driver.settle(write, .refused)
            let read = try #require(driver.choose(excluding: [0]))
            driver.settle(read, .ok)
        }

        #expect(driver.state("a") == .healthy)
    }

    @Test func `an ejected server stays ejected even if requests that only this server serves succeed`() throws {
        let driver = try driver(.recommended, ["a", "m"])
        driver.eject("a")
        for _ in 0..<10 {
            let write = try #require(driver.choose(for: traits(without: [1])))
            driver.settle(write, .ok)
        }

        #expect(driver.state("a") == .ejected)
    }

    @Test func `an ejected server that serves no reads is tried without a probe, because probes are reads`() throws {
        let driver = try driver(.smallFleet, ["a", "m"])
        var member = SwitchingCore.Member(id: "m")
        (member.servesEverything, member.servesReads) = (false, false)
        try driver.replace([SwitchingCore.Member(id: "a"), member])
        driver.eject("m")
        driver.advance(2)

        let probe = driver.core.takeProbe(for: traits(without: [1]), at: driver.now)

        #expect(probe == nil)
        #expect(driver.state("m") == .trial)
    }

    @Test func `without failback, requests that only some servers serve have a current server of their own`() throws {
        var policy = SwitchPolicy.recommended
        policy.failsBack = false
        let driver = try driver(policy)
        let writes = traits(without: [1])
        #expect(driver.choose()?.server == 0)
        #expect(driver.choose(for: writes)?.server == 0)
        driver.eject("a")
        #expect(driver.choose()?.server == 1)
        #expect(driver.choose(for: writes)?.server == 2)

        driver.recover("a")
        #expect(driver.choose()?.server == 1)
        #expect(driver.choose(for: writes)?.server == 2)
        try driver.switchTo("a")

        #expect(driver.choose()?.server == 0)
        #expect(driver.choose(for: writes)?.server == 0)
    }

    @Test func `suspicion probes for a request are sent only to servers that serve the request`() throws {
        let driver = try driver()
        let slow = try #require(driver.choose())

        let probe = driver.core.takeSuspicion(of: slow, without: [1], at: driver.now)
        let other = driver.core.takeSuspicion(of: slow, without: [0], at: driver.now)

        #expect(probe?.peer.server == 2)
        #expect(other == nil)
    }

    // The policy keeps the server of each kind of request until that server fails.
    @Test func `without failback, a new server list resets the current server of each kind of request`() throws {
        var policy = SwitchPolicy.recommended
        policy.failsBack = false
        let driver = try driver(policy)
        driver.eject("a")
        #expect(driver.choose(for: traits(without: [1]))?.server == 2)

        _ = try driver.core.replace(
            ["x", "m", "y"].map { id in
                var member = SwitchingCore.Member(id: id)
                member.servesEverything = id != "m"
                return member
            },
            at: driver.now
        )

        #expect(driver.choose(for: traits(without: [1]))?.server == 0)
    }

    /// Lets every attempt of some writes time out, one write per second.
    private func timeOut(_ writes: Int, on driver: CoreDriver) {
        for _ in 0..<writes {
            driver.advance(1)
            guard let write = driver.choose(excluding: [0], for: traits(without: [1])) else { continue }
            driver.settle(write, .timedOut)
        }
    }

    @Test func `an ejected server is tried while every other server for its requests is overloaded`() throws {
        let driver = try driver()
        driver.requests(40, .ok)
        driver.eject("a")
        timeOut(14, on: driver)

        let share = (0..<200).count { _ in
            guard let write = driver.choose(for: traits(without: [1])) else { return false }
            driver.settle(write, .neutral)
            return write.server == 0
        }
        #expect((140...180).contains(share))

        for _ in 0..<2 {
            let write = try #require(driver.choose(excluding: [2], for: traits(without: [1])))
            driver.settle(write, .ok)
        }
        #expect(driver.state("a") == .healthy)
    }

    @Test func `overload does not eject a server if every other server for its requests is overloaded`() throws {
        let driver = try driver()
        driver.requests(40, .ok)
        driver.overload("b", .http(503))
        let attempt = try #require(driver.choose(excluding: [2], for: traits(without: [1])))
        let failure = SwitchingCore.Failure(.http(503), attempt, endpoint: 1, hasConfirmation: true)
        for _ in 0..<40 {
            driver.advance(0.1)
            driver.core.recordFailure(0, failure, at: driver.core.read(driver.now))
        }

        #expect(driver.state("a") == .healthy)
    }

    @Test func `a write tests a server in its recovery trial if the server serves no repeatable request`() throws {
        let driver = try driver(.smallFleet, ["a", "m"])
        var member = SwitchingCore.Member(id: "m")
        (member.servesEverything, member.servesReads) = (false, false)
        try driver.replace([SwitchingCore.Member(id: "a"), member])
        driver.eject("m")
        driver.advance(2)
        _ = driver.core.takeProbe(for: traits(without: [1]), at: driver.now)
        _ = try #require(driver.choose(for: traits(without: [1])))

        let write = driver.choose(excluding: [0], for: RequestTraits(mayBeRepeated: false))

        #expect(write?.server == 1)
        #expect(write?.holdsTrialPlace == true)
    }

    @Test(arguments: [false, true])
    func `a current server is replaced if it does not serve every request in a new server list`(isOtherDown: Bool)
        throws
    {
        let driver = try driver(.recommended, ["a", "b"])
        if isOtherDown { driver.eject("b") }
        #expect(driver.core.current == "a")
        var mirror = SwitchingCore.Member(id: "a")
        mirror.servesEverything = false

        let events = try driver.core.replace([mirror, SwitchingCore.Member(id: "b")], at: driver.now)

        #expect(driver.core.current == "b")
        #expect(events.map(\.kind) == [.switched(from: "a", to: "b", cause: .listReplaced)])
    }
}
