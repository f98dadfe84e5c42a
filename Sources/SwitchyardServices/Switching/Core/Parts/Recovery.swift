/// The health of each server, and the return of failed servers.
///
/// A failed server is ejected (taken out of use for a time). Probes, which are copies of reads, find out whether it
/// works. During its trial it gets a few requests.
struct Recovery: Sendable {
    /// The time, in seconds, after which a probe without a reported outcome expires.
    static let probeBudget = 60.0
    /// The seconds after the last repeatable request during which non-repeatable requests avoid servers on trial.
    private static let trialTimeout = 5.0

    private let rules: CompiledPolicy
    private(set) var servers: [ServerHealth] = []
    private var nextGeneration: UInt32 = 0
    /// The time at which the last repeatable request that every server serves began.
    private var repeatableAt = -1e9
    /// The time at which a warm-up request to the first fallback is due, or a number below 0 until the first one is
    /// planned.
    private var warmUpDue = -1.0

    init(_ rules: CompiledPolicy, count: Int, at time: Double) {
        self.rules = rules
        servers = (0..<count).map { _ in ServerHealth(generation: takeGeneration(), at: time) }
    }

    /// Returns the state of a server.
    func state(of position: Int) -> ServerSnapshot.State { servers[position].state }

    /// Returns the seconds since the outage of a server began.
    func outage(of position: Int, at time: Double) -> Double { time - servers[position].outageSince }

    /// Returns the time of the next probe if a server is ejected, or the start of its trial if it is on trial.
    func dueAt(of position: Int) -> Double { servers[position].dueAt }

    /// Whether any server is ejected.
    var hasEjected: Bool { servers.contains { $0.state == .ejected } }

    /// The healthy servers.
    var healthy: ServerSet {
        var set = ServerSet()
        for position in servers.indices where servers[position].state == .healthy { set.insert(position) }
        return set
    }

    /// Whether any other server is healthy, apart from the servers in `unsuitable`.
    func hasHealthyPeer(of position: Int, without unsuitable: ServerSet = []) -> Bool {
        servers.indices.contains {
            $0 != position && servers[$0].state == .healthy && !unsuitable.contains($0)
        }
    }

    /// Returns the current position of an attempt's server, or `nil` if the server was ejected or recovered since the
    /// attempt began.
    func position(of attempt: Attempt) -> Int? {
        if attempt.server < servers.count, servers[attempt.server].generation == attempt.generation {
            return attempt.server
        }
        return servers.firstIndex { $0.generation == attempt.generation }
    }

    /// Reduces the number of ejections of a server for the time that the server has been healthy.
    mutating func age(_ position: Int, to time: Double) {
        if servers[position].ejections > 0 { servers[position].forgive(to: time, after: rules.forgiveness) }
    }

    private mutating func takeGeneration() -> UInt32 {
        nextGeneration &+= 1
        return nextGeneration
    }

    /// Varies a wait at random, so that many clients do not send their probes at the same moment.
    private func jittered(_ seconds: Double, _ random: inout RandomSource) -> Double {
        let jitter = rules.policy.recovery.jitter
        return seconds * (1 - jitter + 2 * jitter * random.unit())
    }
}

// MARK: - States

extension Recovery {
    /// Ejects a server; a probe is due immediately.
    ///
    /// - Returns: The generation before the ejection, which the attempts on the server have stored.
    mutating func eject(_ position: Int, failsPartly: Bool, at time: Double) -> UInt32 {
        let ended = servers[position].generation
        let most = rules.policy.recovery.maximumBackoff
        servers[position].eject(generation: takeGeneration(), failsPartly: failsPartly, at: time, most: most)
        return ended
    }

    /// Delays the first probe of a server that has just been ejected.
    mutating func delayFirstProbe(_ position: Int, at time: Double, _ random: inout RandomSource) {
        let wait = min(rules.policy.recovery.longestProbe.inSeconds, firstProbe(position))
        servers[position].dueAt = time + jittered(wait, &random)
    }

    /// Makes a server healthy.
    mutating func recover(_ position: Int, at time: Double) {
        servers[position].recover(generation: takeGeneration(), at: time)
    }

    /// Makes a server healthy, because the app or a command gives it a fresh start.
    ///
    /// If the server was healthy already, the outcomes of its attempts in flight still count.
    mutating func restart(_ position: Int, at time: Double) {
        let isHealthy = servers[position].state == .healthy
        let generation = isHealthy ? servers[position].generation : takeGeneration()
        servers[position].recover(generation: generation, at: time)
    }

    /// Makes all servers healthy.
    ///
    /// The outcomes of attempts in flight no longer count.
    mutating func reset(at time: Double) {
        for position in servers.indices {
            servers[position] = ServerHealth(generation: takeGeneration(), at: time)
        }
    }

    /// Moves the health to the new positions of the servers.
    ///
    /// `known` contains the old position of each server, or `nil` for a new server.
    mutating func rearrange(_ known: [Int?], at time: Double) {
        servers = known.map { old in
            old.map { servers[$0] } ?? ServerHealth(generation: takeGeneration(), at: time)
        }
    }

