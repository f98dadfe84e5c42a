/// The newest answers to the requests that are being fetched, by the numbers under which they were asked for.
///
/// What is kept in memory has its number. Where nothing is, since the newest answer takes the older one away or memory has
/// no room for it, a fetch that was begun before would put an older answer in its place.
struct FetchedTurns: Sendable {
    private struct Entry: Sendable {
        var newest = 0
        /// How many fetches are under way.
        var fetches = 0
    }

    private var entries: [CacheKey: Entry] = [:]

    /// Takes note of a fetch that begins.
    mutating func begin(_ key: CacheKey) {
        entries[key, default: Entry()].fetches += 1
    }

    /// Takes note of one that has ended; after the last one nothing is left.
    mutating func end(_ key: CacheKey) {
        guard let fetches = entries[key]?.fetches else { return }
        if fetches > 1 { entries[key]?.fetches -= 1 } else { entries[key] = nil }
    }

    /// Takes an answer for the newest one; `false` when there was one that had its turn later.
    mutating func take(_ turn: Int, of key: CacheKey) -> Bool {
        guard let newest = entries[key]?.newest else { return true }
        guard newest <= turn else { return false }
        entries[key]?.newest = turn
        return true
    }
}
