/// The way in which simulated servers handle a growing queue.
enum ServerModel: String, Sendable, CaseIterable, Encodable {
    /// A queue of up to 3 s in which abandoned requests are still processed.
    ///
    /// This is the worst case, because wasted work prolongs the overload.
    case deep
    /// A queue of up to 1.5 s in which cancelled requests and requests that cannot meet their deadline are dropped.
    case aware

    /// The queue length in seconds of work above which a request is rejected.
    var longestQueue: Double { self == .deep ? 3 : 1.5 }

    /// Whether abandoned work is dropped.
    var dropsAbandoned: Bool { self == .aware }
}
