/// The rules for switching from one server to another and back.
///
/// ### Choose a policy
/// - ``recommended``: the default; detects a dead, hanging, failing or overloaded server within a few requests and is
///   gentle to the servers of a large fleet of clients.
/// - ``smallFleet``: as ``recommended``, but for one client or a few: it probes a failed server every 0.4 s and returns
///   to it without a random delay.
/// - ``stickyErrorRatio``: switches to the next server in order if at least 10 % of at least 40 finished requests
///   failed without a response, or with status 502, 503 or 504.
/// - ``errorRatio(threshold:minimum:window:)``, ``consecutiveFailures(_:)``: the usual circuit breakers.
/// - ``off``: never switches automatically; `NetworkClient.switchServer(to:)` still works.
///
/// ### Customize a policy
/// A copy of a named policy can be changed, for example ``selection`` or ``warmUp``. The other numbers of a policy can
/// be set with the keys of `switching` in the service file. ``Service`` and the client report a value that is out of
/// range as a ``Problem``.
public struct SwitchPolicy: Sendable, Hashable {
    /// The name of the policy in reports.
    public var name: String
    /// The rules that decide when a server counts as failing.
    package var detection = DetectionRules()
    /// The rules for probing and recovering a failing server.
    package var recovery = RecoveryRules()
    /// The rules for the share of traffic that an overloaded server gets; if `nil`, the server keeps all of its
    /// traffic.
    package var admission: AdmissionRules? = AdmissionRules()
    /// The limits on extra attempts.
    package var budgets = BudgetRules()
    /// The rules for hedges; if `nil`, no hedges are sent.
    ///
    /// A hedge sends a slow idempotent request to a second server as well.
    package var hedging: HedgingRules? = HedgingRules()
    /// The meaning of status 429.
    ///
    /// By default, the status means that the caller has used up a quota, so it does not count against the server.
    public var tooManyRequests = TooManyRequests.quota
    /// The order in which servers are preferred.
    public var selection = SelectionStrategy.priority
    /// The maximum difference between the mean latencies of a server and of the fastest server at which
    /// ``SelectionStrategy/lowestLatency`` still chooses the server; default 15 ms, as in MongoDB's drivers.
    public var latencyWindow = Duration.milliseconds(15)
    /// The overprovisioning factor, as in Envoy; at least 1, default 1.4.
    ///
    /// The servers with equal ``Server/priority`` are a group. The share of the traffic that a group gets is this
    /// factor times the healthy share of the group's weight. The next group gets the rest.
    ///
    /// With 1.4, a group keeps all its traffic while at least 72 % of its weight is healthy, because servers usually
    /// have that much spare capacity.
    public var overprovisioning = 1.4
    /// A closure that limits the servers that an attempt may use, or `nil` for none, the default.
    public var selector: ServerSelector?
    /// Whether a failed request is repeated on another server if that is safe; default `true`.
    public var failsOver = true
    /// Whether a recovered server that is preferred gets its traffic back automatically; default `true`.
    ///
    /// If `false`, the current server is kept until it fails. Then the next server in order replaces it; the last
    /// server is replaced by the first one.
    public var failsBack = true
    /// The minimum time between two switches away from a failing server; default zero.
    ///
    /// During this time, the current server stays preferred. A failed request may still be repeated on another server.
    public var minimumInterval = Duration.zero
    /// The interval of warm-up requests to the first fallback while all servers are healthy, or `nil` for none; default
    /// 5 min.
    ///
    /// A warm-up request is a copy of a read whose response is discarded. It opens a connection, or at least keeps a
    /// TLS session, before it is needed. A new connection costs a server several times the work of a request, and when
    /// a server dies, all of its clients move to its fallbacks at the same time. The first warm-up request comes after
    /// a random time between a 60th and a 12th of the interval, so that short runs of the app send none, and the
    /// clients of a fleet send theirs at different times. The property has an effect only with
    /// ``SelectionStrategy/priority``.
    public var warmUp: Duration? = .seconds(300)
    /// The maximum number of attempts of one request, each on another server; default 3.
    ///
    /// An attempt that has reached no server, because the connection was refused or DNS failed, does not count. With 1,
    /// the request has a single attempt. In addition, a write request that moved to another server because connecting
    /// took too long may return to the server that it left.
    public var maximumAttempts = 3

    /// Creates a policy with the rules of ``recommended``, which the caller then changes.
    package init(name: String) {
        self.name = name
    }

