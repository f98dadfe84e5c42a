import SwitchyardServices

/// Entries by key, in the order of their last use; finding, storing and dropping cost the same at any size.
///
/// The entries live in one array and are chained by their places in it, so that a use moves a few numbers and allocates
/// nothing.
struct RecencyList: Sendable {
    /// A place in the list.
    struct Entry: Sendable {
        var key: CacheKey
        var box: CacheBox
        var expires: MonotonicTime
        var cost: Int
    }

    /// What a change did to the size.
    struct Change: Sendable {
        var cost = 0
        var count = 0
    }

    /// The neighbours of an entry and the time of its last use: apart from the entries, since a use writes no more.
    private struct Link: Sendable {
        var newer: Int32
        var older: Int32
        var used: Int64
    }

    private static let none: Int32 = -1

    private var index = KeyIndex()
    private var entries: [Entry] = []
    private var links: [Link] = []
    private var free: [Int32] = []
    private var newest = Self.none
    private var oldest = Self.none

    /// How many entries there are.
    var count: Int { index.count }

    /// When the entry that was used longest ago was used; `nil` when there is none.
    var oldestUse: Int64? { oldest == Self.none ? nil : links[Int(oldest)].used }

    /// All entries, in no order.
    var all: [Entry] { index.places.map { entries[Int($0)] } }

    /// Whether the entry of a key is this very one.
    func holds(_ key: CacheKey, _ box: CacheBox) -> Bool {
        let place = place(of: key)
        return place != Self.none && entries[Int(place)].box === box
    }

    /// Returns an entry and counts the use, unless it has expired: then it goes.
    mutating func use(_ key: CacheKey, now: MonotonicTime) -> (box: CacheBox?, change: Change) {
        let place = place(of: key)
        guard place != Self.none else { return (nil, Change()) }
        guard entries[Int(place)].expires > now else { return (nil, remove(key)) }
        let latest = links[Int(newest)].used
        if place != newest {
            unchain(place)
            chain(place)
        }
        links[Int(place)].used = Self.stamp(now, after: latest)
        return (entries[Int(place)].box, Change())
    }

    /// Stores an entry in the place of an older one of that key.
    mutating func store(_ key: CacheKey, _ box: CacheBox, cost: Int, expires: MonotonicTime, now: MonotonicTime)
        -> Change
    {
        var change = remove(key)
        let latest = newest == Self.none ? .min : links[Int(newest)].used
        let place = newPlace(Entry(key: key, box: box, expires: expires, cost: cost))
        index.insert(place, digest: key.spread)
        chain(place)
        links[Int(place)].used = Self.stamp(now, after: latest)
        change.cost += cost
        change.count += 1
        return change
    }

    /// Removes an entry.
    mutating func remove(_ key: CacheKey) -> Change {
        let place = place(of: key)
        guard place != Self.none else { return Change() }
        return remove(at: place)
    }

    /// Removes the entry that was used longest ago.
    mutating func removeOldest() -> Change {
        oldest == Self.none ? Change() : remove(at: oldest)
    }

    private mutating func remove(at place: Int32) -> Change {
        let cost = entries[Int(place)].cost
        index.remove(place, digest: entries[Int(place)].key.spread)
        unchain(place)
        entries[Int(place)].box = .empty
        free.append(place)
        // Once nothing is left, the memory is given back.
        if index.count == 0 { self = RecencyList() }
        return Change(cost: -cost, count: -1)
    }

    @inline(__always) private func place(of key: CacheKey) -> Int32 {
        index.place(of: key.spread) { entries[Int($0)].key == key }
    }

    private mutating func newPlace(_ entry: Entry) -> Int32 {
        if let reused = free.popLast() {
            entries[Int(reused)] = entry
            return reused
        }
        entries.append(entry)
        links.append(Link(newer: Self.none, older: Self.none, used: 0))
        return Int32(entries.count - 1)
    }

    /// The time of a use: the clock's, but later than that of any use before it.
    private static func stamp(_ now: MonotonicTime, after latest: Int64) -> Int64 {
        latest < .max ? max(now.nanoseconds, latest + 1) : latest
    }

    private mutating func chain(_ place: Int32) {
        links[Int(place)].older = newest
        links[Int(place)].newer = Self.none
        if newest != Self.none { links[Int(newest)].newer = place }
        newest = place
        if oldest == Self.none { oldest = place }
    }

    private mutating func unchain(_ place: Int32) {
        let newer = links[Int(place)].newer
        let older = links[Int(place)].older
        if newer == Self.none { newest = older } else { links[Int(newer)].older = older }
        if older == Self.none { oldest = newer } else { links[Int(older)].newer = newer }
    }
}
