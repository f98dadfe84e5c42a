public import Foundation
import SwitchyardClient
package import SwitchyardHTTP
public import SwitchyardServices

/// An expiring in-memory cache of decoded responses.
///
/// Values of any type share the cache. Each value has its own lifetime and its cost in bytes. An expired entry is
/// removed when a lookup finds it. Times are monotonic, so clock changes have no effect. A lookup reads
/// `TimeSource.coarseNow`, so with the system's time an entry may stay fresh for one clock tick longer (10 ms at most).
///
/// The entries are distributed over several locks, so that reads on different threads rarely wait for each other. The
/// limits apply to all entries together. Any thread may call the cache.
///
/// ### Eviction
///
/// When the cost or the number of entries would exceed its limit, a hand moves over the entries from the oldest to the
/// newest and then starts again. It keeps each entry that was used since its last visit, and evicts the first entry
/// that was not used. This is SIEVE (Zhang, Yang, Yue, Vigfusson and Rashmi, NSDI 2024). Compared with a
/// least-recently-used (LRU) list, using an entry only marks it and does not change the order, entries that are
/// requested once leave sooner, and there is nothing to tune. Of 100 requests, 43.2 are hits on a Zipf trace (LRU:
/// 34.1) and 38.8 if scans disturb the trace (LRU: 31.1). On a loop through more entries than fit, neither has any hits
/// (benchmark `cache`).
public final class ResponseCache: Sendable {
    /// The limits of the entries in memory.
    public struct Limits: Sendable, Hashable {
        /// The maximum cost of all entries in bytes, 20 MiB by default; beyond it, entries are evicted.
        public var cost: Int
        /// The maximum number of entries, 10,000 by default; beyond it, entries are evicted.
        public var count: Int

        /// Creates limits.
        ///
        /// A negative limit counts as 0. If a limit is 0, nothing is stored.
        public init(cost: Int = 20 * 1024 * 1024, count: Int = 10_000) {
            self.cost = max(0, cost)
            self.count = max(0, count)
        }
    }

    /// The limits of the entries in memory.
    package let limits: Limits
    /// The caching of calls that do not configure caching themselves.
    public let defaults: CacheDefaults
    /// The store for responses on disk, or `nil` if there is none.
    package let disk: (any ResponseStore)?
    let wallClock: @Sendable () -> Date
    /// The number of explicit removals.
    ///
    /// A fetch that was in flight during a removal does not store its response, because the response may be outdated.
    let removals = Locked(0)
    /// The last sequence number that was given to a fetch, or to a value that the app stored.
    ///
    /// A response with a smaller number does not replace a response with a larger number.
    let turns = Locked(0)
    /// The sequence number of the newest response for each key that is being fetched.
    let fetchedTurns = Locked(FetchedTurns())
    /// Whether any call has used HTTP's rules to decide on the freshness of its response.
    let followsHTTP = Locked(false)
    /// The paths to which calls of this run have sent write requests.
    ///
    /// They are compared with the paths of responses that are loaded from disk.
    let changes = Locked(ChangedPaths())
    /// The names of the services whose clients use this cache.
    private let services = Locked(Set<String>())
    let clock: TimeReader
    let tables: LockStripes<CacheTable>
    let queue = Locked(EvictionQueue())

    /// Creates an empty cache.
    ///
    /// - Parameters:
    ///   - limits: The limits of the cache. By default, they are 20 MiB and 10,000 entries.
    ///   - defaults: The caching of calls that do not configure caching themselves. By default, they are not cached.
    ///   - locks: The number of locks over which the entries are distributed, 8 by default. It is rounded up to a power
    ///     of two, at most 256.
    ///   - time: The monotonic clock, by default the system's clock.
    ///   - wallClock: The clock that HTTP's dates refer to.
    public convenience init(
        limits: Limits = Limits(),
        defaults: CacheDefaults = CacheDefaults(),
        locks: Int = 8,
        time: any TimeSource = SystemTime.shared,
        wallClock: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.init(limits: limits, defaults: defaults, disk: nil, locks: locks, time: time, wallClock: wallClock)
    }

    /// Creates an empty cache with a store for responses on disk.
    ///
    /// The public initializer is in `SwitchyardDiskCache`.
    package init(
        limits: Limits = Limits(),
        defaults: CacheDefaults = CacheDefaults(),
        disk: (any ResponseStore)?,
        locks: Int = 8,
        time: any TimeSource = SystemTime.shared,
        wallClock: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.limits = limits
        self.defaults = defaults
        self.disk = disk
        self.wallClock = wallClock
        clock = TimeReader(time)
        tables = LockStripes(min(max(1, locks), 256)) { CacheTable() }
    }

