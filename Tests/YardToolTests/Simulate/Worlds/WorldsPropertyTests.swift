import Switchyard
import SwitchyardFixtures
import Testing

@testable import yard

/// No caller fares worse with the client than without it, in any world.
///
/// A world that fails here can be played again and shrunk by `yard simulate worlds --worlds 1 --seed NUMBER`.
@Suite struct WorldsPropertyTests {
    @Test(arguments: [
        ("recommended", UInt64(Rounds.count(150, thorough: 1_000))),
        ("single", UInt64(Rounds.count(40, thorough: 60))), ("off", UInt64(Rounds.count(40, thorough: 60))),
    ])
    func `no call in any simulated world fares worse than without switching servers`(policy: String, worlds: UInt64)
        async throws
    {
        let campaign = WorldsCampaign(numbers: 1...worlds, policy: try #require(.named(policy)))

        let tally = try await campaign.run()

        let examples = try campaign.examples(of: tally, perGroup: 1, groups: 1)
        let report = WorldsReport(of: campaign, tally, examples: examples, wallSeconds: 0)
        #expect(report.holds, "\(report.text)")
        #expect(report.worlds == Int(worlds))
        #expect(report.alikeWorlds > Int(worlds) / 5)
    }

    @Test func `with server roles, groups and zones, simulated calls do not fare worse than without switching`()
        async throws
    {
        let worlds = UInt64(Rounds.count(100, thorough: 1_000))
        let campaign = WorldsCampaign(numbers: 1...worlds, hasRoles: true)

        let tally = try await campaign.run()

        let examples = try campaign.examples(of: tally, perGroup: 1, groups: 1)
        let report = WorldsReport(of: campaign, tally, examples: examples, wallSeconds: 0)
        #expect(report.holds, "\(report.text)")
        #expect(!tally.faults.keys.contains { $0.kind == .sentToUnsuitable })
    }

    @Test func `the simulated worlds contain every kind of server role, group and zone`() {
        let arrangements = (1...300).compactMap { World(number: $0, hasRoles: true).arrangement }

        #expect(arrangements.count == 300)
        #expect(arrangements.contains { $0.roles.contains(.reads) })
        #expect(arrangements.contains { $0.hasGroups })
        #expect(arrangements.contains { $0.preferredZone != nil })
        #expect(arrangements.allSatisfy { $0.roles.contains(.everything) })
    }
}
