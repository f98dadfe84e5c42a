extension SwitchPolicy {
    /// Detects within a few requests, masks failures by failover and hedging, comes back gently.
    ///
    /// The accumulated score finds a server without connections after 2 to 3 failures, one that fails its endpoints after
    /// about a dozen, and partial faults later; the error ratio (at least 40 requests, 10 %) finds what smoulders.
    /// Suits one client as well as a million.
    public static let recommended = SwitchPolicy(name: "recommended")

    /// ``recommended`` for one client or a small fleet: probes every 0.4 s and does not spread the return.
    public static let single: SwitchPolicy = {
        var policy = SwitchPolicy(name: "single")
        policy.recovery.firstProbe = .milliseconds(400)
        policy.recovery.outageShare = 0
        policy.recovery.longestProbe = .milliseconds(400)
        policy.recovery.seriesGap = .milliseconds(150)
        policy.recovery.spreadShare = 0
        policy.recovery.trialSuccesses = 4
        return policy
    }()

    /// The published rule, repaired: at least 40 finished requests within 60 s, at least 10 % of them suspicious failures,
    /// then the next server in order.
    ///
    /// Outcomes are counted when they finish, per server; only a suspicious failure can switch; a server that failed
    /// lately is skipped; each switch starts a fresh window. Traffic stays where it is until the next switch.
    public static let published: SwitchPolicy = {
        var policy = breaker(named: "published")
        policy.detection.ratio = RatioRule()
        policy.detection.kinds = .suspicious
        policy.detection.countsUnproven = true
        policy.failsBack = false
        return policy
    }()

    /// Switches when the error ratio of a server reaches a threshold.
    ///
    /// - Parameters:
    ///   - threshold: The ratio, 0...1; default 0.1.
    ///   - minimum: The finished requests that it takes at least; default 40.
    ///   - window: The requests that are looked at, by count, by time or both; default the last 100 within 60 s.
    /// - Returns: The policy.
    public static func errorRatio(
        threshold: Double = 0.1,
        minimum: Int = 40,
        window: WindowRule = WindowRule()
    ) -> SwitchPolicy {
        var policy = breaker(named: "errorRatio")
        policy.detection.ratio = RatioRule(threshold: threshold, minimum: minimum)
        policy.detection.window = window
        return policy
    }

    /// Switches when a server has failed a number of times in a row.
    ///
    /// - Parameter count: The number of failures; usual values are 3 to 7.
    /// - Returns: The policy.
    public static func consecutiveFailures(_ count: Int) -> SwitchPolicy {
        var policy = breaker(named: "consecutiveFailures")
        policy.detection.consecutive = count
        return policy
    }

    /// Never switches by itself, and repeats nothing on another server.
    ///
    /// Outcomes are still counted, so that snapshots show them.
    public static let off: SwitchPolicy = {
        var policy = breaker(named: "off")
        policy.failsOver = false
        return policy
    }()

    /// A plain breaker without a detector: no score, no hedging, no admission control, no warm-up.
    private static func breaker(named name: String) -> SwitchPolicy {
        var policy = SwitchPolicy(name: name)
        policy.detection.score = nil
        policy.detection.ratio = nil
        policy.detection.lateness = nil
        policy.detection.perEndpoint = false
        policy.admission = nil
        policy.hedging = nil
        policy.warmUp = nil
        return policy
    }
}
