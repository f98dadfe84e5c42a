import Switchyard
import Testing

@testable import yard

/// No caller fares worse with the client than without it, in whatever world.
///
/// A world that fails here is played again, and made small, by `yard simulate worlds --worlds 1 --seed NUMBER`.
@Suite struct WorldsPropertyTests {
    @Test(arguments: [(SwitchPolicy.recommended, UInt64(2000)), (.single, 300)])
    func `in no world does a caller fare worse than without switching`(policy: SwitchPolicy, worlds: UInt64)
        async throws
    {
        let campaign = WorldsCampaign(numbers: 1...worlds, policy: policy)

        let tally = try await campaign.run()

        for (group, entry) in tally.groups {
            Issue.record("\(policy.name): \(group), \(entry.violations) in worlds \(entry.worlds.prefix(20))")
        }
        for example in try campaign.examples(of: tally, perGroup: 1).prefix(3) {
            Issue.record("world \(example.number) made small:\n\(example.world)\n\(example.violation)")
        }
        for exception in tally.excessiveExceptions { Issue.record("too often: \(exception.name)") }
        #expect(tally.worlds == Int(worlds))
        #expect(tally.alikeWorlds > Int(worlds) / 5)
    }
}
