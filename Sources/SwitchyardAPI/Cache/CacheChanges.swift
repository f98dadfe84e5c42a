/// The numbers of removals and writes, which show the cache whether a response became outdated while it was in flight.
struct CacheChanges: Sendable, Hashable {
    /// The number of explicit removals from the cache.
    var removals: Int
    /// The number of write requests, such as PUT or DELETE, that calls have sent to the path.
    var writes: UInt32

    /// Returns the numbers after `own` removals by the call itself, so that these removals do not make the call's own
    /// response outdated.
    func having(_ own: Int) -> CacheChanges {
        CacheChanges(removals: removals + own, writes: writes)
    }
}
