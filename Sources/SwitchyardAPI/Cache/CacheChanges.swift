/// The changes that may make a response outdated while it is in flight.
struct CacheChanges: Sendable, Hashable {
    /// The number of explicit removals from the cache.
    var removals: Int
    /// The number of calls, such as PUT or DELETE, that have changed something at the path.
    var writes: UInt32

    /// Returns these changes with the number of removals by the call itself added.
    func having(_ own: Int) -> CacheChanges {
        CacheChanges(removals: removals + own, writes: writes)
    }
}
