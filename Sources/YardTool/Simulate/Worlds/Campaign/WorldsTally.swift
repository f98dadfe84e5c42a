import Switchyard

/// The totals of a simulation run (``WorldsCampaign``): worlds (random scenarios, ``World``), calls, requests, and
/// violations by class.
struct WorldsTally: Sendable {
    /// The violations of one class: their number, and the worlds in which they occurred.
    struct Entry: Sendable {
        var violations = 0
        /// The numbers of the worlds that have a violation of this class.
        var worlds: [UInt64] = []
    }

    private(set) var worlds = 0
    private(set) var alikeWorlds = 0
    private(set) var calls = 0
    private(set) var answered = 0
    /// The number of calls that would succeed if each call were sent once, to the first server.
    private(set) var servedByFirst = 0
    private(set) var requests = 0
    private(set) var shadows = 0
    private(set) var switches = 0
    /// The violations that are not known exceptions, by class.
    private(set) var faults: [ViolationGroup: Entry] = [:]
    /// The violations that are known exceptions, by the name of the exception.
    private(set) var exceptions: [String: Entry] = [:]

    /// Adds the results of a world (a random scenario that was run).
    mutating func add(_ played: PlayedWorld) {
        worlds += 1
        if played.world.isAlike { alikeWorlds += 1 }
        calls += played.calls.count
        answered += played.calls.count { $0.isSuccessful }
        servedByFirst += played.calls.count { $0.byFirst.status.map { $0 < 400 } ?? false }
        requests += played.record.requests
        shadows += played.record.shadows
        switches += played.switches
        for violation in Law.violations(in: played) {
            if let exception = KnownException.covering(violation, in: played.world) {
                exceptions[exception.name, default: Entry()].add(played.world)
            } else {
                faults[violation.group, default: Entry()].add(played.world)
            }
        }
    }

    /// Adds the totals of another tally.
    mutating func add(_ other: WorldsTally) {
        worlds += other.worlds
        alikeWorlds += other.alikeWorlds
        calls += other.calls
        answered += other.answered
        servedByFirst += other.servedByFirst
        requests += other.requests
        shadows += other.shadows
        switches += other.switches
        faults.merge(other.faults) { $0.joined(with: $1) }
        exceptions.merge(other.exceptions) { $0.joined(with: $1) }
    }

    /// The known exceptions that occurred more often than their limits allow.
    var excessiveExceptions: [KnownException] {
        KnownException.all.filter { exception in
            let found = Double(exceptions[exception.name]?.violations ?? 0)
            return found > KnownException.limit(exception.mostPer100000Calls, calls: calls)
        }
    }

    /// The classes of violations, the most frequent first.
    var groups: [(group: ViolationGroup, entry: Entry)] {
        faults.map { ($0.key, $0.value) }.sorted {
            ($1.entry.violations, "\($0.group)") < ($0.entry.violations, "\($1.group)")
        }
    }
}

extension WorldsTally.Entry {
    fileprivate mutating func add(_ world: World) {
        violations += 1
        if worlds.last != world.number { worlds.append(world.number) }
    }

    fileprivate func joined(with other: WorldsTally.Entry) -> WorldsTally.Entry {
        WorldsTally.Entry(violations: violations + other.violations, worlds: (worlds + other.worlds).sorted())
    }
}

extension PlayedCall {
    /// Whether the call received a response that is not an error.
    var isSuccessful: Bool {
        if case .answered(let status) = outcome { status < 400 } else { false }
    }
}
