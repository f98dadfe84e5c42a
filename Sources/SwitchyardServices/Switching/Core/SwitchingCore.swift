/// The decisions about the servers of one service: which server gets the next attempt, which is ejected, and which has
/// recovered.
///
/// A value that performs no I/O and has no clock or randomness of its own: every call receives the time, and the random
/// numbers follow from the seed, so the same seed and the same calls give the same decisions. Threads that share it use
/// a lock.
///
/// ### The life of a request
///
///     guard let attempt = core.choose(at: now) else { ... }          // a server, always one that was not tried
///     ... core.hedgeDelay(for: attempt, remaining: left) ...         // no answer by then: takeHedge
///     ... core.takeFailover(after: kind, excluding: tried, at: now)  // failed, and safe to send again
///     events = core.settle([SettledAttempt(...)], at: now)           // once, with every attempt of the request
///
/// Besides requests, the client calls `takeProbe()` and ``takeWarmUp(at:)`` whenever it has traffic, ``sheds(_:at:)``
/// before a request, and ``takeSuspicion(of:at:)`` for a slow request that must not be repeated. A clock that jumps
/// back by up to a second is treated as stopped, and one that jumps back further continues from its previous time.
package struct SwitchingCore: Sendable {
    /// A server as the core knows it.
    package struct Member: Sendable, Hashable, Identifiable {
        /// The server's name.
        package var id: Server.ID
        /// Its weight, at least 0.
        package var weight: Double
        let hash: UInt64

        /// Creates a member.
        package init(id: Server.ID, weight: Double = 1) {
            self.id = id
            self.weight = weight
            hash = StableHash.of(id)
        }
    }

    let rules: CompiledPolicy
    var steering: Steering
    var health: [ServerHealth]
    var extras: ExtraAttempts
    var timeline = Timeline()
    var random: RandomSource
    var nextGeneration: UInt32 = 0
    /// The records of the endpoints.
    var endpoints = EndpointTable()
    /// When any server last succeeded.
    var provenAt = -1e9
    /// Whether a server has timed out since the last response of any server.
    var hasDoubts = false
    /// When a request was last begun that may be repeated.
    var repeatableAt = -1e9
    /// When the first fallback is to be asked something; below 0 until that is planned.
    var warmUpDue = -1.0
    var events: [SwitchEvent] = []

    /// How often the preferred server has changed.
    ///
    /// Hand it back to ``switchTo(_:from:at:)`` or ``next(from:at:)``, so that of many triggers only one switches.
    package var version: UInt64 { steering.version }

    /// Creates a core with healthy servers.
    ///
    /// - Parameters:
    ///   - members: The servers in order of preference.
    ///   - policy: The policy.
    ///   - now: The time.
    ///   - seed: The seed of all random numbers.
    ///   - installation: A number of the installation. The servers after the first are shuffled by weight, always in
    ///     the same way for the same number, so that the clients of a fleet do not all move to one server. `nil` keeps
    ///     the order of the list.
    /// - Throws: The defect of the list or the policy.
    package init(
        members: [Member],
        policy: SwitchPolicy = .recommended,
        at now: MonotonicTime,
        seed: UInt64,
        installation: UInt64? = nil
    ) throws(SwitchError) {
        do throws(SwitchPolicy.Problem) { try policy.check() } catch { throw SwitchError.invalidPolicy(error) }
        try SwitchingCore.check(members)
        rules = CompiledPolicy(policy)
        steering = Steering(members, failsBack: policy.failsBack, installation: installation)
        random = RandomSource(seed: seed)
        let start = timeline.read(now)
        health = []
        extras = ExtraAttempts(rules, at: start)
        health = members.map { _ in ServerHealth(generation: takeGeneration(), at: start) }
    }

    /// Returns a copy with its own seed, which shares equal parts; use it to create the cores of a fleet.
    package func reseeded(_ seed: UInt64) -> SwitchingCore {
        var copy = self
        copy.random = RandomSource(seed: seed)
        return copy
    }

    /// The policy.
    package var policy: SwitchPolicy { rules.policy }

    /// The servers, by position.
    package var serverIDs: [Server.ID] { steering.members.map(\.id) }

    /// The preferred server: the one that requests go to first.
    package var current: Server.ID { steering.currentID }

    static func check(_ members: [Member]) throws(SwitchError) {
        guard !members.isEmpty else { throw SwitchError.noServers }
        guard members.count <= ServerSet.capacity else { throw SwitchError.tooManyServers(members.count) }
        var ids: Set<Server.ID> = []
        for member in members {
            guard ids.insert(member.id).inserted else { throw SwitchError.duplicateServer(member.id) }
            guard member.weight.isFinite, member.weight >= 0 else {
                throw SwitchError.invalidWeight(member.id, member.weight)
            }
        }
    }

    mutating func takeGeneration() -> UInt32 {
        nextGeneration &+= 1
        return nextGeneration
    }
}

