extension SwitchingCore {
    /// A failed attempt, as it is judged after its request has ended.
    struct Failure {
        var kind: FailureKind
        var retryAfter: Duration?
        var endpoint: UInt32 = 0
        /// Whether another server responded to the same request.
        var hasConfirmation: Bool
        /// Whether other servers failed the same request the same way.
        var isShared = false
        /// Whether another server does better than this one, with the same request or with others like it.
        var isOutdone: Bool
        /// The amount that the failure adds to the score, if it follows from the other servers' results for the
        /// endpoint.
        var step: Double?

        init(
            kind: FailureKind,
            retryAfter: Duration? = nil,
            endpoint: UInt32 = 0,
            hasConfirmation: Bool,
            isShared: Bool = false
        ) {
            self.kind = kind
            self.retryAfter = retryAfter
            self.endpoint = endpoint
            self.hasConfirmation = hasConfirmation
            self.isShared = isShared
            isOutdone = hasConfirmation
        }
    }

    /// Records a success.
    ///
    /// - Parameters:
    ///   - position: The server; `nil` if its generation is over, and then only the path and the budgets profit.
    ///   - endpoint: The endpoint of the request; `nil` if the endpoint is not to be judged by it.
    ///   - latency: The time to the response in seconds.
    ///   - time: The time.
    mutating func recordSuccess(_ position: Int?, of endpoint: UInt32? = nil, latency: Double, at time: Double) {
        extras.earn(at: time)
        provePath(at: time)
        guard let position else { return }
        health[position].age(to: time, rules)
        let isLate = isLate(latency, of: endpoint ?? 0, on: position)
        health[position].lateness.note(isLate: isLate, step: rules.timelyStep)
        health[position].latency.record(latency)
        if let endpoint {
            endpoints.recordResponse(endpoint, from: position, latency: latency, isLate: isLate, at: time)
        }
        count(position, failed: false, at: time)
        if health[position].state != .ejected { creditSuccess(position, at: time) }
        creditLife(position, at: time)
    }

    /// Records a response that proves that the path works and the server is alive, and says nothing about its health.
    mutating func recordResponse(_ position: Int?, of endpoint: UInt32? = nil, at time: Double) {
        provePath(at: time)
        guard let position else { return }
        if let endpoint { endpoints.recordResponse(endpoint, from: position, latency: nil, isLate: false, at: time) }
        creditLife(position, at: time)
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

    /// Records a failure, and ejects the server if the failure reaches a limit.
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
        if !failure.hasConfirmation { doubt(position, failure, at: time) }
        guard let failure = judged(failure, of: position, at: time) else {
            return count(position, failed: false, at: time)
        }
        if cutsShare(failure) { cutShare(position, failure, at: time) }
        let isProven = isProven(failure, at: time)
        count(position, failed: isProven, at: time)
        if isProven, health[position].consecutiveFailures < .max { health[position].consecutiveFailures += 1 }
        raiseScore(position, failure)
        if let cause = verdict(position, failure, isProven: isProven, at: time) { eject(position, cause, at: time) }
    }

    /// Returns the failure weighed against the other servers' results for the same endpoint; `nil` if it says nothing
    /// about the server.
    private mutating func judged(_ failure: Failure, of position: Int, at time: Double) -> Failure? {
        guard judgesEndpoints, !failure.kind.isUnreached else { return failure }
        let (endpoint, window) = (failure.endpoint, rules.endpointWindow)
        endpoints.recordFailure(endpoint, on: position, at: time)
        guard !failure.isShared, !endpoints.isFailedAlike(endpoint, by: position, window: window, at: time) else {
            return nil
        }
        let breadth = endpoints.breadth(of: position, window: window, at: time)
        var failure = failure
        failure.isOutdone =
            failure.hasConfirmation || breadth == .several
            || endpoints.isAnswered(endpoint, elsewhereThan: position, at: time)
        let detected = rules.policy.detection.score?.detected ?? 1
        failure.step = endpoints.evidence(endpoint, against: position, detected: detected, window: window, at: time)
        return failure.isOutdone || breadth == .all ? failure : nil
    }

