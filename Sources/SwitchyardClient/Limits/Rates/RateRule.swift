/// How many requests of one key may begin in what time.
public enum RateRule: Sendable, Hashable {
    /// One, and then none before the time has passed.
    case interval(Duration)
    /// As many as there are tokens: a bucket of `burst` tokens, full at the start, that is refilled with `perSecond`
    /// tokens a second.
    ///
    /// It is counted as the generic cell rate algorithm does (ITU-T I.371), with one number per key.
    case bucket(perSecond: Double, burst: Int)
    /// So many in any span of the length, a sliding one.
    case window(count: Int, per: Duration)
}

/// What becomes of a request that comes too early.
public enum RateExcess: Sendable, Hashable {
    /// It fails at once with ``RequestFailure/Reason/rateLimited(retryAfter:)``, which says how long to stay away.
    case refuse
    /// It waits for its turn, first come first served; one that would have to wait longer than given, or than its
    /// deadline allows, fails at once.
    case wait(atMost: Duration?)

    /// It waits for its turn as long as its deadline allows.
    public static let wait = RateExcess.wait(atMost: nil)
}
