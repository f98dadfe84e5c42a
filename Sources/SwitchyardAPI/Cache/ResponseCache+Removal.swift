import Foundation
import SwitchyardClient
import SwitchyardServices

extension ResponseCache {
    /// An entry as a rule for removing sees it.
    public struct Candidate: Sendable {
        /// Whose answer it is.
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

        /// Creates what a store on disk says of one of its answers.
        public init(
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

    /// Removes everything, on disk too.
    ///
    /// What is being fetched while entries are removed, here and below, is not stored, and calls that come afterwards
    /// do not wait for it.
    public func removeAll() {
        removeAll { _ in true }
    }

    /// Removes all entries of a service in an environment, those of all users when none is named; for a log-out or the
    /// end of an environment.
    public func removeAll(in partition: CachePartition) {
        noteRemoval()
        disk?.removeAll(in: partition)
        drop { entry in
            entry.partition.service == partition.service && entry.partition.environment == partition.environment
                && (partition.user == nil || entry.partition.user == partition.user)
        }
    }

    /// Removes the entries of a service in an environment that are no named user's.
    func removeUnnamed(in partition: CachePartition) {
        let nobody = partition.withoutUser
        noteRemoval()
        disk?.removeUnnamed(in: nobody)
        drop { $0.partition == nobody }
    }

    /// Removes all entries that carry a tag.
    public func removeAll(tagged tag: String) {
        removeAll { $0.tags.contains(tag) }
    }

    /// Removes all entries of a service whose path begins so.
    public func removeAll(pathPrefix: String, service: String) {
        removeAll { $0.partition.service == service && $0.path.hasPrefix(pathPrefix) }
    }

    /// Removes the entries that carry one of several tags.
    public func removeAll(tagged tags: Set<String>) {
        removeAll { !$0.tags.isDisjoint(with: tags) }
    }

    /// Removes the entries that a rule names, on disk too; its cost grows with the number of entries.
    ///
    /// - Parameter rule: Called without a lock, for those on disk later and from another thread.
    public func removeAll(where rule: @escaping @Sendable (Candidate) -> Bool) {
        noteRemoval()
        disk?.removeAll(where: rule)
        drop(where: rule)
    }

    /// Removes what is kept of a place for HTTP's rules to decide on, after a call changed it (RFC 9111 section 4.4).
    ///
    /// What calls keep by a lifetime of their own stays: ``CachePolicy/removesTags`` is for that.
    ///
    /// - Parameters:
    ///   - place: Where something was changed.
    ///   - client: The client of the call, which knows the servers' base URLs.
    /// - Returns: Whether that counts as a removal: it does once HTTP's rules decide on anything.
    func removeChanged(at place: ChangedPaths.Place, of client: NetworkClient) -> Bool {
        if let disk { noteChange(of: place, in: disk) }
        guard followsHTTP.withLock({ $0 }) else { return false }
        noteRemoval()
        for index in tables.indices {
            for box in boxes(index) where box.record.facts.http != nil {
                guard place == ChangedPaths.Place(box.key.parts, of: client) else { continue }
                drop(box)
                disk?.remove(box.key)
            }
        }
        return true
    }

    private func noteChange(of place: ChangedPaths.Place, in disk: any AnswerStore) {
        let date = wallClock()
        changes.withLock { $0.note(place, at: date) }
        disk.noteChange(of: place.path, in: place.partition, at: date)
    }

    /// Whether a call of this run or of one before has changed a place since an answer of the disk's was stored.
    func hasChanged(_ place: ChangedPaths.Place, since stored: Date, in disk: any AnswerStore) async -> Bool {
        let ofBefore = await disk.lastChange(of: place.path, in: place.partition)
        let ofThisRun = changes.withLock { $0.lastChange(of: place) }
        guard let last = [ofBefore, ofThisRun].compactMap(\.self).max(), last > stored else { return false }
        // The clock was set back meanwhile, and nobody knows how long ago it was; what comes from now on is good.
        if last > wallClock() { noteChange(of: place, in: disk) }
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