    /// Whether failures are weighed against the other servers' results for the same endpoint.
    var judgesEndpoints: Bool {
        rules.policy.detection.perEndpoint && rules.policy.failsOver && steering.members.count > 1
    }

    /// Whether the failure is the server's and not the network's: another server responded just now or to the same
    /// request.
    private func isProven(_ failure: Failure, at time: Double) -> Bool {
        if failure.hasConfirmation || rules.policy.detection.countsUnproven { return true }
        if failure.isShared { return false }
        return failure.kind.isAnswer || time - provenAt <= rules.pathProof
    }

    private mutating func count(_ position: Int, failed: Bool, at time: Double) {
        let window = rules.policy.detection.window
        health[position].window.record(failed: failed, at: time, count: window.count, age: rules.window)
    }

    private mutating func raiseScore(_ position: Int, _ failure: Failure) {
        guard rules.policy.detection.score != nil else { return }
        let weight = failure.kind.weight * (failure.hasConfirmation ? 1 : rules.unwitnessedFactor)
        let step = failure.step ?? rules.failureStep(calm: health[position].score.calm)
        health[position].score.raise(by: weight * step, ceiling: 2 * rules.scoreThreshold)
    }

    /// Whether a failure shows that the server has more load than others.
    ///
    /// A timeout shows it only if another server responded to the same request, because if all servers are slow it is
    /// chance which one is late.
    private func cutsShare(_ failure: Failure) -> Bool {
        failure.isOutdone && (failure.hasConfirmation || failure.kind != .timeout)
    }

    private mutating func cutShare(_ position: Int, _ failure: Failure, at time: Double) {
        guard let admission = rules.policy.admission else { return }
        let factor = admission.cut(for: failure.kind)
        if factor < 1 {
            health[position].admission.cut(by: factor, at: time, floor: admission.floor, rules)
        }
        if failure.kind.isRejection, let retryAfter = failure.retryAfter {
            let wait = min(rules.longestRetryAfter, max(0, retryAfter.inSeconds))
            health[position].admission.notBefore = time + wait * (1 + 0.5 * random.unit())
        }
    }

    /// Records an unconfirmed failure that may come from an overloaded server.
    private mutating func doubt(_ position: Int, _ failure: Failure, at time: Double) {
        guard let admission = rules.policy.admission else { return }
        if failure.kind == .timeout {
            let factor = admission.needsConfirmation ? 1 : admission.timeoutCut
            health[position].admission.doubt(by: factor, at: time, floor: admission.floor)
            hasDoubts = true
        } else if failure.kind.isRejection, !admission.needsConfirmation {
            cutShare(position, failure, at: time)
        }
    }

    /// Records that the network works because some server responded.
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
        if server.state == .trial, failure.hasConfirmation { return .trialFailed }
        guard !sparesOverload(position, failure.kind, at: time),
            !steering.isSwitchTooSoon(from: position, within: rules.minimumInterval, at: time)
        else {
            return nil
        }
        guard hasHealthyPeer(of: position) else { return nil }
        let detection = rules.policy.detection
        if let score = detection.score, failure.hasConfirmation, server.score.value >= score.threshold { return .score }
        guard isProven else { return nil }
        let window = server.window
        if let ratio = detection.ratio, ratio.isExceeded(failures: window.failures, of: window.requests) {
            return .errorRatio
        }
        if let row = detection.consecutive, server.consecutiveFailures >= row { return .consecutiveFailures }
        return nil
    }

    /// Whether slowness and overload may not eject the server, because no other one could take its traffic.
    func sparesOverload(_ position: Int, _ kind: FailureKind, at time: Double) -> Bool {
        guard let admission = rules.policy.admission, admission.sparesOverloaded, kind.isOverload else { return false }
        return !health.indices.contains { other in
            other != position && health[other].state == .healthy && health[other].admission.isClean(at: time, rules)
        }
    }

    func hasHealthyPeer(of position: Int) -> Bool {
        health.indices.contains { $0 != position && health[$0].state == .healthy }
    }
}
