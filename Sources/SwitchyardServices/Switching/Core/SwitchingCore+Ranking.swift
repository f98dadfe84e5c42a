extension SwitchingCore {
    /// Whether the order of preference alone determines the server of a request, without weights, latencies and
    /// sessions.
    func usesOrder(_ traits: RequestTraits) -> Bool {
        switch rules.policy.selection {
        case .priority: true
        case .sticky: traits.sessionKey == nil
        default: false
        }
    }

    /// Picks the usable server with the highest rank by the selection strategy.
    mutating func pickByRank(excluding tried: ServerSet, for traits: RequestTraits, at time: Double) -> Choice? {
        if rules.policy.selection == .lowestLatency { return pickByLatency(excluding: tried, for: traits, at: time) }
        var passed = tried
        let draw = random.next()
        while let position = greatest(excluding: passed, for: traits, draw: draw) {
            if let choice = admit(position, for: traits, at: time) {
                if rules.policy.selection == .roundRobin {
                    steering.advanceCursor(after: position)
                }
                return choice
            }
            passed.insert(position)
        }
        return nil
    }

    private func greatest(excluding passed: ServerSet, for traits: RequestTraits, draw: UInt64) -> Int? {
        var best: (position: Int, rank: Double)?
        for position in steering.members.indices where !passed.contains(position) {
            let rank = rank(of: position, for: traits, draw: draw)
            if let best, best.rank >= rank { continue }
            best = (position, rank)
        }
        return best?.position
    }

    private func rank(of position: Int, for traits: RequestTraits, draw: UInt64) -> Double {
        let member = steering.members[position]
        switch rules.policy.selection {
        case .roundRobin: return -Double(steering.distance(to: position, draw: draw))
        // The servers of a group of equal priority share the traffic of the group by weight.
        case .priority, .weighted, .lowestLatency:
            return StableHash.rendezvous(draw, member.hash, weight: member.weight)
        case .sticky:
            guard let key = traits.sessionKey else { return -Double(position) }
            return StableHash.rendezvous(key, member.hash, weight: member.weight)
        }
    }
}

// MARK: - Latency

extension SwitchingCore {
    /// Picks one of the servers whose mean latency is at most the latency window above that of the fastest server.
    ///
    /// Two of these servers are drawn at random, and the one with fewer requests in flight is returned.
    private mutating func pickByLatency(
        excluding tried: ServerSet,
        for traits: RequestTraits,
        at time: Double
    ) -> Choice? {
        var passed = tried
        for position in steering.members.indices where recovery.state(of: position) == .ejected {
            passed.insert(position)
        }
        // Servers outside the latency window get some requests, so that their latencies stay current.
        var isExploring = random.next() & 31 == 0
        while let position = drawn(from: isExploring ? passed.inverted : window(excluding: passed)) {
            if let choice = admit(position, for: traits, at: time) { return choice }
            passed.insert(position)
            isExploring = false
        }
        return nil
    }

    /// Returns the servers whose mean latency is at most ``SwitchPolicy/latencyWindow`` above that of the fastest
    /// server.
    ///
    /// Servers without a measured latency are in the window.
    private func window(excluding passed: ServerSet) -> ServerSet {
        let positions = steering.members.indices.filter { !passed.contains($0) }
        let means = positions.map { evidence.servers[$0].latency.mean }
        let limit = (means.filter { $0 > 0 }.min() ?? 0) + rules.latencyWindow
        return zip(positions, means).reduce(into: ServerSet()) { if $1.1 <= limit { $0.insert($1.0) } }
    }

    /// Draws two servers of a set at random, and returns the server with fewer requests in flight.
    private mutating func drawn(from set: ServerSet) -> Int? {
        let positions = steering.members.indices.filter(set.contains)
        guard positions.count > 1 else { return positions.first }
        let first = Int(random.next() % UInt64(positions.count))
        let second = (first + 1 + Int(random.next() % UInt64(positions.count - 1))) % positions.count
        let (one, other) = (positions[first], positions[second])
        guard let inFlight else { return one }
        return inFlight.count(of: other) < inFlight.count(of: one) ? other : one
    }
}

// MARK: - Groups

extension SwitchingCore {
    /// Picks a server of the group that gets the request, or of the next group with a usable server.
    mutating func pickByGroup(excluding excluded: ServerSet, for traits: RequestTraits, at time: Double) -> Choice? {
        if let lead = steering.lead.map({ Int($0) }), !excluded.contains(lead),
            let choice = admit(lead, for: traits, at: time)
        {
            return choice
        }
        var passed = excluded
        if let avoided = steering.avoided { passed.insert(avoided) }
        let groups = steering.layout.groups
        let first = drawnGroup(of: groups, without: traits.unsuitable)
        for group in [groups[first]] + groups.enumerated().filter({ $0.offset != first }).map(\.element) {
            if let choice = pickByRank(excluding: passed.union(group.inverted), for: traits, at: time) { return choice }
        }
        return passed == excluded ? nil : pickByRank(excluding: excluded, for: traits, at: time)
    }

    /// Returns the group that gets the request.
    ///
    /// Each group gets traffic in proportion to its health, up to the share that the groups before it do not take (as
    /// Envoy's priority levels). The health of a group is the share of its weight that is healthy, times
    /// ``SwitchPolicy/overprovisioning``, at most 1. If the health of all groups adds up to less than 1, they share all
    /// traffic in proportion to their health.
    private mutating func drawnGroup(of groups: [ServerSet], without unsuitable: ServerSet) -> Int {
        let health = groups.map { self.health(of: $0.subtracting(unsuitable)) }
        guard health[0] < 1 else { return 0 }
        let whole = min(1, health.reduce(0, +))
        guard whole > 0 else { return 0 }
        var draw = random.unit() * whole
        for (index, share) in health.enumerated() {
            guard draw >= share else { return index }
            draw -= share
        }
        return health.lastIndex { $0 > 0 } ?? 0
    }

    private func health(of group: ServerSet) -> Double {
        var (healthy, all) = (0.0, 0.0)
        let positions = steering.members.indices.filter(group.contains)
        let hasWeight = positions.contains { steering.members[$0].weight > 0 }
        for position in positions {
            let weight = hasWeight ? steering.members[position].weight : 1
            all += weight
            if recovery.state(of: position) == .healthy { healthy += weight }
        }
        return all > 0 ? min(1, rules.policy.overprovisioning * healthy / all) : 0
    }
}
