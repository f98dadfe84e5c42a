import Foundation
import SwitchyardClient
import SwitchyardServices

extension ResponseCache {
    /// An entry as a rule for removing sees it.
    public struct Candidate: Sendable {
        /// The service, environment and user of the response.
        public var partition: CachePartition
        /// The method of the request.
        public var method: String
        /// The path of the request.
        public var path: String
        /// The tags it was stored with.
        public var tags: Set<String>
        /// How long ago it was stored.
        public var age: Duration
        /// Its cost in bytes.
        public var cost: Int

        /// Creates the description that a disk store gives of a response.
        package init(
            partition: CachePartition,
            method: String,
            path: String,
            tags: Set<String>,
            age: Duration,
            cost: Int
        ) {
            self.partition = partition
            self.method = method
            self.path = path
            self.tags = tags
            self.age = age
            self.cost = cost
        }
    }

    /// Removes all entries, on disk too.
    ///
    /// Responses in flight during a removal, here and below, are not stored, and later calls do not wait for them.
    public func removeAll() {
        removeAll { _ in true }
    }

    /// Removes all entries of a service in an environment, for a logout or the end of an environment.
    ///
    /// If the partition names no user, the entries of all users are removed.
    public func removeAll(in partition: CachePartition) {
        recordRemoval()
        disk?.removeAll(in: partition)
        drop { entry in
            entry.partition.service == partition.service && entry.partition.environment == partition.environment
                && (partition.user == nil || entry.partition.user == partition.user)
        }
    }

    /// Removes the entries of a service in an environment that are no named user's.
    func removeUnnamed(in partition: CachePartition) {
        let nobody = partition.withoutUser
        recordRemoval()
        disk?.removeUnnamed(in: nobody)
        drop { $0.partition == nobody }
    }

    /// Removes all entries that carry a tag.
    public func removeAll(tagged tag: String) {
        removeAll { $0.tags.contains(tag) }
    }

    /// Removes all entries of a service whose path has a prefix.
    public func removeAll(pathPrefix: String, service: String) {
        removeAll { $0.partition.service == service && $0.path.hasPrefix(pathPrefix) }
    }

    /// Removes the entries that carry one of several tags.
    public func removeAll(tagged tags: Set<String>) {
        removeAll { !$0.tags.isDisjoint(with: tags) }
    }

    /// Removes the entries that a rule selects, on disk too; the cost grows with the number of entries.
    ///
    /// - Parameter rule: A closure that is called without a lock; for entries on disk, later and from another thread.
    public func removeAll(where rule: @escaping @Sendable (Candidate) -> Bool) {
        recordRemoval()
        disk?.removeAll(where: rule)
        drop(where: rule)
    }

    /// Removes the stored responses of a place that HTTP's rules govern, after a call changed the place (RFC 9111
    /// section 4.4).
    ///
    /// Responses that calls store with a lifetime of their own stay; use ``CachePolicy/removesTags`` for those.
    ///
    /// - Parameters:
    ///   - place: The changed place.
    ///   - client: The client of the call, which knows the servers' base URLs.
    /// - Returns: Whether the change counts as a removal, which requires that HTTP's rules govern any response.
    func removeChanged(at place: ChangedPaths.Place, of client: NetworkClient) -> Bool {
        if let disk { recordChange(of: place, in: disk) }
        guard followsHTTP.withLock({ $0 }) else { return false }
        recordRemoval()
        for index in tables.indices {
            for box in boxes(index) where box.record.facts.http != nil {
                guard place == ChangedPaths.Place(box.key.parts, of: client) else { continue }
                drop(box)
                disk?.remove(box.key)
            }
        }
        return true
    }

    private func recordChange(of place: ChangedPaths.Place, in disk: any ResponseStore) {
        let date = wallClock()
        changes.withLock { $0.note(place, at: date) }
        disk.recordChange(of: place.path, in: place.partition, at: date)
    }

    /// Whether a call of this run or of an earlier one has changed a place since a response was stored on disk.
    func hasChanged(_ place: ChangedPaths.Place, since stored: Date, in disk: any ResponseStore) async -> Bool {
        let ofBefore = await disk.lastChange(of: place.path, in: place.partition)
        let ofThisRun = changes.withLock { $0.lastChange(of: place) }
        guard let last = [ofBefore, ofThisRun].compactMap(\.self).max(), last > stored else { return false }
        // The clock was set back at an unknown time, so only responses that are stored from now on are valid.
        if last > wallClock() { recordChange(of: place, in: disk) }
        return true
    }

    private func drop(where rule: (Candidate) -> Bool) {
        let now = clock.now
        for index in tables.indices {
            for box in boxes(index) where rule(Candidate(box, now: now)) { drop(box) }
        }
    }

    /// Removes the entries that have expired from memory.
    public func removeExpired() {
        let now = clock.now
        for index in tables.indices {
            for box in boxes(index) where box.record.expires <= now { drop(box) }
        }
    }

    private func boxes(_ index: Int) -> [CacheBox] {
        tables.withLock(of: index) { $0.boxes }
    }
}

extension ResponseCache.Candidate {
    fileprivate init(_ box: CacheBox, now: MonotonicTime) {
        let parts = box.key.parts
        partition = parts.partition
        method = parts.method
        path = parts.path
        tags = box.record.facts.tags
        age = box.record.created.duration(to: now)
        cost = box.record.facts.cost
    }
}
