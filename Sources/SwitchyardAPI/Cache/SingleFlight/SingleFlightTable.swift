import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// The fetches under way, by what they fetch.
final class SingleFlightTable: Sendable {
    private struct Name: Hashable {
        let key: CacheKey
        let stamp: CacheStamp
        let type: ObjectIdentifier
        /// The preconditions of the call itself and the state of its cookies, which decide what it may be answered; no
        /// key has them.
        let fields: [String?]
        /// What had changed before: what is asked for after a change is not answered from before it.
        let changes: CacheChanges
        /// Whose the fetch is.
        let owner: CallOwner.Key?
    }

    private let flights = Locked<[Name: any AnyObject & Sendable]>([:])

    /// How many fetches are under way.
    var count: Int { flights.withLock { $0.count } }

    /// How many calls wait for them.
    var waiting: Int {
        flights.withLock { Array($0.values) }.reduce(0) { $0 + (($1 as? any Boardable)?.waiting ?? 0) }
    }

    /// Joins the fetch of a key, or begins one; in one step, so that there are never two.
    ///
    /// - Parameters:
    ///   - key: What is fetched.
    ///   - stamp: What the value depends on beside the request.
    ///   - type: The type of the value.
    ///   - request: The header fields by which its answer is selected: with preconditions of its own, or other cookies, it
    ///     shares only with its like.
    ///   - owner: Whose call it is.
    ///   - changes: What has changed so far; a fetch that was begun before is left to those who wait for it.
    ///   - needsWaiters: Whether a fetch that is begun is cancelled when nobody waits for it any more.
    ///   - fetch: Fetches the answer.
    /// - Returns: The fetch, and whether it was begun.
    func join<Value: Sendable>(
        _ key: CacheKey,
        _ stamp: CacheStamp,
        as type: Value.Type,
        asking request: HTTPHeaders,
        of owner: CallOwner.Key? = nil,
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
            owner: owner
        )
        let (flight, isNew) = flights.withLock { flights -> (SingleFlight<Value>, Bool) in
            if let flight = flights[name] as? SingleFlight<Value> { return (flight, false) }
            let flight = SingleFlight<Value>(needsWaiters: needsWaiters) { [weak self] in self?.remove($0, name) }
            flights[name] = flight
            return (flight, true)
        }
        if isNew { flight.start(fetch) }
        return (flight, isNew)
    }

    /// Leaves the fetches of a key to those who wait for them already: whoever asks from now on begins another.
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
protocol Boardable {
    /// How many wait for it.
    var waiting: Int { get }
}

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
