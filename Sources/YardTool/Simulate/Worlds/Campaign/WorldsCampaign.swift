import Foundation
import Switchyard

/// A simulation of many worlds (random scenarios, ``World``) on all processors, which counts the violations of the
/// ``Law``.
struct WorldsCampaign: Sendable {
    /// The numbers of the worlds, each of which is the seed of a random scenario.
    var numbers: ClosedRange<UInt64>
    /// The switching policy of the client.
    var policy = SwitchPolicy.recommended
    /// Whether the servers have roles, groups and zones.
    var hasRoles = false

    /// A world with a violation, reduced to the parts that are needed for the violation.
    struct Example: Sendable {
        var group: ViolationGroup
        /// The number that identifies the original world.
        var number: UInt64
        var world: World
        /// A violation in the minimized world.
        var violation: Violation
    }

    /// Runs the worlds.
    func run() async throws -> WorldsTally {
        let lanes = UInt64(max(1, ProcessInfo.processInfo.activeProcessorCount))
        return try await withThrowingTaskGroup(of: WorldsTally.self) { group in
            for lane in 0..<lanes {
                group.addTask {
                    try await tally(
                        of: stride(from: numbers.lowerBound + lane, through: numbers.upperBound, by: Int(lanes))
                    )
                }
            }
            return try await group.reduce(into: WorldsTally()) { $0.add($1) }
        }
    }

    private func tally(of numbers: some Sequence<UInt64>) async throws -> WorldsTally {
        var tally = WorldsTally()
        for number in numbers {
            tally.add(try WorldPlay.play(World(number: number, hasRoles: hasRoles), policy: policy))
            // Lets other tasks on this thread run.
            await Task.yield()
        }
        return tally
    }

    /// Searches for minimized worlds for each class of violations that was found.
    ///
    /// - Parameters:
    ///   - tally: The results of the simulation.
    ///   - count: The number of worlds for each class.
    ///   - groups: The number of classes, the most frequent first. The default is all classes.
    /// - Returns: The minimized worlds in the order of the classes.
    /// - Throws: An error if the policy is invalid.
    func examples(of tally: WorldsTally, perGroup count: Int, groups: Int = .max) throws -> [Example] {
        try tally.groups.prefix(groups).flatMap { group, entry in
            try entry.worlds.prefix(count).compactMap { try example(of: group, in: $0) }
        }
    }

    private func example(of group: ViolationGroup, in number: UInt64) throws -> Example? {
        let shrinker = WorldShrinker { try violation(of: group, in: $0) != nil }
        let world = try shrinker.smallest(of: World(number: number, hasRoles: hasRoles))
        return try violation(of: group, in: world).map {
            Example(group: group, number: number, world: world, violation: $0)
        }
    }

    /// Returns the first violation of a class in a world, unless the violation is a known exception.
    private func violation(of group: ViolationGroup, in world: World) throws -> Violation? {
        let played = try WorldPlay.play(world, policy: policy)
        return Law.violations(in: played).first { $0.group == group && KnownException.covering($0, in: world) == nil }
    }
}
