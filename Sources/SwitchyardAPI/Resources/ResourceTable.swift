import SwitchyardServices

/// The resources of a client: one for each call and type of value.
///
/// The ones used last are kept, up to a limit; the others stay for as long as somebody else keeps them.
final class ResourceTable: Sendable {
    fileprivate struct Name: Hashable {
        let key: CacheKey
        let stamp: CacheStamp
        let type: ObjectIdentifier
        let userChanges: UInt64
    }

    fileprivate struct Entry {
        weak var resource: (any AnyObject & Sendable & Observed)?
        /// Keeps the resource while it is one of those used last.
        var kept: (any AnyObject & Sendable & Observed)?
        var use: Int
    }

    fileprivate struct State {
        var entries: [Name: Entry] = [:]
        var uses = 0
    }

    private let limit: Int
    private let state = Locked(State())

    init(limit: Int = 100) {
        self.limit = limit
    }

    /// How many resources there are.
    var count: Int { state.withLock { $0.entries.values.count { $0.resource != nil } } }

    /// The resource of a call and what its value depends on beside the request, made by the first who asks for it, and
    /// anew after each change of a user without a name, and where the manager of the first has another user by now.
    func resource<Value: Sendable>(
        _ key: CacheKey,
        _ stamp: CacheStamp,
        after userChanges: UInt64 = 0,
        _ make: () -> APIResource<Value>
    ) -> APIResource<Value> {
        let name = Name(key: key, stamp: stamp, type: ObjectIdentifier(Value.self), userChanges: userChanges)
        let new = make()
        // Asked without the lock: it is the app that says who its user is.
        let old = state.withLock { $0.entries[name]?.resource as? APIResource<Value> }
        let isOver = old.map { !$0.isPresent() } ?? false
        let (resource, dropped) = state.withLock { state -> (APIResource<Value>, [any AnyObject]) in
            state.uses += 1
            let known = state.entries[name]?.resource as? APIResource<Value>
            let resource = isOver && known === old ? new : known ?? new
            state.entries[name] = Entry(resource: resource, kept: resource, use: state.uses)
            return (resource, state.shrink(to: limit))
        }
        // Let go without the lock, since the end of a resource tells its listeners.
        withExtendedLifetime((dropped, old)) {}
        return resource
    }

    /// Lets those go that nobody follows or keeps.
    func discardUnobserved() {
        let dropped = state.withLock { $0.discard { $0.kept?.isObserved != true } }
        withExtendedLifetime(dropped) {}
    }
}

/// What a table asks of resources of any type.
protocol Observed {
    /// Whether somebody follows it.
    var isObserved: Bool { get }
}

extension APIResource: Observed {}

extension ResourceTable.State {
    /// Keeps no more than so many; the ones used longest ago go, those that somebody follows stay.
    fileprivate mutating func shrink(to limit: Int) -> [any AnyObject] {
        let kept = entries.values.filter { $0.kept != nil }
        guard kept.count > limit else { return [] }
        let oldest = kept.map(\.use).sorted()[kept.count - limit - 1]
        return discard { $0.use <= oldest && $0.kept?.isObserved != true }
    }

    fileprivate mutating func discard(_ isUnwanted: (ResourceTable.Entry) -> Bool) -> [any AnyObject] {
        var dropped: [any AnyObject] = []
        for (name, entry) in entries where isUnwanted(entry) {
            if let kept = entry.kept { dropped.append(kept) }
            entries[name]?.kept = nil
        }
        entries = entries.filter { $0.value.resource != nil }
        return dropped
    }
}
