extension SwitchingCore {
    /// A failed attempt, as it is judged once its request has ended.
    struct Failure {
        var kind: FailureKind
        var retryAfter: Duration?
        /// Whether another server answered the same request.
        var isWitnessed: Bool
        /// Whether other servers failed the same request the same way.
        var isShared = false
    }

    /// Takes note of a success.
    ///
    /// - Parameters:
    ///   - position: The server; `nil` when its generation is over. Then only the path and the budgets profit.
    ///   - latency: The time to the answer, in seconds.
    ///   - time: The time.
    mutating func recordSuccess(_ position: Int?, latency: Double, at time: Double) {
        let budgets = rules.policy.budgets
        failovers.restartRefill(at: time, gap: rules.refill)
        failovers.add(budgets.failoverEarning, capacity: failoverCapacity)
        hedges.add(budgets.hedgeEarning, capacity: hedgeCapacity)
        provePath(at: time)
        guard let position else { return }
        health[position].latency.record(latency)
        health[position].age(to: time, rules)
        count(position, failed: false, at: time)
        if health[position].state != .ejected { creditSuccess(position, at: time) }
        creditLife(position, at: time)
    }

    /// Takes note of an answer that proves the path and that the server lives, and says nothing about its health.
    mutating func recordAnswer(_ position: Int?, at time: Double) {
        provePath(at: time)
        if let position { creditLife(position, at: time) }
    }

    /// Brings a server that is down nearer to its recovery.
    private mutating func creditLife(_ position: Int, at time: Double) {
        let recovery = rules.policy.recovery
        switch health[position].state {
        case .healthy:
            health[position].suspicionRounds = 0
        case .ejected:
            // It was asked because nothing better was left: its own traffic is the probe.
            health[position].probeSuccesses += 1
            if health[position].probeSuccesses >= recovery.successes { recover(position, at: time) }
        case .trial:
            health[position].trialSuccesses += 1
            let wanted = recovery.trialSuccesses(afterPartialFailure: health[position].failsPartly)
            if health[position].trialSuccesses >= wanted { recover(position, at: time) }
        }
    }

    private mutating func creditSuccess(_ position: Int, at time: Double) {
        health[position].consecutiveFailures = 0
        if rules.policy.detection.score != nil { health[position].score.lower(by: rules.successStep) }
        if let admission = rules.policy.admission {
            health[position].admission.raise(at: time, step: admission.step, rules)
        }
    }

    /// Takes note of a failure, and ejects the server if it is one too many.
    mutating func recordFailure(_ position: Int, _ failure: Failure, at time: Double) {
        health[position].age(to: time, rules)
        health[position].lastFailure = failure.kind
        if health[position].state == .ejected {
            health[position].probeSuccesses = 0
            return
        }
        guard rules.policy.detection.kinds == .all || failure.kind.isSuspicious else {
            return count(position, failed: false, at: time)
        }
        cutShare(position, failure, at: time)
        let isProven = isProven(failure, at: time)
        count(position, failed: isProven, at: time)
        if isProven, health[position].consecutiveFailures < .max { health[position].consecutiveFailures += 1 }
        raiseScore(position, failure)
        if let cause = verdict(position, failure, isProven: isProven, at: time) { eject(position, cause, at: time) }
    }

    /// Whether the failure is the server's and not the network's: someone else answered, just now or this very request.
    private func isProven(_ failure: Failure, at time: Double) -> Bool {
        if failure.isWitnessed || rules.policy.detection.countsUnproven { return true }
        if failure.isShared { return false }
        return failure.kind.isAnswer || time - provenAt <= rules.pathProof
    }

    private mutating func count(_ position: Int, failed: Bool, at time: Double) {
        let window = rules.policy.detection.window
        health[position].window.record(failed: failed, at: time, count: window.count, age: rules.window)
    }

    private mutating func raiseScore(_ position: Int, _ failure: Failure) {
        guard rules.policy.detection.score != nil else { return }
        let weight = failure.kind.weight * (failure.isWitnessed ? 1 : rules.unwitnessedFactor)
        let step = rules.failureStep(calm: health[position].score.calm)
        health[position].score.raise(by: weight * step, ceiling: 2 * rules.scoreThreshold)
    }

    private mutating func cutShare(_ position: Int, _ failure: Failure, at time: Double) {
        guard let admission = rules.policy.admission, failure.isWitnessed || !admission.needsWitness else { return }
        let factor = admission.cut(for: failure.kind)
        if factor < 1, failure.isWitnessed || failure.kind.isRejection {
            health[position].admission.cut(
                by: factor,
                wasOvertaken: failure.kind == .overtaken,
                at: time,
                floor: admission.floor,
                rules
            )
        } else if factor < 1 {
            health[position].admission.cutInDoubt(by: factor, at: time, floor: admission.floor)
            hasDoubts = true
        }
        if failure.kind.isRejection, let retryAfter = failure.retryAfter {
            let wait = min(rules.longestRetryAfter, max(0, retryAfter.inSeconds))
            health[position].admission.notBefore = time + wait * (1 + 0.5 * random.unit())
        }
    }

    /// Takes note that the network works: some server answered.
    mutating func provePath(at time: Double) {
        provenAt = time
        guard hasDoubts else { return }
        hasDoubts = false
        for position in health.indices { health[position].admission.clearDoubt() }
    }

    /// Why the server has to be ejected after this failure; `nil` if it may stay, as the last healthy one always may.
    private func verdict(
        _ position: Int,
        _ failure: Failure,
        isProven: Bool,
        at time: Double
    ) -> SwitchCause? {
        let server = health[position]
        if server.state == .trial, failure.isWitnessed { return .trialFailed }
        guard !sparesOverload(position, failure.kind, at: time), !isSwitchTooSoon(position, at: time) else {
            return nil
        }
        guard hasHealthyPeer(of: position) else { return nil }
        let detection = rules.policy.detection
        if let score = detection.score, failure.isWitnessed, server.score.value >= score.threshold { return .score }
        guard isProven else { return nil }
        let window = server.window
        if let ratio = detection.ratio, ratio.isExceeded(failures: window.failures, of: window.requests) {
            return .errorRatio
        }
        if let row = detection.consecutive, server.consecutiveFailures >= row { return .consecutiveFailures }
        return nil
    }

    /// Whether slowness and overload may not eject the server, because no other one could take its traffic.
    private func sparesOverload(_ position: Int, _ kind: FailureKind, at time: Double) -> Bool {
        guard let admission = rules.policy.admission, admission.sparesOverloaded, kind.isOverload else { return false }
        return !health.indices.contains { other in
            other != position && health[other].state == .healthy && health[other].admission.isClean(at: time, rules)
        }
    }

    /// Whether ejecting the server would switch again too soon after the last switch.
    private func isSwitchTooSoon(_ position: Int, at time: Double) -> Bool {
        position == Int(currentPosition) && time - switchedAt < rules.minimumInterval
    }

    func hasHealthyPeer(of position: Int) -> Bool {
        health.indices.contains { $0 != position && health[$0].state == .healthy }
    }
}
