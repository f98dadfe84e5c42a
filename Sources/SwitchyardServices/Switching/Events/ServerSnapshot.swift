/// What the core knows about a server at one moment.
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
    /// How often it was ejected lately.
    public var ejections: Int
    /// The time to the next probe, or to the start of the trial; `nil` when none is planned.
    public var nextProbe: Duration?

    /// Creates a snapshot, for a view that shows it.
    public init(
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
