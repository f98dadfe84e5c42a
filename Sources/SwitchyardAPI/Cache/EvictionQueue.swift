/// The entries of a cache in the order in which they were stored, with the hand of the SIEVE algorithm (Zhang, Yang,
/// Yue, Vigfusson and Rashmi, NSDI 2024).
///
/// Reading an entry only marks it and does not move it, so that readers do not need the queue. The hand moves from the
/// oldest entry to the newest and then starts again. If the entry at the hand is marked, its mark is removed, otherwise
/// the entry is evicted. The cost of every operation is independent of the number of entries.
struct EvictionQueue: Sendable {
    // `unowned(unsafe)` is sound: a box is in the queue only while its table retains it. A box enters and leaves both
    // the queue and the table under the queue's lock, and the code that removes the box retains it until then.
    private unowned(unsafe) var oldest: CacheBox?
    private unowned(unsafe) var newest: CacheBox?
    private unowned(unsafe) var hand: CacheBox?
    /// The number of entries.
    private(set) var count = 0
    /// The cost of all entries, in bytes.
    private(set) var cost = 0

    /// Adds an entry as the newest entry.
    mutating func append(_ box: CacheBox) {
        box.older = newest
        box.newer = nil
        if let newest { newest.newer = box } else { oldest = box }
        newest = box
        count += 1
        cost += box.record.facts.cost
    }

    /// Removes an entry that is in the queue.
    mutating func remove(_ box: CacheBox) {
        if hand === box { hand = box.newer }
        if let older = box.older { older.newer = box.newer } else { oldest = box.newer }
        if let newer = box.newer { newer.older = box.older } else { newest = box.older }
        count -= 1
        cost -= box.record.facts.cost
    }

    /// Returns the entry at the hand, and moves the hand to the next entry.
    mutating func next() -> CacheBox? {
        let box = hand ?? oldest
        hand = box?.newer
        return box
    }
}