extension SwitchingCore {
    /// Takes the warm-up of the first fallback, if it is due (``SwitchPolicy/warmUp``).
    ///
    /// Call it whenever the client has traffic and an idempotent request to copy. The warm-up says nothing about the
    /// server; its purpose is the connection that it opens.
    ///
    /// - Parameter now: The time.
    /// - Returns: The attempt, which may be passed to ``settleProbe(_:_:at:)`` like a probe.
    package mutating func takeWarmUp(at now: MonotonicTime) -> Attempt? {
        guard let gap = rules.policy.warmUp, rules.policy.selection == .priority else { return nil }
        let time = read(now)
        guard warmUpDue >= 0 else {
            warmUpDue = time + gap.inSeconds * (1 + 4 * random.unit()) / 60
            return nil
        }
        guard time >= warmUpDue, !timeline.isFrozen, let fallback = firstFallback(at: time) else { return nil }
        warmUpDue = time + jittered(gap.inSeconds)
        return attempt(Choice(position: fallback), .warmUp, at: now)
    }

    /// The server that would be next if the preferred one failed, and that has nothing to recover from.
    private func firstFallback(at time: Double) -> Int? {
        steering.order.lazy.map { Int($0) }.first { position in
            position != Int(steering.current) && health[position].state == .healthy
                && health[position].admission.isClean(at: time, rules)
        }
    }
}

extension SwitchingCore {
    /// How often in a row an endpoint has to be late on one server and quick on another; late at the same time is once.
    private static var latesInRow: UInt8 { 4 }

    /// Whether a response arrived later than a hedge would have been sent.
    func isLate(_ latency: Double, of endpoint: UInt32, on position: Int) -> Bool {
        guard rules.policy.detection.lateness != nil, rules.policy.hedging != nil else { return false }
        return latency > usualWait(for: endpoint, on: position)
    }

    /// Records that a server was overtaken by another one.
    ///
    /// It counts if the server is late clearly more often than the others, or if an endpoint is late on it each time,
    /// and the other server was not slow as well.
    ///
    /// - Parameters:
    ///   - attempt: The attempt that was overtaken.
    ///   - position: Its server.
    ///   - winner: The outcome of the other attempt.
    ///   - weight: The weight.
    ///   - time: The time.
    mutating func recordOvertaken(
        _ attempt: Attempt,
        on position: Int,
        by winner: AttemptOutcome,
        weight: Double = 1,
        at time: Double
    ) {
        guard let rule = rules.policy.detection.lateness else {
            let failure = Failure(kind: .overtaken, endpoint: attempt.endpoint, hasConfirmation: true)
            return recordFailure(position, failure, at: time)
        }
        health[position].age(to: time, rules)
        health[position].lastFailure = .overtaken
        let waited = max(0, attempt.startedAt.seconds(to: timeline.reading))
        guard health[position].state != .ejected, isLate(waited, of: attempt.endpoint, on: position),
            isQuick(winner, of: attempt.endpoint)
        else { return }
        let began = time - waited
        let isAlways = isLateAgain(attempt.endpoint, on: position, began: began, at: time)
        if let step = rules.lateStep(others: lateShareOfOthers(than: position)) {
            health[position].lateness.recordOvertaken(
                by: weight * step,
                timelyStep: rules.timelyStep,
                began: began,
                before: attempt.timely,
                at: time,
                ceiling: 2 * rule.threshold
            )
        }
        guard isAlways || health[position].lateness.value >= rule.threshold, hasHealthyPeer(of: position),
            !sparesOverload(position, .overtaken, at: time),
            !steering.isSwitchTooSoon(from: position, within: rules.minimumInterval, at: time)
        else { return }
        eject(position, health[position].state == .trial ? .trialFailed : .lateness, at: time)
    }

    /// Whether an endpoint has been late on a server several times in a row.
    private mutating func isLateAgain(_ endpoint: UInt32, on position: Int, began: Double, at time: Double) -> Bool {
        guard judgesEndpoints else { return false }
        return endpoints.recordLate(endpoint, on: position, began: began, at: time) >= Self.latesInRow
    }

    /// Whether a response arrived as soon as most do, so that not everything was slow at the time.
    private func isQuick(_ outcome: AttemptOutcome, of endpoint: UInt32) -> Bool {
        guard case .success(let latency) = outcome else { return true }
        let usual = usualWait(for: endpoint, on: nil)
        return latency.inSeconds <= max(0.4 * rules.shortestHedge, usual > rules.shortestHedge ? usual : 0)
    }

    /// Returns the share of late responses of the best other server; 0 while it is unknown.
    private func lateShareOfOthers(than position: Int) -> Double {
        let others = health.indices.filter { $0 != position && health[$0].lateness.share.samples > 0 }
        return Double(others.map { health[$0].lateness.share.value }.min() ?? 0)
    }
}
