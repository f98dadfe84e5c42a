import Foundation
import SwitchyardClient
import SwitchyardServices

extension ResponseCache {
    /// The description of an entry that the closure of ``ResponseCache/removeAll(where:)`` receives.
    public struct Candidate: Sendable {
        /// The service, environment and user of the response.
        package var partition: CachePartition
        /// The name of the service.
        public var service: String { partition.service }
        /// The name of the environment.
        public var environment: String { partition.environment }
        /// The identifier of the user, or `nil` for responses that belong to no named user.
        public var user: String? { partition.user }
        /// The method of the request.
        public var method: String
        /// The path of the request.
        public var path: String
        /// The tags that the response was stored with.
        public var tags: Set<String>
        /// The time since the response was stored.
        public var age: Duration
        /// The cost of the entry in bytes.
        public var cost: Int

        /// Creates the description of a response in a disk store.
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

    /// Removes all entries from memory and disk.
    ///
    /// A response that is in flight during any removal is not stored, and later calls send their own requests.
    public func removeAll() {
        removeAll { _ in true }
    }

    /// Removes all entries of a service in an environment, for a logout or the end of an environment.
    ///
    /// - Parameters:
    ///   - service: The name of the service.
    ///   - environment: The name of the environment.
    ///   - user: The user whose entries are removed. If `nil`, the default, the entries of all users are removed.
    public func removeAll(service: String, environment: String, user: String? = nil) {
        removeAll(in: CachePartition(service: service, environment: environment, user: user))
    }

    /// Removes all entries of a partition.
    ///
    /// If the partition names no user, the entries of all users of its service and environment are removed.
    package func removeAll(in partition: CachePartition) {
        recordRemoval()
        disk?.removeAll(in: partition)
        drop { entry in
            entry.partition.service == partition.service && entry.partition.environment == partition.environment
                && (partition.user == nil || entry.partition.user == partition.user)
        }
    }

    /// Removes the entries of the partition's service and environment that belong to no named user.
    func removeUnnamed(in partition: CachePartition) {
        let nobody = partition.withoutUser
        recordRemoval()
        disk?.removeUnnamed(in: nobody)
        drop { $0.partition == nobody }
    }

    /// Removes all entries that were stored with a tag.
    public func removeAll(tagged tag: String) {
        removeAll { $0.tags.contains(tag) }
    }

    /// Removes all entries of a service whose paths begin with a prefix.
    public func removeAll(pathPrefix: String, service: String) {
        removeAll { $0.partition.service == service && $0.path.hasPrefix(pathPrefix) }
    }

    /// Removes the entries that were stored with at least one of the tags.
    public func removeAll(tagged tags: Set<String>) {
        removeAll { !$0.tags.isDisjoint(with: tags) }
    }

    /// Removes the entries for which a closure returns `true`, from memory and disk.
    ///
    /// The cost grows with the number of entries.
    ///
    /// - Parameter rule: A closure that is called without a lock. For entries on disk, it is called later on another
    ///   thread.
    public func removeAll(where rule: @escaping @Sendable (Candidate) -> Bool) {
        recordRemoval()
        disk?.removeAll(where: rule)
        drop(where: rule)
    }

    /// Removes the stored responses of a path after a call has sent a write request to it (RFC 9111 section 4.4).
    ///
    /// Only responses whose freshness HTTP's rules decide are removed. Responses that were stored with the lifetime of
    /// their call stay, and can be removed with ``CachePolicy/removesTags``.
    ///
    /// - Parameters:
    ///   - place: The path that was changed, with its service and environment.
    ///   - client: The client of the call, which knows the servers' base URLs.
    /// - Returns: Whether the write request was counted as a removal. It is counted if any call has used HTTP's rules
    ///   to decide on the freshness of its response.
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

    /// Returns whether a call of this run or an earlier run has sent a write request to a path since a response was
    /// stored on disk.
    func hasChanged(_ place: ChangedPaths.Place, since stored: Date, in disk: any ResponseStore) async -> Bool {
        let ofBefore = await disk.lastChange(of: place.path, in: place.partition)
        let ofThisRun = changes.withLock { $0.lastChange(of: place) }
        guard let last = [ofBefore, ofThisRun].compactMap(\.self).max(), last > stored else { return false }
        // The last change is in the future, so the clock was set back at an unknown time. The change is recorded with
        // the current time, so that only responses that are stored from now on are valid.
        if last > wallClock() { recordChange(of: place, in: disk) }
        return true
    }

    private func drop(where rule: (Candidate) -> Bool) {
        let now = clock.now
        for index in tables.indices {
            for box in boxes(index) where rule(Candidate(box, now: now)) { drop(box) }
        }
    }

    /// Removes expired entries from memory.
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
