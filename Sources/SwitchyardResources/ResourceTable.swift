import SwitchyardAPI
import SwitchyardServices

/// The resources of a client, one for each cache key and each type of value.
///
/// The table retains the most recently used resources up to a limit. Other resources live as long as another object
/// retains them.
final class ResourceTable: Sendable {
    fileprivate struct Name: Hashable {
        let key: CacheKey
        let stamp: CacheStamp
        let type: ObjectIdentifier
        let userChanges: UInt64
    }

    fileprivate struct Entry {
        weak var resource: (any AnyObject & Sendable & Observed)?
        /// The resource, retained while it is one of the most recently used resources, otherwise `nil`.
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

    /// The number of resources.
    var count: Int { state.withLock { $0.entries.values.count { $0.resource != nil } } }

    /// Returns the resource for a call and for the data on which its value depends besides the request.
    ///
    /// The first call of this function creates the resource. A new resource is created in two cases: a user without a
    /// name has changed, or the environment or the user of the existing resource is no longer the current one.
    func resource<Value: Sendable>(
        _ key: CacheKey,
        _ stamp: CacheStamp,
        after userChanges: UInt64 = 0,
        _ make: () -> APIResource<Value>
    ) -> APIResource<Value> {
        let name = Name(key: key, stamp: stamp, type: ObjectIdentifier(Value.self), userChanges: userChanges)
        let new = make()
        // The app's closure that names the user is called without the lock.
        let old = state.withLock { $0.entries[name]?.resource as? APIResource<Value> }
        let isOver = old.map { !$0.isPresent() } ?? false
        let (resource, dropped) = state.withLock { state -> (APIResource<Value>, [any AnyObject]) in
            state.uses += 1
            let known = state.entries[name]?.resource as? APIResource<Value>
            let resource = isOver && known === old ? new : known ?? new
            state.entries[name] = Entry(resource: resource, kept: resource, use: state.uses)
            return (resource, state.shrink(to: limit))
        }
        // The resources are released without the lock, because the end of a resource notifies its observers.
        withExtendedLifetime((dropped, old)) {}
        return resource
    }

    /// Releases the resources that are neither observed nor retained.
    func discardUnobserved() {
        let dropped = state.withLock { $0.discard { $0.kept?.isObserved != true } }
        withExtendedLifetime(dropped) {}
    }
}

/// The properties of a resource that do not depend on the type of its value.
protocol Observed {
    /// Whether the resource has an observer.
    var isObserved: Bool { get }
}

extension APIResource: Observed {}

extension ResourceTable.State {
    /// Removes the least recently used resources until the limit is reached.
    ///
    /// Observed resources are not removed.
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
