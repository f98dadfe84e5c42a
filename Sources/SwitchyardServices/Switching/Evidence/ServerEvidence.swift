/// What the outcomes of one server's attempts say about it.
struct ServerEvidence: Sendable {
    /// Failures in a row.
    var consecutiveFailures: UInt16 = 0
    /// Rounds of suspicion probes since the last proof of life.
    var suspicionRounds: UInt8 = 0
    /// Whether suspicion probes are under way.
    var isSuspected = false
    var score: EvidenceScore
    var lateness: Lateness
    var window = OutcomeWindow()
    var latency = LatencyDigest()
    var lastFailure: FailureKind?

    init(at now: Double) {
        score = EvidenceScore(at: now)
        lateness = Lateness(at: now)
    }

    /// Lets the evidence fade.
    mutating func age(to now: Double, halfLife: Double) {
        score.decay(to: now, halfLife: halfLife)
        lateness.decay(to: now, halfLife: halfLife)
    }

    /// Forgets the last outcomes.
    mutating func clearWindow() {
        window.clear()
        consecutiveFailures = 0
    }

    /// Forgets the score and the lateness.
    mutating func clearScores() {
        score.clear()
        lateness.reset()
        consecutiveFailures = 0
    }

    /// Forgets rounds of suspicion probes.
    mutating func clearSuspicion() {
        suspicionRounds = 0
        isSuspected = false
    }
}