    /// Records that a client of a service uses the cache, and returns whether it is the first client of that service to
    /// do so.
    func beginsServing(_ service: String) -> Bool {
        services.withLock { $0.insert(service).inserted }
    }

    /// The number of entries, including expired entries that no lookup has removed yet.
    public var count: Int { queue.withLock { $0.count } }

    /// The cost of all entries, in bytes.
    public var cost: Int { queue.withLock { $0.cost } }

    /// Returns the value for a cache key if it is fresh and has the given type, otherwise `nil`.
    package func value<Value: Sendable>(for key: CacheKey, as type: Value.Type = Value.self) -> Value? {
        freshValue(of: key, type) { _, _ in true }
    }

    /// Returns the value for a cache key if it is fresh, has this type and stamp, and is younger than `age`; otherwise,
    /// `nil`.
    ///
    /// A value with a status other than 200 is not returned, because the rules of the call must accept the status
    /// first.
    func value<Value: Sendable>(
        for key: CacheKey,
        as type: Value.Type,
        _ stamp: CacheStamp,
        youngerThan age: Duration
    ) -> Value? {
        freshValue(of: key, type) { box, now in
            box.record.facts.stamp.refusal(for: stamp) == nil && box.record.created.duration(to: now) < age
                && (box.record.facts.answer?.status ?? 200) == 200
        }
    }

    /// Returns the value of a fresh entry and marks the entry as used.
    ///
    /// The value is copied under the lock, so that the caller need not retain the entry.
    @inline(__always)
    private func freshValue<Value: Sendable>(
        of key: CacheKey,
        _ type: Value.Type,
        where isWanted: (CacheBox, MonotonicTime) -> Bool
    ) -> Value? {
        let now = clock.coarseNow
        let table = tables.lock(key.spread)
        guard let box = table.pointee.box(of: key), box.freshUntil > now else {
            tables.unlock(key.spread)
            dropExpired(key, now: now)
            return nil
        }
        defer { tables.unlock(key.spread) }
        if !box.isMarked { box.isMarked = true }
        guard let box = box.holding(type), isWanted(box, now) else { return nil }
        return box.value
    }

    /// Returns the value for a cache key with its metadata, fresh or stale.
    ///
    /// A value is stale after its `lifetime`. It is no longer returned after its `staleFor` has passed as well.
    package func entry<Value: Sendable>(for key: CacheKey, as type: Value.Type = Value.self) -> CachedValue<Value>? {
        let now = clock.now
        guard let box = box(of: key, now: now)?.holding(type) else { return nil }
        let facts = box.record.facts
        return CachedValue(
            value: box.value,
            age: box.record.created.duration(to: now),
            isFresh: box.freshUntil > now,
            tags: facts.tags,
            answer: facts.answer,
            redirectedTo: facts.redirectedTo,
            cost: facts.cost,
            http: facts.http,
            stamp: facts.stamp
        )
    }

    /// Stores a value and replaces an older value with the same key.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - key: The cache key.
    ///   - lifetime: The time for which the value is fresh. If it is zero or negative, nothing is stored and an older
    ///     value is removed.
    ///   - staleFor: The time after its lifetime during which the value is kept for ``entry(for:as:)``, zero by
    ///     default.
    ///   - cost: The cost in bytes, preferably the size of the body from which the value was decoded. A value that
    ///     exceeds the cache's limit is not stored.
    ///   - tags: The tags by which the value can be removed.
    ///   - answer: The head of the response from which the value was decoded.
    package func store<Value: Sendable>(
        _ value: Value,
        for key: CacheKey,
        lifetime: Duration,
        staleFor: Duration = .zero,
        cost: Int,
        tags: Set<String> = [],
        answer: HTTPResponse? = nil
    ) {
        guard lifetime > .zero else { return drop(key) }
        var facts = CacheFacts(cost: cost, tags: tags, answer: answer)
        facts.turn = nextTurn()
        store(value, for: key, lifetime: lifetime, staleFor: staleFor, facts)
    }

    /// Stores a value in memory only.
    ///
    /// The value may already be stale if it is kept so that the server can revalidate it.
    ///
    /// - Returns: Whether the value is newer than the stored value. If it is older, it is not stored.
    @discardableResult
    func store<Value: Sendable>(
        _ value: Value,
        for key: CacheKey,
        age: Duration = .zero,
        lifetime: Duration,
        staleFor: Duration,
        _ facts: CacheFacts
    ) -> Bool {
        var facts = facts
        facts.cost = max(0, facts.cost)
        guard facts.cost <= limits.cost, limits.count > 0 else { return droppedInstead(key) }
        let now = clock.now
        let created = now.advanced(by: .zero - age)
        let freshUntil = created.advanced(by: max(.zero, lifetime))
        let expires = freshUntil.advanced(by: max(.zero, staleFor))
        guard expires > now else { return droppedInstead(key) }
        let record = CacheRecord(created: created, expires: expires, facts: facts)
        return insert(ValueBox(value, key: key, freshUntil: freshUntil, record: record), now: now)
    }

