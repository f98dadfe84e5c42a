import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// The fetches in flight, by cache key.
package final class SingleFlightTable: Sendable {
    private struct Name: Hashable {
        let key: CacheKey
        let stamp: CacheStamp
        let type: ObjectIdentifier
        /// The precondition fields and cookies of the request, which affect the response but are not part of the cache
        /// key.
        let fields: [String?]
        /// The options of the call that can make its fetch fail, such as its priority and idle timeout.
        ///
        /// Only calls with equal options share a fetch, so no call fails because of the options of another call.
        let options: String
        /// The numbers of removals and write requests before the fetch.
        ///
        /// If they have changed since the start of a fetch, later calls do not join that fetch.
        let changes: CacheChanges
        /// The user and environment of the call that started the fetch.
        let owner: CallOwner.Key?
    }

    private let flights = Locked<[Name: any AnyObject & Sendable]>([:])

    /// The number of fetches in flight.
    var count: Int { flights.withLock { $0.count } }

    /// The number of calls that wait for a fetch.
    var waiting: Int {
        flights.withLock { Array($0.values) }.reduce(0) { $0 + (($1 as? any JoinableFetch)?.waiting ?? 0) }
    }

    /// Joins the fetch for a cache key, or starts a fetch if no fetch for the key is in flight.
    ///
    /// This is one atomic step.
    ///
    /// - Parameters:
    ///   - key: The cache key.
    ///   - stamp: The data on which the value depends besides the request.
    ///   - type: The type of the value.
    ///   - request: The header fields that select the response. Two requests share a fetch only if their preconditions
    ///     and cookies are equal.
    ///   - options: The options that can make the fetch fail (`RequestIdentity.fetchOptions(of:)`). Two calls share a
    ///     fetch only if these options are equal.
    ///   - owner: The user and environment of the call.
    ///   - changes: The numbers of removals and write requests so far. A fetch that began before the latest of them is
    ///     not joined.
    ///   - needsWaiters: Whether a fetch that this call starts is cancelled when no caller waits for it any more.
    ///   - fetch: Fetches the response.
    /// - Returns: The fetch, and whether this call started it.
    func join<Value: Sendable>(
        _ key: CacheKey,
        _ stamp: CacheStamp,
        as type: Value.Type,
        asking request: HTTPHeaders,
        under options: String = "",
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
            options: options,
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

    /// Removes the fetches of a key from the table.
    ///
    /// Their waiters still get the responses, but later callers start another fetch.
    package func leave(_ key: CacheKey) {
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

/// A fetch of a value of any type.
protocol JoinableFetch {
    /// The number of callers that wait for the fetch.
    var waiting: Int { get }
}

/// For each cache key with a fetch in flight, the sequence number of the newest response that has arrived.
///
/// A response in memory has a sequence number of its own. The newest response may not be in memory, because it was not
/// stored, removed the entry, or did not fit. Without this record, a fetch that started earlier could then store an
/// older response.
struct FetchedTurns: Sendable {
    private struct Entry: Sendable {
        var newest = 0
        /// The number of fetches in flight for the key.
        var fetches = 0
    }

    private var entries: [CacheKey: Entry] = [:]

    /// Records the start of a fetch for a cache key.
    mutating func begin(_ key: CacheKey) {
        entries[key, default: Entry()].fetches += 1
    }

    /// Records the end of a fetch for a cache key.
    ///
    /// After the end of the last fetch for the key, the key is removed.
    mutating func end(_ key: CacheKey) {
        guard let fetches = entries[key]?.fetches else { return }
        if fetches > 1 { entries[key]?.fetches -= 1 } else { entries[key] = nil }
    }

    /// Records a response as the newest response for its key.
    ///
    /// Returns `false` if a response with a larger number has already arrived.
    mutating func take(_ turn: Int, of key: CacheKey) -> Bool {
        guard let newest = entries[key]?.newest else { return true }
        guard newest <= turn else { return false }
        entries[key]?.newest = turn
        return true
    }
}