    /// Counts a good response from a server that is ejected or on trial.
    ///
    /// - Returns: Whether the server has recovered.
    mutating func creditResponse(_ position: Int) -> Bool {
        let recovery = rules.policy.recovery
        switch servers[position].state {
        case .healthy:
            return false
        case .ejected:
            // An ejected server gets requests only if no better server is left. Their responses count as probes.
            servers[position].probeSuccesses += 1
            return servers[position].probeSuccesses >= recovery.successes
        case .trial:
            servers[position].trialSuccesses += 1
            let wanted = recovery.trialSuccesses(afterPartialFailure: servers[position].failsPartly)
            return servers[position].trialSuccesses >= wanted
        }
    }

    /// Restarts the count of consecutive good responses of an ejected server, because a request has failed.
    mutating func breakRow(_ position: Int) { servers[position].probeSuccesses = 0 }
}

// MARK: - Trial

extension Recovery {
    /// Records that a repeatable request has begun.
    ///
    /// The servers in `unsuitable` do not serve the request.
    mutating func noteRepeatable(without unsuitable: ServerSet, at time: Double) {
        if unsuitable.isEmpty {
            repeatableAt = time
        } else {
            for position in servers.indices where !unsuitable.contains(position) {
                servers[position].repeatableAt = time
            }
        }
    }

    /// Reserves a slot of a trial: one of the few concurrent requests that a server may receive during its trial.
    ///
    /// - Returns: `false` if no slot is available for this request.
    mutating func takeTrialPlace(_ position: Int, for traits: RequestTraits, at time: Double) -> Bool {
        guard time >= servers[position].dueAt,
            servers[position].trialPlaces < max(1, servers[position].trialSuccesses)
        else { return false }
        // Repeatable requests test a server on trial. Other requests test it only if there are no repeatable requests.
        let repeatableAt = max(repeatableAt, servers[position].repeatableAt)
        guard traits.mayBeRepeated || time - repeatableAt > Self.trialTimeout else { return false }
        servers[position].trialPlaces += 1
        return true
    }

    /// Returns the slot that an attempt has reserved in a server's trial.
    mutating func returnTrialPlace(_ position: Int) {
        guard servers[position].state == .trial, servers[position].trialPlaces > 0 else { return }
        servers[position].trialPlaces -= 1
    }
}

// MARK: - Probes

extension Recovery {
    /// Whether any server's probe was due at the time `due` and no probe of that server is in flight.
    func hasDueProbe(at time: Double, since due: Double) -> Bool {
        servers.indices.contains { isProbeDue($0, at: time, since: due) }
    }

    /// Whether a server's probe was due at the time `due` and no probe of that server is in flight.
    func isProbeDue(_ position: Int, at time: Double, since due: Double) -> Bool {
        servers[position].state == .ejected && due >= servers[position].dueAt && time >= servers[position].probedUntil
    }

    /// Records that a probe is in flight.
    mutating func beginProbe(_ position: Int, at time: Double) {
        servers[position].probedUntil = time + Self.probeBudget
    }

    /// Records that the probe in flight has ended.
    mutating func endProbe(_ position: Int) { servers[position].probedUntil = -1e9 }

    /// Plans what follows a probe of an ejected server: another probe, or the trial.
    ///
    /// - Returns: The seconds until the trial begins, or `nil` if another probe is needed.
    mutating func settleProbe(
        _ position: Int,
        succeeded: Bool,
        at time: Double,
        _ random: inout RandomSource
    ) -> Double? {
        let recovery = rules.policy.recovery
        let outage = outage(of: position, at: time)
        guard succeeded else {
            servers[position].probeSuccesses = 0
            let gap = max(firstProbe(position), recovery.outageShare * outage)
            servers[position].dueAt = time + jittered(min(recovery.longestProbe.inSeconds, gap), &random)
            return nil
        }
        servers[position].probeSuccesses += 1
        guard servers[position].probeSuccesses >= recovery.successes(after: servers[position].ejections) else {
            servers[position].dueAt = time + jittered(recovery.seriesGap.inSeconds, &random)
            return nil
        }
        let share = max(recovery.shortestSpread.inSeconds, recovery.spreadShare * outage)
        let wait = min(recovery.longestSpread.inSeconds, share) * random.unit()
        servers[position].beginTrial(generation: takeGeneration(), at: time + wait)
        return wait
    }

    /// Begins the trial of an ejected server without a probe.
    mutating func beginTrial(_ position: Int, at time: Double) {
        servers[position].beginTrial(generation: takeGeneration(), at: time)
    }

    /// Moves the next probe of each ejected server to a time within the next second.
    mutating func hastenProbes(at time: Double, _ random: inout RandomSource) {
        for position in servers.indices where servers[position].state == .ejected {
            servers[position].dueAt = min(servers[position].dueAt, time + random.unit())
        }
    }

    private func firstProbe(_ position: Int) -> Double {
        let doublings = Double(UInt64(1) &<< UInt64(max(1, servers[position].ejections) - 1))
        return rules.policy.recovery.firstProbe.inSeconds * doublings
    }

    /// Returns whether the warm-up request to the first fallback is due.
    ///
    /// The first call only plans it and returns `false`.
    mutating func isWarmUpDue(every gap: Double, at time: Double, _ random: inout RandomSource) -> Bool {
        guard warmUpDue >= 0 else {
            warmUpDue = time + gap * (1 + 4 * random.unit()) / 60
            return false
        }
        return time >= warmUpDue
    }

    /// Plans the next warm-up request.
    mutating func planWarmUp(after gap: Double, at time: Double, _ random: inout RandomSource) {
        warmUpDue = time + jittered(gap, &random)
    }
}
