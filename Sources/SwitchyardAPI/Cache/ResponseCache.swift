public import Foundation
public import SwitchyardClient
import SwitchyardServices

/// An expiring cache of decoded answers in memory.
///
/// Values of any type share it; each has its own lifetime and its cost in bytes. When the cost or the number of entries
/// passes its limit, the entries go that were used longest ago (least recently used: simple, without tuning, and right
/// for an app that shows the same screens again). An entry that has expired goes when it is met. Times are monotonic,
/// so that setting the clock changes nothing.
///
/// The entries are spread over several locks, so that reads on different threads seldom wait for each other; the limits
/// hold for all of them together. Any thread may call it.
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
    public let limits: Limits
    /// What holds for calls that say nothing of caching themselves.
    public let defaults: CacheDefaults
    /// Where answers are kept beyond memory; `nil` when nowhere.
    public let disk: (any AnswerStore)?
    let wallClock: @Sendable () -> Date
    /// How often entries were removed on purpose: who fetched meanwhile does not store what may be out of date.
    let removals = Locked(0)
    let time: any TimeSource
    let shards: [Locked<RecencyList>]
    let size = Locked(RecencyList.Change())

    /// Creates an empty cache.
    ///
    /// - Parameters:
    ///   - limits: The most that the cache keeps.
    ///   - defaults: What holds for calls that say nothing of caching themselves.
    ///   - disk: Where answers are kept beyond memory; nowhere unless given.
    ///   - locks: How many locks the entries are spread over; rounded up to a power of two. With one, the order of use
    ///     is exact even when the clock stands still.
    ///   - time: The clock.
    ///   - wallClock: The clock by which answers on disk grow old, and HTTP's dates are read.
    public init(
        limits: Limits = Limits(),
        defaults: CacheDefaults = CacheDefaults(),
        disk: (any AnswerStore)? = nil,
        locks: Int = 8,
        time: any TimeSource = SystemTime.shared,
        wallClock: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.limits = limits
        self.defaults = defaults
        self.disk = disk
        self.wallClock = wallClock
        self.time = time
        var count = 1
        while count < min(max(1, locks), 256) { count *= 2 }
        shards = (0..<count).map { _ in Locked(RecencyList()) }
    }

    /// How many entries there are, those that have expired and were not met since included.
    public var count: Int { size.withLock { $0.count } }

    /// The cost of all entries, in bytes.
    public var cost: Int { size.withLock { $0.cost } }

    /// Returns the value of a key, when there is a fresh one of that type.
    public func value<Value: Sendable>(for key: CacheKey, as type: Value.Type = Value.self) -> Value? {
        let now = time.now
        guard let box = box(for: key, now: now)?.holding(type), box.facts.freshUntil > now else { return nil }
        return box.value
    }

    /// Returns the value of a key, when there is a fresh one of that type and stamp.
    func value<Value: Sendable>(for key: CacheKey, as type: Value.Type, _ stamp: CacheStamp) -> Value? {
        let now = time.now
        guard let box = box(for: key, now: now)?.holding(type), box.facts.freshUntil > now, box.facts.stamp == stamp
        else { return nil }
        return box.value
    }

    /// Returns the value of a key with what is known of it, also when its lifetime has passed but not yet the time for
    /// which it was to be kept beyond.
    public func entry<Value: Sendable>(for key: CacheKey, as type: Value.Type = Value.self) -> CachedValue<Value>? {
        let now = time.now
        guard let box = box(for: key, now: now)?.holding(type) else { return nil }
        let facts = box.facts
        return CachedValue(
            value: box.value,
            age: facts.created.duration(to: now),
            isFresh: facts.freshUntil > now,
            tags: facts.tags,
            answer: facts.answer,
            cost: facts.cost,
            http: facts.http,
            stamp: facts.stamp
        )
    }

    /// Stores a value in the place of an older one.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - key: The key.
    ///   - lifetime: How long it is fresh. At zero or below nothing is stored, and an older value goes.
    ///   - staleFor: How long it is kept beyond its lifetime for ``entry(for:as:)``; default is not at all.
    ///   - cost: Its cost in bytes, best the size of the body that it was decoded from. A value that costs more than the
    ///     cache may hold is not stored.
    ///   - tags: Names by which it can be removed.
    ///   - answer: The head of the answer that it came from.
    public func store<Value: Sendable>(
        _ value: Value,
        for key: CacheKey,
        lifetime: Duration,
        staleFor: Duration = .zero,
        cost: Int,
        tags: Set<String> = [],
        answer: CachedAnswer? = nil
    ) {
        guard lifetime > .zero else { return drop(key) }
        store(
            value,
            for: key,
            lifetime: lifetime,
            staleFor: staleFor,
            CacheFacts(cost: cost, tags: tags, answer: answer)
        )
    }

    /// Stores a value, also one that is stale already and only kept to be confirmed; in memory only.
    func store<Value: Sendable>(
        _ value: Value,
        for key: CacheKey,
        age: Duration = .zero,
        lifetime: Duration,
        staleFor: Duration,
        _ facts: CacheFacts
    ) {
        let cost = max(0, facts.cost)
        guard cost <= limits.cost, limits.count > 0 else { return drop(key) }
        let now = time.now
        var facts = facts
        facts.created = now.advanced(by: .zero - age)
        facts.freshUntil = facts.created.advanced(by: max(.zero, lifetime))
        let expires = facts.freshUntil.advanced(by: max(.zero, staleFor))
        guard expires > now else { return drop(key) }
        let box = ValueBox(value, facts: facts)
        apply(shard(of: key).withLock { $0.store(key, box, cost: cost, expires: expires, now: now) })
        shrink()
    }

    /// Removes the value of a key, on disk too.
    public func remove(_ key: CacheKey) {
        removals.withLock { $0 &+= 1 }
        drop(key)
        disk?.remove(key)
    }

    /// Removes the value of a key from memory.
    func drop(_ key: CacheKey) {
        apply(shard(of: key).withLock { $0.remove(key) })
    }

    private func box(for key: CacheKey, now: MonotonicTime) -> CacheBox? {
        let (box, change) = shard(of: key).withLock { $0.use(key, now: now) }
        if change.count != 0 { apply(change) }
        return box
    }

    private func shard(of key: CacheKey) -> Locked<RecencyList> {
        shards[key.spread & (shards.count - 1)]
    }

    func apply(_ change: RecencyList.Change) {
        guard change.count != 0 || change.cost != 0 else { return }
        size.withLock {
            $0.cost += change.cost
            $0.count += change.count
        }
    }

    /// Drops what was used longest ago until the limits hold.
    private func shrink() {
        while size.withLock({ $0.cost > limits.cost || $0.count > limits.count }) {
            let uses = shards.map { shard in shard.withLock { $0.oldestUse ?? .max } }
            guard let oldest = uses.indices.min(by: { uses[$0] < uses[$1] }), uses[oldest] < .max else { return }
            apply(shards[oldest].withLock { $0.removeOldest() })
        }
    }
}
