import Switchyard
import SwitchyardFixtures
import Testing

@testable import yard

/// No caller fares worse with the client than without it, in any world.
///
/// A world that fails here can be played again and shrunk by `yard simulate worlds --worlds 1 --seed NUMBER`.
@Suite struct WorldsPropertyTests {
    @Test(arguments: [
        ("recommended", UInt64(Rounds.count(300, thorough: 2_000))), ("single", 60), ("off", 60),
    ])
    func `no caller in any world fares worse than without switching`(policy: String, worlds: UInt64) async throws {
        let campaign = WorldsCampaign(numbers: 1...worlds, policy: try #require(.named(policy)))

        let tally = try await campaign.run()

        let examples = try campaign.examples(of: tally, perGroup: 1, groups: 1)
        let report = WorldsReport(of: campaign, tally, examples: examples, wallSeconds: 0)
        #expect(report.holds, "\(report.text)")
        #expect(report.worlds == Int(worlds))
        #expect(report.alikeWorlds > Int(worlds) / 5)
    }
}
