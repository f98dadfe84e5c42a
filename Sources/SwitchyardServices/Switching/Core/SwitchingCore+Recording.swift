extension SwitchingCore {
    /// A failed attempt, which is evaluated after its request has ended.
    struct Failure {
        var kind: FailureKind
        var retryAfter: Duration?
        var endpoint: UInt32
        /// The servers that do not serve the request, by their positions at the start of the attempt.
        var unsuitable: ServerSet
        /// The time at which the attempt began.
        let startedAt: MonotonicTime
        /// Whether another server responded to the same request.
        var hasConfirmation: Bool
        /// Whether other servers failed the same request in the same way.
        var isShared: Bool
        /// Whether another server has better results than this server with the same request or with similar requests.
        var isOutdone: Bool
        /// The amount that the failure adds to the score.
        ///
        /// The amount is `nil` if the other servers' results for the endpoint do not determine it.
        var step: Double?

        /// Creates the failure of an attempt.
        init(
            _ kind: FailureKind,
            _ attempt: Attempt,
            endpoint: UInt32? = nil,
            retryAfter: Duration? = nil,
            hasConfirmation: Bool,
            isShared: Bool = false
        ) {
            self.kind = kind
            self.retryAfter = retryAfter
            self.endpoint = endpoint ?? attempt.endpoint
            self.hasConfirmation = hasConfirmation
            self.isShared = isShared
            unsuitable = attempt.unsuitable
            startedAt = attempt.startedAt
            isOutdone = hasConfirmation
        }

        /// Whether the failure shows that the server has more load than other servers.
        ///
        /// A timeout shows this only if another server responded to the same request. If all servers are slow, any of
        /// them may exceed the timeout by chance.
        var showsOverload: Bool { isOutdone && (hasConfirmation || kind != .timeout) }
    }

    /// Returns the present positions of the servers that do not serve the request of an attempt.
    ///
    /// - Parameters:
    ///   - unsuitable: The positions at the start of the attempt.
    ///   - start: The time at which the attempt began.
    /// - Returns: The positions. If a new list may have moved the servers since the attempt began, the result contains
    ///   all servers. The outcome of the attempt then ejects no server, because no other server is known to serve the
    ///   request.
    func present(_ unsuitable: ServerSet, since start: MonotonicTime) -> ServerSet {
        unsuitable.isEmpty || start > replacedAt ? unsuitable : ServerSet().inverted
    }

    /// Records a success.
    ///
    /// - Parameters:
    ///   - position: The server, or `nil` if it was ejected (taken out of use for a time) or has recovered since the
    ///     attempt began. The success then only proves that the network works and adds to the budgets for failovers and
    ///     hedges.
    ///   - endpoint: The endpoint of the request, or `nil` if the success is no evidence about an endpoint.
    ///   - latency: The time to the response in seconds.
    ///   - unsuitable: The servers that do not serve the request.
    ///   - time: The current time.
    mutating func recordSuccess(
        _ position: Int?,
        of endpoint: UInt32? = nil,
        latency: Double,
        without unsuitable: ServerSet = [],
        at time: Double
    ) {
        extras.earn(at: time)
        provePath(at: time)
        guard let position else { return }
        age(position, to: time)
        let isInUse = recovery.state(of: position) != .ejected
        evidence.recordSuccess(position, of: endpoint, latency: latency, isInUse: isInUse, at: time)
        if isInUse { admission.raise(position, at: time) }
        creditLife(position, without: unsuitable, at: time)
    }

    /// Records a response that proves only that the network works and the server responds.
    mutating func recordResponse(
        _ position: Int?,
        of endpoint: UInt32? = nil,
        without unsuitable: ServerSet = [],
        at time: Double
    ) {
        provePath(at: time)
        guard let position else { return }
        if let endpoint { evidence.recordResponse(position, of: endpoint, at: time) }
        creditLife(position, without: unsuitable, at: time)
    }

    /// Counts a response toward the recovery of a server that is ejected or on trial.
    ///
    /// An ejected server may get a request because no healthy server serves it. The response to such a request is not
    /// counted, because it does not show that the server works for the requests that it failed.
    private mutating func creditLife(_ position: Int, without unsuitable: ServerSet, at time: Double) {
        evidence.noteResponse(of: position, at: time)
        if recovery.state(of: position) == .healthy {
            evidence.clearSuspicion(position)
        } else if recovery.state(of: position) == .ejected, !recovery.healthy.isEmpty,
            recovery.healthy.subtracting(unsuitable).isEmpty
        {
            return
        } else if recovery.creditResponse(position) {
            recover(position, at: time)
        }
    }

    /// Records that the network path works, because a server has responded.
    mutating func provePath(at time: Double) {
        evidence.provePath(at: time)
        admission.clearDoubts()
    }

    /// Reduces the evidence against a server and the number of its ejections, because time has passed.
    private mutating func age(_ position: Int, to time: Double) {
        evidence.age(position, to: time)
        recovery.age(position, to: time)
    }

    /// Records a failure, and ejects the server if the evidence against it is now sufficient.
    mutating func recordFailure(_ position: Int, _ failure: Failure, at time: Double) {
        age(position, to: time)
        evidence.noteFailure(failure.kind, of: position, at: time)
        var failure = failure
        failure.unsuitable = present(failure.unsuitable, since: failure.startedAt)
        if recovery.state(of: position) == .ejected { return recovery.breakRow(position) }
        guard rules.policy.detection.kinds == .all || failure.kind.isSuspicious else {
            return evidence.excuse(position, at: time)
        }
        let (kind, retryAfter) = (failure.kind, failure.retryAfter)
        if !failure.hasConfirmation {
            admission.doubt(position, after: kind, retryAfter: retryAfter, at: time, &random)
        }
        guard let failure = evidence.weigh(failure, of: position, at: time) else {
            return evidence.excuse(position, at: time)
        }
        if failure.showsOverload {
            admission.cut(position, after: kind, retryAfter: retryAfter, at: time, &random)
        }
        let limit = evidence.charge(failure, to: position, at: time)
        if recovery.state(of: position) == .trial, failure.hasConfirmation {
            eject(position, .trialFailed, at: time)
        } else if let limit, mayEject(position, kind, without: failure.unsuitable, at: time) {
            eject(position, limit, at: time)
        }
    }

    /// Records that an attempt was overtaken: its hedge (a second attempt on another server) responded first.
    ///
    /// - Parameters:
    ///   - attempt: The attempt that was overtaken.
    ///   - position: The position of its server.
    ///   - winner: The outcome of the hedge.
    ///   - weight: The factor by which the attempt counts more than usual.
    ///   - time: The current time.
    mutating func recordOvertaken(
        _ attempt: Attempt,
        on position: Int,
        by winner: AttemptOutcome,
        weight: Double = 1,
        at time: Double
    ) {
        guard rules.policy.detection.lateness != nil else {
            return recordFailure(position, Failure(.overtaken, attempt, hasConfirmation: true), at: time)
        }
        age(position, to: time)
        evidence.noteFailure(.overtaken, of: position, at: time)
        let waited = max(0, attempt.startedAt.seconds(to: timeline.reading))
        guard recovery.state(of: position) != .ejected,
            evidence.recordOvertaken(attempt, on: position, by: winner, after: waited, weight: weight, at: time),
            mayEject(position, .overtaken, without: present(attempt.unsuitable, since: attempt.startedAt), at: time)
        else { return }
        eject(position, recovery.state(of: position) == .trial ? .trialFailed : .lateness, at: time)
    }

    /// Whether a server may be ejected.
    ///
    /// The result is `true` if another server is healthy and serves the request, and the last switch is long enough
    /// ago.
    private func mayEject(
        _ position: Int,
        _ kind: FailureKind,
        without unsuitable: ServerSet,
        at time: Double
    ) -> Bool {
        recovery.hasHealthyPeer(of: position, without: unsuitable)
            && !admission.sparesOverload(position, kind, healthy: recovery.healthy.subtracting(unsuitable), at: time)
            && !steering.isSwitchTooSoon(from: position, within: rules.minimumInterval, at: time)
    }

    // MARK: - States

    /// Ejects a server: takes it out of use until probes find that it works.
    mutating func eject(_ position: Int, _ cause: SwitchCause, at time: Double) {
        let statistics = statistics(of: position, at: time)
        let ended = recovery.eject(position, failsPartly: evidence.isMixed(position), at: time)
        recovery.delayFirstProbe(position, at: time, &random)
        evidence.eject(position)
        inFlight?.clear(position)
        emit(.ejected(steering.members[position].id, generation: ended, cause: cause), statistics)
        if steering.forced == position { endSteering(at: time) }
        updateCurrent(cause, at: time)
    }

    /// Makes a server healthy.
    mutating func recover(_ position: Int, at time: Double) {
        let outage = recovery.outage(of: position, at: time)
        let statistics = statistics(of: position, at: time)
        recovery.recover(position, at: time)
        evidence.recover(position)
        inFlight?.clear(position)
        emit(.recovered(steering.members[position].id, outage: .seconds(outage)), statistics)
        updateCurrent(.recovered, at: time)
    }
}
