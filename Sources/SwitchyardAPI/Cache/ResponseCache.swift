public import Foundation
import SwitchyardClient
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
/// newest and then starts again. It keeps each entry that was used since its last visit, and evicts the first one that
/// was not. This is SIEVE (Zhang, Yang, Yue, Vigfusson and Rashmi, NSDI 2024). A use only marks an entry, whereas every
/// reader would have to change the order of a least-recently-used (LRU) list; entries that are requested once leave
/// sooner; and there is nothing to tune. Of 100 requests, 43.2 are hits on a Zipf trace against 34.1 with LRU, 38.8
/// against 31.1 if scans disturb it, and none on a loop through more entries than fit, with either (benchmark `cache`).
public final class ResponseCache: Sendable {
    /// The most that a cache keeps.
    public struct Limits: Sendable, Hashable {
        /// Bytes in all; default is 20 MiB.
        public var cost: Int
        /// Entries in all; default is 10,000.
        public var count: Int

        /// Creates limits; negative ones are taken for 0, which keeps nothing.
        public init(cost: Int = 20 * 1024 * 1024, count: Int = 10_000) {
            self.cost = max(0, cost)
            self.count = max(0, count)
        }
    }

    /// The most that the cache keeps.
    package let limits: Limits
    /// The caching of calls that do not configure caching themselves.
    public let defaults: CacheDefaults
    /// The store for responses beyond memory; `nil` if there is none.
    package let disk: (any ResponseStore)?
    let wallClock: @Sendable () -> Date
    /// The number of explicit removals: a fetch that was in flight during one does not store its response, which may be
    /// outdated.
    let removals = Locked(0)
    /// The number of requests for responses and of values stored by the app: an older one does not replace a newer one.
    let turns = Locked(0)
    /// The latest number of the responses that are being fetched.
    let fetchedTurns = Locked(FetchedTurns())
    /// Whether a call used HTTP's rules for the freshness of its response.
    let followsHTTP = Locked(false)
    /// The changed places, for responses on disk.
    let changes = Locked(ChangedPaths())
    /// The services of the clients that it was given to.
    private let services = Locked(Set<String>())
    let clock: TimeReader
    let tables: LockStripes<CacheTable>
    let queue = Locked(EvictionQueue())

    /// Creates an empty cache.
    ///
    /// - Parameters:
    ///   - limits: The limits of the cache; default is 20 MiB and 10,000 entries.
    ///   - defaults: The caching of calls that do not configure caching themselves; default is no caching.
    ///   - locks: The number of locks over which the entries are distributed; rounded up to a power of two, 256 at
    ///     most, default 8.
    ///   - time: The clock; default is the system's.
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

    /// Creates an empty cache with a store for responses beyond memory; `SwitchyardDiskCache` has the public initializer.
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

    /// Records that a client of a service uses the cache, and returns whether the client is the first one.
    func beginsServing(_ service: String) -> Bool {
        services.withLock { $0.insert(service).inserted }
    }

    /// The number of entries, including expired ones that no lookup has found since.
    public var count: Int { queue.withLock { $0.count } }

    /// The cost of all entries, in bytes.
    public var cost: Int { queue.withLock { $0.cost } }

    /// Returns the value of a key, when there is a fresh one of that type.
    package func value<Value: Sendable>(for key: CacheKey, as type: Value.Type = Value.self) -> Value? {
        freshValue(of: key, type) { _, _ in true }
    }

    /// Returns the value of a key if it is fresh, has the type and stamp, and is younger than the limit.
    ///
    /// A value with a status other than 200 is not returned, because the rules of the call have to accept it first.
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

    /// The value of a fresh entry, marked as used; copied out under the lock, so that the box need not be held.
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

    /// Returns the value of a key with its metadata, also after its lifetime while it is kept beyond it.
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
            cost: facts.cost,
            http: facts.http,
            stamp: facts.stamp
        )
    }

    /// Stores a value and replaces an older one.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - key: The key.
    ///   - lifetime: The time for which the value is fresh. If it is zero or negative, nothing is stored and an older
    ///     value is removed.
    ///   - staleFor: The time after its lifetime during which the value is kept for ``entry(for:as:)``; default is
    ///     zero.
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
        answer: CachedResponse? = nil
    ) {
        guard lifetime > .zero else { return drop(key) }
        var facts = CacheFacts(cost: cost, tags: tags, answer: answer)
        facts.turn = nextTurn()
        store(value, for: key, lifetime: lifetime, staleFor: staleFor, facts)
    }

    /// Stores a value in memory only, also one that is already stale and is kept to be confirmed.
    ///
    /// - Returns: Whether the value is the newest response; an older one does not replace what is stored.
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

    /// A value that cannot be stored still removes an older one.
    private func droppedInstead(_ key: CacheKey) -> Bool {
        drop(key)
        return true
    }

    /// Removes the value of a key, on disk too.
    package func remove(_ key: CacheKey) {
        recordRemoval()
        withdraw(key)
    }

    /// Removes the value of a key, on disk too, without affecting fetches in flight.
    func withdraw(_ key: CacheKey) {
        drop(key)
        disk?.remove(key)
    }

    /// Returns the number of the next response.
    func nextTurn() -> Int {
        turns.withLock { turns in
            turns &+= 1
            return turns
        }
    }

    /// Whether no response of a key with a later number has arrived, stored or not; then this response becomes the
    /// newest one.
    func isNewest(_ turn: Int, of key: CacheKey) -> Bool {
        let kept = tables.withLock(of: key.spread) { $0.box(of: key)?.record.facts.turn } ?? 0
        return kept < turn && fetchedTurns.withLock { $0.take(turn, of: key) }
    }

    /// Counts a removal before anything else, so that concurrent stores see it.
    func recordRemoval() {
        removals.withLock { $0 &+= 1 }
    }
}

// Whatever changes an entry's place holds the queue's lock, and within it that of the entry's table; readers take that of
// the table alone.

extension ResponseCache {
    /// Removes the value of a key from memory.
    func drop(_ key: CacheKey) {
        if let box = tables.withLock(of: key.spread, { $0.box(of: key) }) { drop(box) }
    }

    /// Removes an entry from memory, unless another has taken its place.
    func drop(_ box: CacheBox) {
        queue.withLock { queue in
            if tables.withLock(of: box.key.spread, { $0.remove(box) }) { queue.remove(box) }
        }
    }

    /// Returns the entry of a key and marks it as used; an expired entry is removed.
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

    /// Makes room for an entry, and puts it in the place of an older one of its key.
    func insert(_ box: CacheBox, now: MonotonicTime) -> Bool {
        // The evicted entries are released after the lock, because their values may run any code on release.
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
        // Readers may mark entries again after the hand has passed, so after one round the hand evicts the next entry.
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

    /// Removes the entry of a key if it has expired.
    func dropExpired(_ key: CacheKey, now: MonotonicTime) {
        guard let box = tables.withLock(of: key.spread, { $0.box(of: key) }), box.record.expires <= now else { return }
        drop(box)
    }
}
