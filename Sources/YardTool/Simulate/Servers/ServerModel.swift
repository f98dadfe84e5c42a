/// The way in which simulated servers handle a growing queue.
enum ServerModel: String, Sendable, CaseIterable, Encodable {
    /// A queue of up to 3 s. The server also processes requests that their clients no longer wait for.
    ///
    /// This is the worst case, because the wasted work prolongs the overload.
    case deep
    /// A queue of up to 1.5 s in which cancelled requests and requests that cannot meet their deadline are dropped.
    case aware

    /// The length of the queue, in seconds of work, above which a request is rejected.
    var longestQueue: Double { self == .deep ? 3 : 1.5 }

    /// Whether the server drops requests that their clients no longer wait for.
    var dropsAbandoned: Bool { self == .aware }
}
