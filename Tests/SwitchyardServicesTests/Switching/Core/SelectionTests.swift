import Testing

@testable import SwitchyardServices

@Suite struct SelectionTests {
    private func driver(
        _ selection: SelectionStrategy,
        weights: [Double] = [1, 1, 1],
        seed: UInt64 = 1
    ) throws -> CoreDriver {
        var policy = SwitchPolicy.recommended
        policy.selection = selection
        let driver = try CoreDriver(policy: policy, seed: seed)
        let members = zip(["a", "b", "c"], weights).map { SwitchingCore.Member(id: $0, weight: $1) }
        driver.core = try SwitchingCore(members: members, policy: policy, at: driver.now, seed: seed)
        return driver
    }

    @Test func `the selection roundRobin chooses the servers in turn`() throws {
        let driver = try driver(.roundRobin)

        let first = try #require(driver.choose()?.server)

        #expect((1..<7).map { _ in driver.choose()?.server } == (1..<7).map { (first + $0) % 3 })
    }

    @Test func `the selection roundRobin starts at a random server, so that new clients share the servers`() throws {
        var counts = [0, 0, 0]
        for seed in 0..<300 {
            let first = try #require(try driver(.roundRobin, seed: UInt64(seed)).choose()?.server)
            counts[first] += 1
        }

        #expect(counts.allSatisfy { (70...130).contains($0) })
    }

    @Test func `the selection roundRobin starts at a random server of a new list`() throws {
        let drivers = try (0..<40).map { try driver(.roundRobin, seed: UInt64($0)) }
        let members = ["d", "e"].map { SwitchingCore.Member(id: $0) }

        let first = try drivers.map { driver in
            _ = driver.choose()
            try driver.replace(members)
            return driver.choose()?.server
        }

        #expect(Set(first) == [0, 1])
    }

    @Test func `the selection roundRobin skips an ejected server and continues with the next server`() throws {
        let driver = try driver(.roundRobin)
        driver.eject("b")

        let first = try #require(driver.choose()?.server)

        #expect((0..<4).map { _ in driver.choose()?.server } == (first == 0 ? [2, 0, 2, 0] : [0, 2, 0, 2]))
    }

    @Test(arguments: [0.0, -0.0])
    func `weights set the shares of the servers, and a server with weight 0 is used last`(nothing: Double) throws {
        let driver = try driver(.weighted, weights: [3, 1, nothing])

        var counts = [0, 0, 0]
        for _ in 0..<4000 {
            if let attempt = driver.choose() { counts[attempt.server] += 1 }
        }

        #expect((2850...3150).contains(counts[0]))
        #expect(counts[2] == 0)
        #expect(driver.choose(excluding: [0, 1], )?.server == 2)
    }

    @Test func `a server is chosen even if all weights are 0`() throws {
        let driver = try driver(.weighted, weights: [0, 0, 0])

        #expect(driver.choose() != nil)
    }

    @Test func `a server outside the latency window gets few requests`() throws {
        let driver = try driver(.lowestLatency)

        let counts = try counts(driver, latencies: [60, 10, 20])

        #expect(counts[0] < 40 && counts[0] > 2)
        #expect(abs(counts[1] - counts[2]) < 100)
    }

    @Test func `with a latency window of zero, the fastest server is chosen`() throws {
        var policy = SwitchPolicy.recommended
        policy.selection = .lowestLatency
        policy.latencyWindow = .zero
        let driver = try CoreDriver(policy: policy)

        let counts = try counts(driver, latencies: [30, 10, 20])

        #expect(counts[1] > 900)
        #expect(counts.allSatisfy { $0 > 2 })
    }

    private func counts(_ driver: CoreDriver, latencies: [Int]) throws -> [Int] {
        var counts = [0, 0, 0]
        for _ in 0..<1000 {
            let attempt = try #require(driver.choose())
            counts[attempt.server] += 1
            driver.settle(attempt, .success(latency: .milliseconds(latencies[attempt.server])))
        }
        return counts
    }

    @Test func `within the latency window the server with fewer requests in flight gets the request`() throws {
        let driver = try driver(.lowestLatency)

        let held = try (0..<300).map { _ in try #require(driver.choose()) }
        let counts = (0..<3).map { server in held.count { $0.server == server } }

        #expect(counts.allSatisfy { (95...105).contains($0) }, "\(counts)")
    }

    @Test func `a session keeps its server while the server is usable`() throws {
        let driver = try driver(.sticky)
        let sessions = (0..<300).map { RequestTraits(session: "session \($0)") }
        let before = sessions.map { driver.choose(for: $0, )?.server }

        driver.eject("b")
        let after = sessions.map { driver.choose(for: $0, )?.server }

        #expect(Set(before) == [0, 1, 2])
        for (old, new) in zip(before, after) { #expect(old == 1 ? new != 1 : new == old) }
        #expect(driver.choose()?.server == 0)
    }

    @Test func `the installation ID determines the order of the fallback servers`() throws {
        let members = ["a", "b", "c", "d"].map { SwitchingCore.Member(id: $0) }
        func seconds(_ installations: Range<UInt64>) throws -> [Int?] {
            try installations.map {
                var core = try SwitchingCore(members: members, at: .zero, seed: 1, installation: $0)
                #expect(core.choose(at: .zero)?.server == 0)
                return core.choose(excluding: [0], at: .zero)?.server
            }
        }

        let fallbacks = try seconds(0..<300)

        #expect(try seconds(0..<300) == fallbacks)
        for position in 1...3 { #expect((70...130).contains(fallbacks.count { $0 == position })) }
    }

    @Test func `an overloaded server gets only its admission share even if the selector returns only this server`()
        throws
    {
        let driver = try CoreDriver(["a", "b"])
        var random = RandomSource(seed: 1)
        for _ in 0..<8 { driver.core.admission.cut(0, after: .http(503), retryAfter: nil, at: 0, &random) }
        var traits = RequestTraits()
        traits.unwanted = [1]

        let share = (0..<2000).count { _ in
            guard let attempt = driver.choose(for: traits) else { return false }
            driver.settle(attempt, .neutral)
            return attempt.server == 0
        }

        #expect((160...240).contains(share))
    }
}
