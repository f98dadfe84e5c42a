import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// The fetches in flight, by cache key.
final class SingleFlightTable: Sendable {
    private struct Name: Hashable {
        let key: CacheKey
        let stamp: CacheStamp
        let type: ObjectIdentifier
        /// The preconditions of the call itself and the state of its cookies, which affect the response but are not in
        /// the key.
        let fields: [String?]
        /// The changes before the fetch: a call that is made after a change does not join a fetch from before it.
        let changes: CacheChanges
        /// The owner of the fetch.
        let owner: CallOwner.Key?
    }

    private let flights = Locked<[Name: any AnyObject & Sendable]>([:])

    /// How many fetches are under way.
    var count: Int { flights.withLock { $0.count } }

    /// How many calls wait for them.
    var waiting: Int {
        flights.withLock { Array($0.values) }.reduce(0) { $0 + (($1 as? any JoinableFetch)?.waiting ?? 0) }
    }

    /// Joins the fetch of a key or starts one, in one atomic step.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - stamp: The data on which the value depends besides the request.
    ///   - type: The type of the value.
    ///   - request: The header fields that select the response. A request with its own preconditions or other cookies
    ///     shares only with equal requests.
    ///   - owner: The owner of the call.
    ///   - changes: The changes so far; a fetch that started before them is not joined.
    ///   - needsWaiters: Whether a started fetch is cancelled when no caller waits for it any more.
    ///   - fetch: Fetches the response.
    /// - Returns: The fetch, and whether it was started.
    func join<Value: Sendable>(
        _ key: CacheKey,
        _ stamp: CacheStamp,
        as type: Value.Type,
        asking request: HTTPHeaders,
        of owner: CallOwner? = nil,
        after changes: CacheChanges,
        needsWaiters: Bool,
        fetch: @escaping @Sendable () async -> Result<APIResponse<Value>, APIError>
    ) -> (flight: SingleFlight<Value>, isNew: Bool) {
        let name = Name(
            key: key,
            stamp: stamp,
            type: ObjectIdentifier(type),
            fields: ["If-None-Match", "If-Modified-Since", "Cookie"].map { request[$0] },
            changes: changes,
            owner: owner?.key
        )
        let (flight, isNew) = flights.withLock { flights -> (SingleFlight<Value>, Bool) in
            if let flight = flights[name] as? SingleFlight<Value> { return (flight, false) }
            let flight = SingleFlight<Value>(of: owner, needsWaiters: needsWaiters) { [weak self] in
                self?.remove($0, name)
            }
            flights[name] = flight
            return (flight, true)
        }
        if isNew { flight.start(fetch) }
        return (flight, isNew)
    }

    /// Detaches the fetches of a key: their waiters keep them, and later callers start another fetch.
    func leave(_ key: CacheKey) {
        flights.withLock { flights in
            for name in flights.keys where name.key == key { flights[name] = nil }
        }
    }

    private func remove(_ flight: AnyObject, _ name: Name) {
        flights.withLock { flights in
            if flights[name] === flight { flights[name] = nil }
        }
    }
}

/// A fetch of any type.
protocol JoinableFetch {
    /// How many wait for it.
    var waiting: Int { get }
}

/// The numbers of the newest responses to the requests that are in flight.
///
/// A response in memory has its number. If there is none in memory, because the newest response removed it or there is
/// no room, a fetch that started earlier could otherwise store an older response.
struct FetchedTurns: Sendable {
    private struct Entry: Sendable {
        var newest = 0
        /// How many fetches are under way.
        var fetches = 0
    }

    private var entries: [CacheKey: Entry] = [:]

    /// Records the start of a fetch.
    mutating func begin(_ key: CacheKey) {
        entries[key, default: Entry()].fetches += 1
    }

    /// Records the end of a fetch; after the last one, nothing is kept.
    mutating func end(_ key: CacheKey) {
        guard let fetches = entries[key]?.fetches else { return }
        if fetches > 1 { entries[key]?.fetches -= 1 } else { entries[key] = nil }
    }

    /// Records a response as the newest one; returns `false` if one with a later number has arrived.
    mutating func take(_ turn: Int, of key: CacheKey) -> Bool {
        guard let newest = entries[key]?.newest else { return true }
        guard newest <= turn else { return false }
        entries[key]?.newest = turn
        return true
    }
}
