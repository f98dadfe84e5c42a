/// The entries of a cache in the order in which they were stored, with the hand that points at the next to go: SIEVE
/// (Zhang, Yang, Yue, Vigfusson and Rashmi, NSDI 2024).
///
/// A use does not move an entry, it only leaves a mark on it, so that readers need not come here. The hand goes from the
/// oldest to the newest and then begins anew; what it meets marked stays for another round without its mark, what it
/// meets without goes. Every operation costs the same at any size.
struct EvictionQueue: Sendable {
    // Unowned is sound: a box is in the queue only while it is in its table, which holds it. It enters and leaves both
    // under one stay in the queue's lock, and who takes it out holds it meanwhile.
    private unowned(unsafe) var oldest: CacheBox?
    private unowned(unsafe) var newest: CacheBox?
    private unowned(unsafe) var hand: CacheBox?
    /// How many entries there are.
    private(set) var count = 0
    /// The cost of all entries, in bytes.
    private(set) var cost = 0

    /// Lets an entry in, as the newest.
    mutating func append(_ box: CacheBox) {
        box.older = newest
        box.newer = nil
        if let newest { newest.newer = box } else { oldest = box }
        newest = box
        count += 1
        cost += box.record.facts.cost
    }

    /// Takes an entry out that is in the queue.
    mutating func remove(_ box: CacheBox) {
        if hand === box { hand = box.newer }
        if let older = box.older { older.newer = box.newer } else { oldest = box.newer }
        if let newer = box.newer { newer.older = box.older } else { newest = box.older }
        count -= 1
        cost -= box.record.facts.cost
    }

    /// The entry that the hand points at; the hand moves on.
    mutating func next() -> CacheBox? {
        let box = hand ?? oldest
        hand = box?.newer
        return box
    }
}
