/// The state of one server.
struct ServerHealth: Sendable {
    var state = HealthState.healthy
    /// The number that attempts carry; unique within the core, new at every ejection and recovery.
    var generation: UInt32
    /// How often it was ejected lately; healthy time forgives.
    var ejections: UInt8 = 0
    /// Good probes in a row.
    var probeSuccesses: UInt8 = 0
    /// Successes of the trial.
    var trialSuccesses: UInt16 = 0
    /// Attempts of the trial that are under way.
    var trialPlaces: UInt16 = 0
    /// Failures in a row.
    var consecutiveFailures: UInt16 = 0
    /// Rounds of suspicion probes since the last proof of life.
    var suspicionRounds: UInt8 = 0
    /// Whether suspicion probes are under way.
    var isSuspected = false
    /// Whether the server succeeded with other requests while it failed those for which it was ejected.
    var failsPartly = false

    var score: EvidenceScore
    var lateness: Lateness
    var window = OutcomeWindow()
    var latency = LatencyDigest()
    var admission = AdmissionShare()

    /// When ``ejections`` was last lowered, or the server became healthy.
    var healthySince: Double
    /// When the outage began.
    var outageSince = 0.0
    /// While ejected: when the next probe is due.
    ///
    /// While in trial: when the trial begins.
    var dueAt = 0.0
    /// The time limit of the probe in flight; in the past if there is none.
    var probedUntil = -1e9
    var lastFailure: FailureKind?

    init(generation: UInt32, at now: Double) {
        self.generation = generation
        score = EvidenceScore(at: now)
        lateness = Lateness(at: now)
        healthySince = now
    }

    /// Lets the score and the count of ejections fade.
    mutating func age(to now: Double, _ rules: CompiledPolicy) {
        score.decay(to: now, halfLife: rules.halfLife)
        lateness.decay(to: now, halfLife: rules.halfLife)
        while ejections > 0, state == .healthy, now - healthySince > rules.forgiveness {
            ejections -= 1
            healthySince += rules.forgiveness
        }
    }

    mutating func eject(generation: UInt32, at now: Double, _ rules: CompiledPolicy) {
        ejections = min(ejections + 1, UInt8(rules.policy.recovery.maximumBackoff))
        let isLate = rules.policy.detection.lateness.map { lateness.value >= $0.threshold } ?? false
        failsPartly = (isLate ? lateness.isMixed : score.isMixed) || trialSuccesses > 0
        state = .ejected
        self.generation = generation
        probeSuccesses = 0
        trialSuccesses = 0
        trialPlaces = 0
        consecutiveFailures = 0
        suspicionRounds = 0
        isSuspected = false
        outageSince = now
        probedUntil = -1e9
        window.clear()
    }

    mutating func beginTrial(generation: UInt32, at start: Double, _ rules: CompiledPolicy) {
        // If the server was late before, half of the evidence is enough on trial.
        lateness.reset(to: (rules.policy.detection.lateness?.threshold ?? 0) / 2)
        state = .trial
        self.generation = generation
        trialSuccesses = 0
        trialPlaces = 0
        dueAt = start
    }

    mutating func recover(generation: UInt32, at now: Double) {
        state = .healthy
        self.generation = generation
        healthySince = now
        score.clear()
        lateness.reset()
        trialSuccesses = 0
        trialPlaces = 0
        consecutiveFailures = 0
        suspicionRounds = 0
        isSuspected = false
        dueAt = 0
    }
}

/// Whether a server gets requests.
public enum HealthState: UInt8, Sendable, Hashable, CaseIterable {
    /// It gets them.
    case healthy
    /// It failed; shadow probes find out when it works again.
    case ejected
    /// The server works again and gets a growing number of requests.
    case trial
}
