import Foundation
import Switchyard

/// Plays many worlds, on all processors, and counts what was broken.
struct WorldsCampaign: Sendable {
    /// The numbers of the worlds.
    var numbers: ClosedRange<UInt64>
    /// When the client switches.
    var policy = SwitchPolicy.recommended

    /// A world in which something was broken, made small.
    struct Example: Sendable {
        var group: ViolationGroup
        /// The number of the world as it was drawn.
        var number: UInt64
        var world: World
        /// One of the violations in the small world.
        var violation: Violation
    }

    /// Plays the worlds.
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
            tally.add(try WorldPlay.play(World(number: number), policy: policy))
            // Whoever else is on this thread has a turn.
            await Task.yield()
        }
        return tally
    }

    /// Makes worlds small in which a class of violations was found.
    ///
    /// - Parameters:
    ///   - tally: What was found.
    ///   - count: How many worlds of each class.
    ///   - groups: How many classes, the most frequent first; all unless given.
    /// - Returns: The small worlds, in the order of the classes.
    /// - Throws: What is wrong with the policy.
    func examples(of tally: WorldsTally, perGroup count: Int, groups: Int = .max) throws -> [Example] {
        try tally.groups.prefix(groups).flatMap { group, entry in
            try entry.worlds.prefix(count).compactMap { try example(of: group, in: $0) }
        }
    }

    private func example(of group: ViolationGroup, in number: UInt64) throws -> Example? {
        let shrinker = WorldShrinker { try violation(of: group, in: $0) != nil }
        let world = try shrinker.smallest(of: World(number: number))
        return try violation(of: group, in: world).map {
            Example(group: group, number: number, world: world, violation: $0)
        }
    }

    /// The first violation of a class in a world that is no known exception.
    private func violation(of group: ViolationGroup, in world: World) throws -> Violation? {
        let played = try WorldPlay.play(world, policy: policy)
        return Law.violations(in: played).first { $0.group == group && KnownException.covering($0, in: world) == nil }
    }
}
