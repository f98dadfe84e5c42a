/// How the simulated servers treat a queue that grows.
enum ServerModel: String, Sendable, CaseIterable, Encodable {
    /// A queue of up to 3 s; what nobody waits for any more is worked off all the same.
    ///
    /// The worst case: wasted work keeps the overload alive.
    case deep
    /// A queue of up to 1.5 s; what was cancelled, or cannot be done by its deadline, is dropped.
    case aware

    /// The queue beyond which a request is rejected, in seconds of work.
    var longestQueue: Double { self == .deep ? 3 : 1.5 }

    /// Whether work that nobody waits for is dropped.
    var dropsAbandoned: Bool { self == .aware }
}
