/// The state of a server in the core at one moment.
public struct ServerSnapshot: Sendable, Hashable, Identifiable {
    /// The server.
    public var id: Server.ID
    /// Whether it gets requests.
    public var state: HealthState
    /// Whether it is the preferred server now.
    public var isCurrent: Bool
    /// The figures of its window.
    public var statistics: HealthStatistics
    /// The median latency of the last 64 successes; `nil` without one.
    public var p50: Duration?
    /// The 99th percentile of the last 64 successes; `nil` without one.
    public var p99: Duration?
    /// The number of recent ejections.
    public var ejections: Int
    /// The time until the next probe or the start of the trial, or `nil` if neither is planned.
    public var nextProbe: Duration?

    /// Creates a snapshot, for a view that shows it.
    package init(
        id: Server.ID,
        state: HealthState = .healthy,
        isCurrent: Bool = false,
        statistics: HealthStatistics = HealthStatistics(),
        p50: Duration? = nil,
        p99: Duration? = nil,
        ejections: Int = 0,
        nextProbe: Duration? = nil
    ) {
        self.id = id
        self.state = state
        self.isCurrent = isCurrent
        self.statistics = statistics
        self.p50 = p50
        self.p99 = p99
        self.ejections = ejections
        self.nextProbe = nextProbe
    }
}

/// The figures that a decision about a server rests on.
public struct HealthStatistics: Sendable, Hashable {
    /// The finished requests in the window.
    public var requests: Int
    /// The failures among them.
    public var failures: Int
    /// The failures in a row.
    public var consecutiveFailures: Int
    /// The accumulated score of failures.
    public var score: Double
    /// The share of its traffic that the server gets, above 0, at most 1.
    public var share: Double
    /// The last failure; `nil` if there was none.
    public var lastFailure: FailureKind?

    /// Failures divided by finished requests; 0 without requests.
    public var errorRatio: Double { requests == 0 ? 0 : Double(failures) / Double(requests) }

    /// Creates statistics.
    package init(
        requests: Int = 0,
        failures: Int = 0,
        consecutiveFailures: Int = 0,
        score: Double = 0,
        share: Double = 1,
        lastFailure: FailureKind? = nil
    ) {
        self.requests = requests
        self.failures = failures
        self.consecutiveFailures = consecutiveFailures
        self.score = score
        self.share = share
        self.lastFailure = lastFailure
    }
}
