/// The arrangement of a list of servers: their order, their groups of equal priority, and the servers that serve every
/// request.
///
/// The arrangement follows from the list alone and not from the health of the servers.
struct ServerLayout: Sendable {
    /// The rank of a server in the order of preference; servers of equal rank form a group.
    private struct Rank: Comparable {
        var isInOtherZone: Bool
        var priority: Int

        static func < (left: Rank, right: Rank) -> Bool {
            left.isInOtherZone == right.isInOtherZone ? left.priority < right.priority : right.isInOtherZone
        }
    }

    /// The positions of the servers in order of preference, with the fallbacks shuffled for this installation.
    let order: [UInt8]
    /// The groups of servers of equal priority, in order of preference.
    ///
    /// Empty if the order alone, or the selection alone, determines the server.
    let groups: [ServerSet]
    /// The servers that serve every request, or all servers if no server does.
    let generalists: ServerSet
    /// Whether any server does not serve every request.
    let hasRoles: Bool

    /// Arranges the servers of a list in order of preference and in groups.
    ///
    /// - Parameters:
    ///   - members: The servers in the order of the list.
    ///   - selection: The policy's selection.
    ///   - zone: The preferred zone, whose servers come first.
    ///   - installation: The number that determines the order of the fallbacks.
    init(
        _ members: [SwitchingCore.Member],
        by selection: SelectionStrategy,
        preferring zone: String?,
        installation: UInt64?
    ) {
        hasRoles = members.contains { !$0.servesEverything }
        let all = members.indices.reduce(into: ServerSet()) { $0.insert($1) }
        let general = members.indices.reduce(into: ServerSet()) { if members[$1].servesEverything { $0.insert($1) } }
        generalists = general.isEmpty ? all : general
        let ranks = members.map { Rank(isInOtherZone: zone != nil && $0.zone != zone, priority: $0.priority ?? 0) }
        let classes = Self.classes(of: ranks)
        order = Self.order(classes, members, installation)
        let hasPriorities = members.contains { $0.priority != nil }
        let usesGroups =
            selection == .priority ? hasPriorities && classes.count < members.count : classes.count > 1
        groups = usesGroups ? classes.map { $0.reduce(into: ServerSet()) { $0.insert(Int($1)) } } : []
    }

    /// Returns the positions of the servers, grouped by rank, the best rank first and each group in the order of the
    /// list.
    private static func classes(of ranks: [Rank]) -> [[UInt8]] {
        let sorted = ranks.indices.sorted { (ranks[$0], $0) < (ranks[$1], $1) }
        return sorted.reduce(into: []) { classes, position in
            if let last = classes.last?.last, ranks[Int(last)] == ranks[position] {
                classes[classes.count - 1].append(UInt8(position))
            } else {
                classes.append([UInt8(position)])
            }
        }
    }

    /// Returns the order: the first server, then the others of its rank in an order that depends on the installation's
    /// number, then the servers of the other ranks.
    private static func order(
        _ classes: [[UInt8]],
        _ members: [SwitchingCore.Member],
        _ installation: UInt64?
    ) -> [UInt8] {
        guard let installation, members.count > 2, let first = classes.first?.first else {
            return classes.flatMap(\.self)
        }
        let others = classes.flatMap { group in
            let ranked = group.filter { $0 != first }.map { position in
                let member = members[Int(position)]
                return (position, StableHash.rendezvous(installation, member.hash, weight: member.weight))
            }
            return ranked.sorted { $0.1 > $1.1 }.map(\.0)
        }
        return [first] + others
    }
}
