/// The evidence from the outcomes of one server's attempts.
struct ServerEvidence: Sendable {
    /// The number of consecutive failures.
    var consecutiveFailures: UInt16 = 0
    /// The number of pairs of suspicion probes that counted against the server since it last responded.
    ///
    /// A pair is one probe of the server and one probe of another server (``SuspicionProbe``).
    var suspicionRounds: UInt8 = 0
    /// Whether suspicion probes of the server are in flight (``SuspicionProbe``).
    var isSuspected = false
    var score: EvidenceScore
    var lateness: Lateness
    var window = OutcomeWindow()
    var latency = LatencyDigest()
    var lastFailure: FailureKind?
    /// The time of the last failure, or a time long ago if the server has responded since.
    var failedAt = -1e9
    /// The time when a suspicion probe failed that compared this server with a suspected one (``SuspicionProbe/peer``).
    ///
    /// The time is long ago if no such probe failed, or if the server has responded since.
    var peerFailedAt = -1e9
    /// The consecutive attempts that were overtaken: each was late, and its hedge (a second attempt on another server)
    /// responded first.
    var overtaken = OvertakenAttempts()
    var overload = LastingOverload()

    init(at now: Double) {
        score = EvidenceScore(at: now)
        lateness = Lateness(at: now)
    }

    /// Forgets the last outcomes of the server.
    mutating func clearWindow() {
        window.clear()
        consecutiveFailures = 0
    }

    /// Forgets the score, the lateness and the overload.
    mutating func clearScores() {
        score.clear()
        overload = LastingOverload()
        failedAt = -1e9
        peerFailedAt = -1e9
        overtaken = OvertakenAttempts()
        lateness.reset()
        consecutiveFailures = 0
    }

    /// Resets the number of pairs of suspicion probes.
    mutating func clearSuspicion() {
        suspicionRounds = 0
        isSuspected = false
    }
}
