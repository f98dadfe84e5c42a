/// A member of a group that has members of its own.
protocol MemberNest: GroupMember {
    /// Those that it waits for, at this moment.
    var nested: [any GroupMember] { get }
}

extension MemberNest {
    /// Whether a group is this, or a member at any depth.
    func holds(_ group: RequestGroup) -> Bool {
        var seen: Set<ObjectIdentifier> = []
        var rest: [any MemberNest] = [self]
        while let next = rest.popLast() {
            if next === group { return true }
            guard seen.insert(ObjectIdentifier(next)).inserted else { continue }
            rest += next.nested.compactMap { $0 as? any MemberNest }
        }
        return false
    }
}

extension RequestGroup: MemberNest {
    var nested: [any GroupMember] { members + (prelude?.members() ?? []) }
}

extension RequestBatch: MemberNest {
    var nested: [any GroupMember] { [group] }
}

extension RequestChain: MemberNest {
    var nested: [any GroupMember] { [group] }
}

extension RequestGraph: MemberNest {
    var nested: [any GroupMember] { [group] }
}