    /// A value that is out of range.
    public struct Problem: Error, Sendable, Hashable, CustomStringConvertible {
        /// The key of the value in a service file, such as `errorRatio`.
        public var key: String
        /// A description of the expected value.
        public var expected: String

        /// The key and the expected value.
        public var description: String { "\(key): expected \(expected)" }
    }

    /// Checks that every value is in its range.
    ///
    /// - Throws: The ``Problem`` of the first value that is out of range.
    package func check() throws(Problem) {
        try detection.check()
        try recovery.check()
        try admission?.check()
        try budgets.check()
        try hedging?.check()
        try require(latencyWindow >= .zero, "latencyWindow", "a duration of at least 0")
        try require(overprovisioning >= 1 && overprovisioning.isFinite, "overprovisioning", "a number of at least 1")
        try require(minimumInterval >= .zero, "minimumInterval", "a duration of at least 0")
        try require((warmUp ?? .seconds(1)) > .zero, "warmUp", "a duration above 0")
        try require(maximumAttempts >= 1, "maximumAttempts", "a number of at least 1")
    }
}

/// Throws a problem if the condition is `false`.
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
    /// A score accumulates failures: after 2 to 3 failures it detects a server that accepts no connections, and after
    /// about a dozen failures a server that fails every request to its endpoints. Partial failures take longer to
    /// detect. The error ratio (at least 40 requests, 10 %) finds low failure rates. The policy suits one client as
    /// well as a million.
    public static let recommended = SwitchPolicy(name: "recommended")

    /// ``recommended`` for one client or a small fleet: probes a failed server every 0.4 s and returns to it without a
    /// random delay.
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

    /// Switches to the next server in order if at least 40 requests finished within 60 s and at least 10 % of them had
    /// a suspicious failure.
    ///
    /// A failure is suspicious if there was no HTTP response, or a response with status 502, 503 or 504. Outcomes are
    /// counted per server when requests finish, and only a suspicious failure can cause a switch. A server that failed
    /// recently is skipped. Each switch starts a new window, and traffic stays on the new server until the next switch.
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
    ///   - minimum: The minimum number of finished requests; default 40.
    ///   - window: The requests that count, limited by number, age or both; by default the last 100 within 60 s.
    /// - Returns: The policy.
    public static func errorRatio(
        threshold: Double = 0.1,
        minimum: Int = 40,
        window: Window = Window()
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

    /// Never switches automatically, and never sends a request to a second server.
    ///
    /// Outcomes are still counted, so that snapshots show them.
    public static let off: SwitchPolicy = {
        var policy = breaker(named: "off")
        policy.failsOver = false
        return policy
    }()

    /// Returns a policy for a plain circuit breaker, to which the caller adds the detection rule.
    ///
    /// The policy has no score, no hedging, no admission control and no warm-up.
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

/// The order in which usable servers receive requests.
///
/// With every strategy, an ejected server (one taken out of use for a time) receives requests only if no other server
/// is left.
public enum SelectionStrategy: String, Sendable, Hashable, CaseIterable {
    /// The first usable server of the list; the other servers are fallbacks.
    ///
    /// Servers of equal ``Server/priority`` share their traffic by ``Server/weight``.
    case priority
    /// One server after the other, starting at a random server.
    ///
    /// If every client started at the first server, that server would get the first requests of all clients that start
    /// at the same time.
    case roundRobin
    /// At random, in proportion to ``Server/weight``.
    case weighted
    /// A server whose mean latency exceeds that of the fastest server by at most ``SwitchPolicy/latencyWindow``.
    ///
    /// Two of these servers are drawn at random, and the one with fewer requests in flight is used. Servers without a
    /// measurement count as fast. One request in 32 goes to any usable server, so that the measurements stay current.
    case lowestLatency
    /// The same server for all requests of a session as long as that server is usable (rendezvous hashing).
    ///
    /// Requests without a session are sent by priority.
    case sticky
}

extension SwitchPolicy {
    /// The meaning of status 429 (Too Many Requests, RFC 6585 section 4) for a service.
    public enum TooManyRequests: String, Sendable, Hashable, CaseIterable {
        /// The caller has used up a quota, and another server would reject the request too; the response is returned to
        /// the app.
        ///
        /// The status is no evidence against the server. The request is not sent to another server, because it would
        /// count against the quota there too. This is the default.
        case quota
        /// The server is overloaded, as with status 503; another server may have capacity.
        case overload
    }
}
