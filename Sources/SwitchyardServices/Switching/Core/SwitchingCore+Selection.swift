extension SwitchingCore {
    /// Whether the request goes by the order of preference alone.
    func usesOrder(_ traits: RequestTraits) -> Bool {
        switch rules.policy.selection {
        case .priority: true
        case .sticky: traits.sessionKey == nil
        default: false
        }
    }

    /// Picks by the strategy's rank: the usable server with the greatest one.
    mutating func pickByRank(excluding tried: ServerSet, for traits: RequestTraits, at time: Double) -> Choice? {
        var passed = tried
        let isExploring = rules.policy.selection == .lowestLatency && random.next() & 31 == 0
        let draw = random.next()
        while let position = greatest(excluding: passed, for: traits, draw: draw, isExploring: isExploring) {
            if let choice = admit(position, for: traits, at: time) {
                if rules.policy.selection == .roundRobin {
                    cursor = UInt8((position + 1) % members.count)
                }
                return choice
            }
            passed.insert(position)
        }
        return nil
    }

    private func greatest(
        excluding passed: ServerSet,
        for traits: RequestTraits,
        draw: UInt64,
        isExploring: Bool
    ) -> Int? {
        var best: (position: Int, rank: Double)?
        for position in members.indices where !passed.contains(position) {
            let rank = rank(of: position, for: traits, draw: draw, isExploring: isExploring)
            if let best, best.rank >= rank { continue }
            best = (position, rank)
        }
        return best?.position
    }

    private func rank(of position: Int, for traits: RequestTraits, draw: UInt64, isExploring: Bool) -> Double {
        let member = members[position]
        switch rules.policy.selection {
        case .priority: return -Double(position)
        case .roundRobin: return -Double((position - Int(cursor) + members.count) % members.count)
        case .weighted: return StableHash.rendezvous(draw, member.hash, weight: member.weight)
        case .sticky: return StableHash.rendezvous(traits.sessionKey ?? 0, member.hash, weight: member.weight)
        case .lowestLatency:
            if isExploring { return StableHash.rendezvous(draw, member.hash, weight: 1) }
            return -Double(health[position].latency.mean)
        }
    }
}
