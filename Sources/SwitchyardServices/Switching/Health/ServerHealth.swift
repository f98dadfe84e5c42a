/// The state of one server, and its way back from an outage.
struct ServerHealth: Sendable {
    private(set) var state = HealthState.healthy
    /// The number that attempts carry; unique within the core, new at every ejection and recovery.
    private(set) var generation: UInt32
    /// How often it was ejected lately; healthy time forgives.
    private(set) var ejections: UInt8 = 0
    /// Good probes in a row.
    var probeSuccesses: UInt8 = 0
    /// Successes of the trial.
    var trialSuccesses: UInt16 = 0
    /// Attempts of the trial that are under way.
    var trialPlaces: UInt16 = 0
    /// Whether the server succeeded with other requests while it failed those for which it was ejected.
    ///
    /// Then it needs a longer trial, because a short one often passes before the server is repaired (`TrialTests`).
    private(set) var failsPartly = false
    /// When ``ejections`` was last lowered, or the server became healthy.
    private var healthySince: Double
    /// When the outage began.
    private(set) var outageSince = 0.0
    /// While ejected: when the next probe is due.
    ///
    /// While in trial: when the trial begins.
    var dueAt = 0.0
    /// The time limit of the probe in flight; in the past if there is none.
    var probedUntil = -1e9

    init(generation: UInt32, at now: Double) {
        self.generation = generation
        healthySince = now
    }

    /// Forgives one ejection for every period of healthy time.
    mutating func forgive(to now: Double, after period: Double) {
        while ejections > 0, state == .healthy, now - healthySince > period {
            ejections -= 1
            healthySince += period
        }
    }

    mutating func eject(generation: UInt32, failsPartly: Bool, at now: Double, most ejections: Int) {
        self.ejections = min(self.ejections + 1, UInt8(ejections))
        self.failsPartly = failsPartly || trialSuccesses > 0
        state = .ejected
        self.generation = generation
        probeSuccesses = 0
        trialSuccesses = 0
        trialPlaces = 0
        outageSince = now
        probedUntil = -1e9
        dueAt = now
    }

    mutating func beginTrial(generation: UInt32, at start: Double) {
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
        trialSuccesses = 0
        trialPlaces = 0
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
