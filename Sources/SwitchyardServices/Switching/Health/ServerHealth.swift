/// The health of one server, and its progress from an outage to recovery.
struct ServerHealth: Sendable {
    private(set) var state = ServerSnapshot.State.healthy
    /// A number that is unique within the core and changes when the server is ejected (taken out of use for a time),
    /// begins its trial or recovers.
    ///
    /// Each attempt stores the number, so that outcomes from before a change can be recognized.
    private(set) var generation: UInt32
    /// The number of recent ejections, which decreases while the server is healthy.
    private(set) var ejections: UInt8 = 0
    /// The number of consecutive good probes.
    var probeSuccesses: UInt8 = 0
    /// The number of successful requests in the trial.
    var trialSuccesses: UInt16 = 0
    /// The number of requests in flight in the trial.
    var trialPlaces: UInt16 = 0
    /// Whether the server succeeded with some requests while it failed the requests for which it was ejected.
    ///
    /// Such a server needs a longer trial, because a short one often passes before the server is repaired
    /// (`TrialTests`).
    private(set) var failsPartly = false
    /// The time at which ``ejections`` was last lowered or the server became healthy.
    private var healthySince: Double
    /// The time at which the outage began.
    private(set) var outageSince = 0.0
    /// The time of the next probe if the server is ejected, or the start of the trial if it is on trial.
    var dueAt = 0.0
    /// The time at which the probe in flight expires, or a time in the past if no probe is in flight.
    var probedUntil = -1e9
    /// The time at which the last repeatable request began that this server serves and another server does not.
    var repeatableAt = -1e9

    init(generation: UInt32, at now: Double) {
        self.generation = generation
        healthySince = now
    }

    /// Lowers ``ejections`` by one for every period in which the server was healthy.
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

extension ServerSnapshot {
    /// The health of a server, which determines whether the server gets requests.
    public enum State: UInt8, Sendable, Hashable, CaseIterable {
        /// The server gets requests.
        case healthy
        /// The server has failed and gets no requests from the app.
        ///
        /// Probes (copies of reads whose responses are discarded) find out when it works again.
        case ejected
        /// The server works again and gets a growing number of requests.
        case trial
    }
}
