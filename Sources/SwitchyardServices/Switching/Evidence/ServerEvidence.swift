/// The evidence from the outcomes of one server's attempts.
struct ServerEvidence: Sendable {
    /// The number of consecutive failures.
    var consecutiveFailures: UInt16 = 0
    /// The number of rounds of suspicion probes since the server last responded.
    var suspicionRounds: UInt8 = 0
    /// Whether suspicion probes are in flight.
    var isSuspected = false
    var score: EvidenceScore
    var lateness: Lateness
    var window = OutcomeWindow()
    var latency = LatencyDigest()
    var lastFailure: FailureKind?
    var overload = LastingOverload()

    init(at now: Double) {
        score = EvidenceScore(at: now)
        lateness = Lateness(at: now)
    }

    /// Records a failure, whatever its cause.
    mutating func noteFailure(_ kind: FailureKind, at time: Double) {
        lastFailure = kind
        if kind.isOverload { overload.recordFailure(at: time) }
    }

    /// Reduces the evidence for the time that has passed.
    mutating func age(to now: Double, halfLife: Double) {
        score.decay(to: now, halfLife: halfLife)
        lateness.decay(to: now, halfLife: halfLife)
    }

    /// Forgets the last outcomes.
    mutating func clearWindow() {
        window.clear()
        consecutiveFailures = 0
    }

    /// Forgets the score, the lateness and the overload.
    mutating func clearScores() {
        score.clear()
        overload = LastingOverload()
        lateness.reset()
        consecutiveFailures = 0
    }

    /// Resets the number of rounds of suspicion probes.
    mutating func clearSuspicion() {
        suspicionRounds = 0
        isSuspected = false
    }
}
