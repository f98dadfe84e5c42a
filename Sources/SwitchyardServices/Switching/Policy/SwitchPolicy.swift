/// The rules for switching from one server to another and back.
///
/// ### Choose a policy
/// - ``recommended``: the default; detects a dead, hanging, failing or overloaded server within a few requests and is
///   gentle to the servers of a large fleet of clients.
/// - ``smallFleet``: the same for one client or a few; probes a failed server every 0.4 s and returns to it without a
///   random delay.
/// - ``stickyErrorRatio``: at least 40 finished requests, 10 % of them suspicious failures, then the next server in order.
/// - ``errorRatio(threshold:minimum:window:)``, ``consecutiveFailures(_:)``: the usual circuit breakers.
/// - ``off``: never switches automatically; `NetworkClient.switchServer(to:)` still works.
///
/// ### Customize a policy
/// A copy of a named policy can be changed, for example ``selection`` or ``warmUp``. The other numbers of a policy are
/// keys of `switching` in the service file. ``Service`` and the client report values out of range as a ``Problem``.
public struct SwitchPolicy: Sendable, Hashable {
    /// The policy's name, for reports.
    public var name: String
    /// The rules that decide when a server counts as failing.
    package var detection = DetectionRules()
    /// The rules for probing and recovering a failing server.
    package var recovery = RecoveryRules()
    /// The rules for the share of traffic of an overloaded server; if `nil`, the server keeps all of its traffic.
    package var admission: AdmissionRules? = AdmissionRules()
    /// The limits on extra attempts.
    package var budgets = BudgetRules()
    /// The rules for sending a slow idempotent request to a second server as well; if `nil`, no hedges are sent.
    package var hedging: HedgingRules? = HedgingRules()
    /// The meaning of status 429; the default is the caller's quota, which is no evidence about the server.
    public var tooManyRequests = TooManyRequests.quota
    /// In which order servers are preferred.
    public var selection = SelectionStrategy.priority
    /// Whether a request that failed is repeated on another server, where that is safe; default yes.
    public var failsOver = true
    /// Whether a recovered server that is preferred gets its traffic back automatically; default `true`.
    ///
    /// If `false`, the current server is kept until it fails. Then the next one in order replaces it, and the first
    /// follows the last.
    public var failsBack = true
    /// The minimum time between two switches away from a failing server; default zero.
    ///
    /// Until it is over, the current server stays; failover inside the call still works.
    public var minimumInterval = Duration.zero
    /// The interval of warm-up requests to the first fallback while all servers are healthy; `nil` for none; default 5
    /// min.
    ///
    /// A warm-up keeps a connection, or at least a TLS session, before it is needed. A new connection costs a server
    /// several times the work of a request, and when a server dies, all clients of a fleet come to its fallbacks at
    /// once. The first warm-up comes after a 60th to a 12th of the interval, so that short sessions do without it and
    /// the clients of a fleet are spread. It applies to selection by priority only.
    public var warmUp: Duration? = .seconds(300)
    /// The most attempts of one request, each on another server; default 3.
    public var maximumAttempts = 3

    /// Creates a policy with the rules of ``recommended``, to be changed.
    package init(name: String) {
        self.name = name
    }

    /// A value out of range.
    public struct Problem: Error, Sendable, Hashable, CustomStringConvertible {
        /// The rule's key, such as `errorRatio`.
        public var key: String
        /// A description of the expected value.
        public var expected: String

        /// The key and the expected value.
        public var description: String { "\(key): expected \(expected)" }
    }

    /// Checks that every value is in its range.
    ///
    /// - Throws: The first value that is not.
    package func check() throws(Problem) {
        try detection.check()
        try recovery.check()
        try admission?.check()
        try budgets.check()
        try hedging?.check()
        try require(minimumInterval >= .zero, "minimumInterval", "a duration of at least 0")
        try require((warmUp ?? .seconds(1)) > .zero, "warmUp", "a duration above 0")
        try require(maximumAttempts >= 1, "maximumAttempts", "at least 1")
    }
}

/// Throws the problem unless the condition holds.
func require(
    _ condition: Bool,
    _ key: String,
    _ expected: @autoclosure () -> String
) throws(SwitchPolicy.Problem) {
    guard condition else { throw SwitchPolicy.Problem(key: key, expected: expected()) }
}

extension SwitchPolicy {
    /// Detects failures within a few requests, masks them by failover and hedging, and returns gradually.
    ///
    /// The accumulated score finds a server without connections after 2 to 3 failures, one that fails its endpoints
    /// after about a dozen, and partial faults later. The error ratio (at least 40 requests, 10 %) finds low failure
    /// rates. The policy suits one client as well as a million.
    public static let recommended = SwitchPolicy(name: "recommended")

    /// ``recommended`` for one client or a small fleet: probes every 0.4 s and does not spread the return.
    public static let smallFleet: SwitchPolicy = {
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
    public static let stickyErrorRatio: SwitchPolicy = {
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

/// In which order the usable servers are asked.
///
/// Whatever the strategy, a server that is ejected is asked only when no other is left.
public enum SelectionStrategy: String, Sendable, Hashable, CaseIterable {
    /// The first usable server of the list; the others are fallbacks.
    case priority
    /// One after the other.
    case roundRobin
    /// At random, in proportion to ``Server/weight``.
    case weighted
    /// The server with the lowest mean latency; servers without a measurement first, and one request in 32 anywhere, so
    /// that the measurements stay fresh.
    case lowestLatency
    /// The same server for the same `RequestTraits.sessionKey` as long as it is usable (rendezvous hashing); requests
    /// without a key go by priority.
    case sticky
}

/// The meaning of status 429 (Too Many Requests, RFC 6585 section 4) for a service.
public enum TooManyRequests: String, Sendable, Hashable, CaseIterable {
    /// The caller has used up a quota, which no other server would grant: an answer like any other.
    ///
    /// It is no evidence against the server, and the request does not go to another one: that would use up the quota
    /// there too. The default.
    case quota
    /// The server is overloaded, as with 503; another server may have capacity.
    case overload
}
