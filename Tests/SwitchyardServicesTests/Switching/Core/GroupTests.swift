import SwitchyardServices
import Testing

/// Envoy's priority levels with the overprovisioning factor 1.4, and zones.
@Suite struct GroupTests {
    typealias Member = SwitchingCore.Member

    private func driver(_ members: [Member], _ change: (inout SwitchPolicy) -> Void = { _ in }) throws -> CoreDriver {
        var policy = SwitchPolicy.recommended
        change(&policy)
        let driver = try CoreDriver(policy: policy)
        driver.core = try SwitchingCore(members: members, policy: policy, at: driver.now, seed: 1)
        return driver
    }

    /// Returns the share of the first attempts that each server gets.
    private func shares(_ driver: CoreDriver, for traits: RequestTraits = RequestTraits()) -> [Double] {
        var counts = driver.core.serverIDs.map { _ in 0.0 }
        for _ in 0..<4000 {
            if let attempt = driver.choose(for: traits) {
                counts[attempt.server] += 1
                driver.settle(attempt, .neutral)
            }
        }
        return counts.map { $0 / 4000 }
    }

    private func isClose(_ shares: [Double], _ expected: [Double]) -> Bool {
        shares.count == expected.count && zip(shares, expected).allSatisfy { abs($0 - $1) < 0.03 }
    }

    private let two = [
        Member(id: "a", weight: 3, priority: 1), Member(id: "b", weight: 1, priority: 1),
        Member(id: "c", priority: 2), Member(id: "d", priority: 2),
    ]

    @Test(
        arguments: [
            ([], [0.75, 0.25, 0, 0]),
            (["b"], [1, 0, 0, 0]),
            (["a"], [0, 0.35, 0.325, 0.325]),
            (["a", "b"], [0, 0, 0.5, 0.5]),
            (["a", "b", "c"], [0, 0, 0, 1]),
            (["a", "c"], [0, 0.35, 0, 0.65]),
        ] as [([String], [Double])]
    )
    func `the health of a group sets its share of the traffic, which its servers divide by weight`(
        ejected: [String],
        expected: [Double]
    ) throws {
        let driver = try driver(two)
        for id in ejected { driver.eject(id) }

        let shares = shares(driver)

        #expect(isClose(shares, expected), "\(shares)")
    }

    @Test func `with an overprovisioning factor of 1, a group loses traffic for every ejected server`() throws {
        let driver = try driver(two) { $0.overprovisioning = 1 }
        driver.eject("b")

        let shares = shares(driver)

        #expect(isClose(shares, [0.75, 0, 0.125, 0.125]), "\(shares)")
    }

    @Test func `servers of equal priority form one group that shares all traffic by weight`() throws {
        let members = [Member(id: "a", weight: 1, priority: 1), Member(id: "b", weight: 4, priority: 1)]

        let shares = shares(try driver(members))

        #expect(isClose(shares, [0.2, 0.8]), "\(shares)")
    }

    @Test func `servers of different priorities are used in the order of their priorities`() throws {
        let members = [Member(id: "a", priority: 2), Member(id: "b", priority: 1), Member(id: "c", priority: 3)]
        let driver = try driver(members)

        #expect(driver.core.current == "b")
        #expect(driver.choose()?.server == 1)
        #expect(driver.choose(excluding: [1])?.server == 0)
    }

    @Test func `a failover leaves a group of servers only after every server of the group was tried`() throws {
        let driver = try driver(two)

        for _ in 0..<100 {
            #expect(driver.choose(excluding: [0])?.server == 1)
            #expect((2...3).contains(driver.choose(excluding: [0, 1])?.server ?? 0))
        }
    }

    @Test func `only servers that serve a request count for the health of their group`() throws {
        let driver = try driver(two)
        var traits = RequestTraits()
        traits.unsuitable = [0]

        let shares = shares(driver, for: traits)

        #expect(isClose(shares, [0, 1, 0, 0]), "\(shares)")
    }

    @Test func `a command can prefer or avoid one server of a group`() throws {
        let driver = try driver(two)
        try driver.switchTo("c")
        #expect(isClose(shares(driver), [0, 0, 1, 0]))

        try driver.push(PushCommand(version: 1, mode: .avoid, server: "a"))
        #expect(isClose(shares(driver), [0, 1, 0, 0]))

        try driver.push(PushCommand(version: 2, mode: .clear, server: "a"))
        #expect(isClose(shares(driver), [0.75, 0.25, 0, 0]))
    }

    @Test func `the server selection of the policy applies within a group of servers`() throws {
        let driver = try driver(two) { $0.selection = .roundRobin }

        let first = try #require(driver.choose()?.server)

        #expect((0..<4).map { _ in driver.choose()?.server } == (first == 0 ? [1, 0, 1, 0] : [0, 1, 0, 1]))
    }

    // MARK: - Zones

    private let zones = [
        Member(id: "a", priority: 1, zone: "us"), Member(id: "b", priority: 1, zone: "eu"),
        Member(id: "c", priority: 2, zone: "eu"),
    ]

    @Test func `the server groups of the preferred zone come first`() throws {
        let driver = try driver(zones)
        driver.events += driver.core.prefer(zone: "eu", at: driver.now)

        #expect(driver.core.current == "b")
        #expect(isClose(shares(driver), [0, 1, 0]))
        driver.eject("b")
        #expect(isClose(shares(driver), [0, 0, 1]))
        driver.eject("c")
        #expect(isClose(shares(driver), [1, 0, 0]))
    }

    @Test func `without a preferred zone the zones have no effect`() throws {
        let driver = try driver(zones)
        _ = driver.core.prefer(zone: "eu", at: driver.now)
        _ = driver.core.prefer(zone: nil, at: driver.now)

        let shares = shares(driver)

        #expect(isClose(shares, [0.5, 0.5, 0]), "\(shares)")
    }

    @Test func `without a preferred zone, a server with a zone keeps its place before a server without a zone`() throws
    {
        let driver = try driver([Member(id: "a", zone: "us"), Member(id: "b")])

        #expect(driver.core.current == "a")
        #expect(driver.choose()?.server == 0)
    }

    @Test func `the preferred zone reorders a list without priorities`() throws {
        let driver = try driver([Member(id: "a", zone: "us"), Member(id: "b", zone: "eu"), Member(id: "c", zone: "us")])
        _ = driver.core.prefer(zone: "us", at: driver.now)
        #expect([[], [0], [0, 2]].map { driver.choose(excluding: $0)?.server } == [0, 2, 1])

        driver.events += driver.core.prefer(zone: "eu", at: driver.now)

        #expect([[], [1], [0, 1]].map { driver.choose(excluding: $0)?.server } == [1, 0, 2])
        #expect(driver.switches.count == 1)
    }
}