    /// Removes an older value because its replacement cannot be stored.
    private func droppedInstead(_ key: CacheKey) -> Bool {
        drop(key)
        return true
    }

    /// Removes the value for a cache key from memory and disk.
    ///
    /// Unlike ``withdraw(_:)``, this method also keeps the fetches in flight from storing their responses.
    package func remove(_ key: CacheKey) {
        recordRemoval()
        withdraw(key)
    }

    /// Removes the value for a cache key from memory and disk.
    ///
    /// Fetches in flight still store their responses.
    func withdraw(_ key: CacheKey) {
        drop(key)
        disk?.remove(key)
    }

    /// Returns the next sequence number, for a request or a value that is stored.
    ///
    /// A response with a larger number was requested later.
    func nextTurn() -> Int {
        turns.withLock { turns in
            turns &+= 1
            return turns
        }
    }

    /// Returns whether this response is the newest response for its cache key.
    ///
    /// If so, it is recorded as the newest response.
    ///
    /// The response is the newest if no response with a larger number has arrived, even a response that was not stored.
    func isNewest(_ turn: Int, of key: CacheKey) -> Bool {
        let kept = tables.withLock(of: key.spread) { $0.box(of: key)?.record.facts.turn } ?? 0
        return kept < turn && fetchedTurns.withLock { $0.take(turn, of: key) }
    }

    /// Counts an explicit removal.
    ///
    /// Call it before the removal, so that concurrent stores notice it.
    func recordRemoval() {
        removals.withLock { $0 &+= 1 }
    }
}

// A function that changes the position of an entry holds the lock of the queue and, within it, the lock of the entry's
// table. Readers take only the lock of the table.

extension ResponseCache {
    /// Removes the value for a cache key from memory.
    func drop(_ key: CacheKey) {
        if let box = tables.withLock(of: key.spread, { $0.box(of: key) }) { drop(box) }
    }

    /// Removes an entry from memory, unless another entry has replaced it.
    func drop(_ box: CacheBox) {
        queue.withLock { queue in
            if tables.withLock(of: box.key.spread, { $0.remove(box) }) { queue.remove(box) }
        }
    }

    /// Returns the entry for a cache key and marks it as used.
    ///
    /// An expired entry is removed and not returned.
    func box(of key: CacheKey, now: MonotonicTime) -> CacheBox? {
        let box = tables.withLock(of: key.spread) { table in
            let box = table.box(of: key)
            box?.isMarked = true
            return box
        }
        guard let box, box.record.expires <= now else { return box }
        drop(box)
        return nil
    }

    /// Evicts other entries until there is space for an entry, and stores the entry.
    ///
    /// Returns `false` if the stored entry with the same key is newer.
    func insert(_ box: CacheBox, now: MonotonicTime) -> Bool {
        // The evicted entries are released after the lock, because deinitializing their values may run any code.
        let gone = queue.withLock { queue -> [CacheBox]? in
            var gone: [CacheBox] = []
            if let old = tables.withLock(of: box.key.spread, { $0.box(of: box.key) }) {
                if old.overtakes(box, now: now) { return nil }
                queue.remove(old)
                gone.append(old)
            }
            makeRoom(in: &queue, for: box.record.facts.cost, now: now, &gone)
            tables.withLock(of: box.key.spread) { $0.store(box) }
            queue.append(box)
            return gone
        }
        return withExtendedLifetime(gone) { gone != nil }
    }

    private func makeRoom(in queue: inout EvictionQueue, for cost: Int, now: MonotonicTime, _ gone: inout [CacheBox]) {
        // Readers may mark entries again after the hand has passed, so after one full turn the hand evicts even a
        // marked entry.
        var spared = 0
        while queue.cost > limits.cost - cost || queue.count >= limits.count, let box = queue.next() {
            let goes = tables.withLock(of: box.key.spread) { table in
                if box.isMarked, box.record.expires > now, spared < queue.count {
                    box.isMarked = false
                    return false
                }
                return table.remove(box)
            }
            guard goes else {
                spared += 1
                continue
            }
            queue.remove(box)
            gone.append(box)
        }
    }

    /// Removes the entry for a cache key if it has expired.
    func dropExpired(_ key: CacheKey, now: MonotonicTime) {
        guard let box = tables.withLock(of: key.spread, { $0.box(of: key) }), box.record.expires <= now else { return }
        drop(box)
    }
}
