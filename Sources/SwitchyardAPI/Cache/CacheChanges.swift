/// The numbers of removals and write requests up to one moment.
///
/// If they change while a response is in flight, the response may be outdated.
struct CacheChanges: Sendable, Hashable {
    /// The number of explicit removals from the cache.
    var removals: Int
    /// The number of write requests, such as PUT or DELETE, that calls have sent to the path of the response.
    var writes: UInt32

    /// Returns these numbers plus `own`, the number of removals that the call itself made, so that the call's own
    /// response does not count as outdated.
    func having(_ own: Int) -> CacheChanges {
        CacheChanges(removals: removals + own, writes: writes)
    }
}
