/// The changes that may make a response outdated while it is in flight.
struct CacheChanges: Sendable, Hashable {
    /// How often entries were removed on purpose.
    var removals: Int
    /// How many writes there were at the path.
    var writes: UInt32

    /// The same after removals by the call itself.
    func having(_ own: Int) -> CacheChanges {
        CacheChanges(removals: removals + own, writes: writes)
    }
}
