/// The figures that a decision about a server rests on.
public struct HealthStatistics: Sendable, Hashable {
    /// The finished requests in the window.
    public var requests: Int
    /// The failures among them.
    public var failures: Int
    /// The failures in a row.
    public var consecutiveFailures: Int
    /// The accumulated score (``ScoreRule``).
    public var score: Double
    /// The share of its traffic that the server gets, above 0, at most 1.
    public var share: Double
    /// The last failure; `nil` if there was none.
    public var lastFailure: FailureKind?

    /// Failures divided by finished requests; 0 without requests.
    public var errorRatio: Double { requests == 0 ? 0 : Double(failures) / Double(requests) }

    /// Creates statistics.
    public init(
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
