import SwitchyardServices

/// Entries by key, in the order of their last use; finding, storing and dropping cost the same at any size.
///
/// The entries live in one array and are chained by their places in it, so that a use moves two numbers and allocates
/// nothing.
struct RecencyList: Sendable {
    /// A place in the list.
    struct Entry: Sendable {
        var key: CacheKey
        var box: CacheBox
        var expires: MonotonicTime
        var used: Int64
        var cost: Int
        fileprivate var newer: Int32
        fileprivate var older: Int32
    }

    /// What a change did to the size.
    struct Change: Sendable {
        var cost = 0
        var count = 0
    }

    private static let none: Int32 = -1

    private var places: [CacheKey: Int32] = [:]
    private var entries: [Entry] = []
    private var free: [Int32] = []
    private var newest = Self.none
    private var oldest = Self.none

    /// How many entries there are.
    var count: Int { places.count }

    /// When the entry that was used longest ago was used; `nil` when there is none.
    var oldestUse: Int64? { oldest == Self.none ? nil : entries[Int(oldest)].used }

    /// All entries, in no order.
    var all: some Sequence<Entry> { places.values.lazy.map { [entries] in entries[Int($0)] } }

    /// Whether the entry of a key is this very one.
    func holds(_ key: CacheKey, _ box: CacheBox) -> Bool {
        places[key].map { entries[Int($0)].box === box } ?? false
    }

    /// Returns an entry and counts the use, unless it has expired: then it goes.
    mutating func use(_ key: CacheKey, now: MonotonicTime) -> (box: CacheBox?, change: Change) {
        guard let place = places[key] else { return (nil, Change()) }
        guard entries[Int(place)].expires > now else { return (nil, remove(key)) }
        stamp(place, now)
        if place != newest {
            unchain(place)
            chain(place)
        }
        return (entries[Int(place)].box, Change())
    }

    /// Stores an entry in the place of an older one of that key.
    mutating func store(_ key: CacheKey, _ box: CacheBox, cost: Int, expires: MonotonicTime, now: MonotonicTime)
        -> Change
    {
        var change = remove(key)
        let entry = Entry(
            key: key,
            box: box,
            expires: expires,
            used: 0,
            cost: cost,
            newer: Self.none,
            older: Self.none
        )
        let place: Int32
        if let reused = free.popLast() {
            place = reused
            entries[Int(place)] = entry
        } else {
            place = Int32(entries.count)
            entries.append(entry)
        }
        places[key] = place
        stamp(place, now)
        chain(place)
        change.cost += cost
        change.count += 1
        return change
    }

    /// Removes an entry.
    mutating func remove(_ key: CacheKey) -> Change {
        guard let place = places.removeValue(forKey: key) else { return Change() }
        let cost = entries[Int(place)].cost
        unchain(place)
        entries[Int(place)].box = .empty
        free.append(place)
        if places.isEmpty { compact() }
        return Change(cost: -cost, count: -1)
    }

    /// Removes the entry that was used longest ago.
    mutating func removeOldest() -> Change {
        oldest == Self.none ? Change() : remove(entries[Int(oldest)].key)
    }

    /// Gives the memory back once nothing is left.
    private mutating func compact() {
        self = RecencyList()
    }

    /// Notes the time of a use: the clock's, but later than that of any use before it.
    private mutating func stamp(_ place: Int32, _ now: MonotonicTime) {
        let latest = newest == Self.none ? .min : entries[Int(newest)].used
        entries[Int(place)].used = latest < .max ? max(now.nanoseconds, latest + 1) : latest
    }

    private mutating func chain(_ place: Int32) {
        entries[Int(place)].older = newest
        entries[Int(place)].newer = Self.none
        if newest != Self.none { entries[Int(newest)].newer = place }
        newest = place
        if oldest == Self.none { oldest = place }
    }

    private mutating func unchain(_ place: Int32) {
        let entry = entries[Int(place)]
        let (newer, older) = (entry.newer, entry.older)
        if newer == Self.none { newest = older } else { entries[Int(newer)].older = older }
        if older == Self.none { oldest = newer } else { entries[Int(older)].newer = newer }
    }
}
