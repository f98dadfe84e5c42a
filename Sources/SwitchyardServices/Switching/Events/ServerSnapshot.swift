/// The state of a server in the core at one moment.
public struct ServerSnapshot: Sendable, Hashable, Identifiable {
    /// The name of the server.
    public var id: Server.ID
    /// The health of the server, which determines whether it gets requests.
    public var state: State
    /// Whether the server is the preferred server now.
    ///
    /// An ejected server stays the preferred one as long as no healthy server can replace it.
    public var isCurrent: Bool
    /// The statistics of the server's recent requests.
    public var statistics: HealthStatistics
    /// The median latency of the last 64 successes, or `nil` if there were none.
    public var p50: Duration?
    /// The 99th percentile of the latency of the last 64 successes, or `nil` if there were none.
    public var p99: Duration?
    /// The number of successes from which ``p50`` and ``p99`` are determined.
    package var latencyCount = 0
    /// The number of recent ejections of the server.
    ///
    /// An ejection takes a failed server out of use for a time.
    public var ejections: Int
    /// The time until the server's next probe or the start of its trial, or `nil` if neither is planned.
    public var nextProbe: Duration?

    /// Creates a snapshot, for example to preview a view that shows it.
    package init(
        id: Server.ID,
        state: State = .healthy,
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

/// The statistics of a server on which decisions about it are based.
public struct HealthStatistics: Sendable, Hashable {
    /// The number of finished requests in the window.
    public var requests: Int
    /// The number of failed requests in the window that count against the server.
    public var failures: Int
    /// The number of other failed requests in the window.
    ///
    /// These requests do not count against the server, for example because no other server responded either, so that
    /// the network may have been the cause.
    public var uncountedFailures: Int
    /// The number of consecutive failures.
    public var consecutiveFailures: Int
    /// The accumulated score of failures.
    ///
    /// When the score reaches the policy's threshold, the server is ejected (taken out of use for a time).
    public var score: Double
    /// The share of its traffic that the server gets, above 0 and at most 1.
    public var share: Double
    /// The kind of the last failure, or `nil` if there was none.
    public var lastFailure: FailureKind?

    /// The number of failures that count, divided by the number of finished requests; 0 if there are no requests.
    public var errorRatio: Double { requests == 0 ? 0 : Double(failures) / Double(requests) }

    package init(
        requests: Int = 0,
        failures: Int = 0,
        uncountedFailures: Int = 0,
        consecutiveFailures: Int = 0,
        score: Double = 0,
        share: Double = 1,
        lastFailure: FailureKind? = nil
    ) {
        self.requests = requests
        self.failures = failures
        self.uncountedFailures = uncountedFailures
        self.consecutiveFailures = consecutiveFailures
        self.score = score
        self.share = share
        self.lastFailure = lastFailure
    }
}
