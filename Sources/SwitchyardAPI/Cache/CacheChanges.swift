/// The numbers of removals and writes, from which the cache learns that a response became outdated while it was in
/// flight.
struct CacheChanges: Sendable, Hashable {
    /// The number of explicit removals from the cache.
    var removals: Int
    /// The number of write requests, such as PUT or DELETE, that calls have sent to the path.
    var writes: UInt32

    /// Returns the numbers with `own` removals by the call itself added, so that the call's own removals do not count.
    func having(_ own: Int) -> CacheChanges {
        CacheChanges(removals: removals + own, writes: writes)
    }
}
