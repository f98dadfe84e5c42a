/// When a service switches from one server to another, and how it comes back.
///
/// ### Choose a policy
/// - ``recommended``: the default; detects a dead, hanging, failing or overloaded server within a few requests and is
///   gentle to the servers of a large fleet of clients.
/// - ``single``: the same for one client or a few, which asks a failed server every 0.4 s and goes back without waiting
///   for others.
/// - ``published``: at least 40 finished requests, 10 % of them suspicious failures, then the next server in order.
/// - ``errorRatio(threshold:minimum:window:)``, ``consecutiveFailures(_:)``: the usual circuit breakers.
/// - ``off``: never switches by itself; ``SwitchingCore/switchTo(_:from:at:)`` still does.
///
/// ### Customise a policy
/// Every rule is a value inside the policy. Values out of range are reported when the policy is put to use, by
/// ``Service`` and by ``SwitchingCore``, as a ``Problem``.
public struct SwitchPolicy: Sendable, Hashable {
    /// The policy's name, for reports.
    public var name: String
    /// What makes a server count as failing.
    public var detection = DetectionRules()
    /// How a failing server is probed and taken back.
    public var recovery = RecoveryRules()
    /// How much traffic a server gets that cannot keep up; `nil`: all of it.
    public var admission: AdmissionRules? = AdmissionRules()
    /// How many extra attempts may be made.
    public var budgets = BudgetRules()
    /// When a slow idempotent request is sent to a second server as well; `nil`: never.
    public var hedging: HedgingRules? = HedgingRules()
    /// What status 429 says; default the caller's quota, which says nothing about servers.
    public var tooManyRequests = TooManyRequests.quota
    /// In which order servers are preferred.
    public var selection = SelectionStrategy.priority
    /// Whether a request that failed is repeated on another server, where that is safe; default yes.
    public var failsOver = true
    /// Whether a recovered server that is preferred gets its traffic back by itself; default yes.
    ///
    /// Without it the server in use is kept until it fails; the next one in order, as a ring, takes its place.
    public var failsBack = true
    /// The least time between two switches away from a failing server; default none.
    ///
    /// Until it is over, the server in use stays in use; failover inside the call still works.
    public var minimumInterval = Duration.zero
    /// How often the first fallback is asked something while all is well; `nil`: never; default 5 min.
    ///
    /// So a connection to it, or at least a TLS session, exists before it is needed. A new one costs a server several
    /// times the work of a request, and when a server dies, all clients of a fleet come to its fallbacks at once. The
    /// first time comes after a 60th to a 12th of this, so that short sessions do without and a fleet is spread.
    /// Selection by priority only.
    public var warmUp: Duration? = .seconds(300)
    /// The most attempts of one request, each on another server; default 3.
    public var maximumAttempts = 3

    /// Creates a policy with the rules of ``recommended``, to be changed.
    public init(name: String) {
        self.name = name
    }

    /// A value out of range.
    public struct Problem: Error, Sendable, Hashable, CustomStringConvertible {
        /// The rule's key, such as `errorRatio`.
        public var key: String
        /// What was expected, in words.
        public var expected: String

        /// The key and what was expected.
        public var description: String { "\(key): expected \(expected)" }
    }

    /// Checks that every value is in its range.
    ///
    /// - Throws: The first value that is not.
    public func check() throws(Problem) {
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
