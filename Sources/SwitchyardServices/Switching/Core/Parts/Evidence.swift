/// The evidence from the outcomes of attempts, about the servers and about the endpoints of their requests.
struct Evidence: Sendable {
    /// The number of late attempts in a row with one endpoint after which the server may be ejected, even if its
    /// lateness over all endpoints is below the threshold.
    ///
    /// An attempt is late if its hedge (a second attempt on another server) responds first and quickly. Late attempts
    /// that overlap in time count once.
    private static let latesInRow: UInt8 = 4
    /// The seconds for which extra attempts prefer other servers to a server whose last attempt failed.
    private static let failureMemory = 300.0

    let rules: CompiledPolicy
    private(set) var servers: [ServerEvidence]
    /// The records of the endpoints.
    private(set) var endpoints = EndpointTable()
    /// The time at which any server last sent a response that does not count as a failure.
    private(set) var provenAt = -1e9

    init(_ rules: CompiledPolicy, count: Int, at time: Double) {
        self.rules = rules
        servers = (0..<count).map { _ in ServerEvidence(at: time) }
    }

    /// Whether failures are compared with the other servers' results for the same endpoint.
    private var judgesEndpoints: Bool {
        rules.policy.detection.perEndpoint && rules.policy.failsOver && servers.count > 1
    }

    /// Reduces the weight of old evidence about a server.
    mutating func age(_ position: Int, to time: Double) {
        servers[position].score.decay(to: time, halfLife: rules.halfLife)
        servers[position].lateness.decay(to: time, halfLife: rules.halfLife)
    }

    /// Records that the network path works, because a server has responded.
    mutating func provePath(at time: Double) { provenAt = time }
}

// MARK: - Responses

extension Evidence {
    /// Records a success with its latency in seconds.
    ///
    /// If `endpoint` is `nil`, the success is no evidence about an endpoint.
    mutating func recordSuccess(
        _ position: Int,
        of endpoint: UInt32?,
        latency: Double,
        isInUse: Bool,
        at time: Double
    ) {
        let isLate = isLate(latency, of: endpoint ?? 0, on: position)
        servers[position].lateness.note(isLate: isLate, step: rules.timelyStep)
        servers[position].latency.record(latency)
        if let endpoint {
            endpoints.recordResponse(endpoint, from: position, latency: latency, isLate: isLate, at: time)
        }
        count(position, .success, at: time)
        guard isInUse else { return }
        servers[position].consecutiveFailures = 0
        if rules.policy.detection.score != nil { servers[position].score.lower(by: rules.successStep) }
    }

    /// Records a response that says nothing about the server's health.
    mutating func recordResponse(_ position: Int, of endpoint: UInt32, at time: Double) {
        endpoints.recordResponse(endpoint, from: position, latency: nil, isLate: false, at: time)
    }

    /// Adds an outcome to the window of a server.
    private mutating func count(_ position: Int, _ outcome: OutcomeWindow.Outcome, at time: Double) {
        let window = rules.policy.detection.window
        servers[position].window.record(outcome, at: time, count: window.count, age: rules.window)
    }
}

// MARK: - Failures

extension Evidence {
    /// Records a failure of a server, whatever its cause.
    mutating func noteFailure(_ kind: FailureKind, of position: Int, at time: Double) {
        servers[position].lastFailure = kind
        servers[position].failedAt = time
        if kind.isOverload { servers[position].overload.recordFailure(at: time) }
    }

    /// Records a response from a server, whatever its status.
    mutating func noteResponse(of position: Int, at time: Double) {
        servers[position].overload.recordResponse(at: time)
        servers[position].failedAt = -1e9
        servers[position].peerFailedAt = -1e9
        servers[position].overtaken = OvertakenAttempts()
    }

    /// Returns the servers whose last attempt failed less than ``failureMemory`` seconds ago, whatever the cause.
    func failedServers(at time: Double) -> ServerSet {
        servers.indices.reduce(into: ServerSet()) { failed, position in
            if time - servers[position].failedAt < Self.failureMemory { failed.insert(position) }
        }
    }

    /// Returns the servers whose last suspicion probe as the other server failed less than ``failureMemory`` seconds
    /// ago.
    func failedPeers(at time: Double) -> ServerSet {
        servers.indices.reduce(into: ServerSet()) { failed, position in
            if time - servers[position].peerFailedAt < Self.failureMemory { failed.insert(position) }
        }
    }

    /// Records a failure that does not count against the server.
    mutating func excuse(_ position: Int, at time: Double) { count(position, .uncountedFailure, at: time) }

    /// Compares a failure with the other servers' results for the same endpoint.
    ///
    /// Returns `nil` if the failure does not count against the server. The article `Switching.md` has the rules
    /// ("Evidence" and "Weight of a failure"), which this function and ``charge(_:to:at:)`` apply.
    ///
    /// Without this comparison, traffic would switch between servers that behave in the same way, as in the random
    /// scenarios 73, 88 and 91 of `yard simulate worlds`.
    mutating func weigh(_ failure: SwitchingCore.Failure, of position: Int, at time: Double) -> SwitchingCore.Failure? {
        guard judgesEndpoints, !failure.kind.isUnreached else { return failure }
        let endpoint = failure.endpoint
        endpoints.recordFailure(endpoint, on: position, at: time)
        let peers = ServerPeers(position, without: failure.unsuitable, within: rules.endpointWindow, at: time)
        guard !failure.isShared, !endpoints.isFailedAlike(endpoint, peers) else { return nil }
        let breadth = endpoints.breadth(peers)
        var failure = failure
        failure.isOutdone = failure.hasConfirmation || breadth == .several || endpoints.isAnswered(endpoint, peers)
        let detected = rules.policy.detection.score?.detected ?? 1
        failure.step = endpoints.evidence(endpoint, peers, detected: detected)
        return failure.isOutdone || breadth == .all ? failure : nil
    }

    /// Counts a failure against a server.
    ///
    /// - Returns: The rule of detection by which the server may be ejected, or `nil` if there is none.
    mutating func charge(_ failure: SwitchingCore.Failure, to position: Int, at time: Double) -> SwitchCause? {
        let isProven = isProven(failure, at: time)
        count(position, isProven ? .failure : .uncountedFailure, at: time)
        if isProven, servers[position].consecutiveFailures < .max { servers[position].consecutiveFailures += 1 }
        raiseScore(position, failure)
        return limit(of: position, after: failure, isProven: isProven)
    }

    /// Whether the failure is the server's and not the network's, because another server has responded recently or to
    /// the same request.
    private func isProven(_ failure: SwitchingCore.Failure, at time: Double) -> Bool {
        if failure.hasConfirmation || rules.policy.detection.countsUnproven { return true }
        if failure.isShared { return false }
        return failure.kind.isAnswer || time - provenAt <= rules.pathProof
    }

    private mutating func raiseScore(_ position: Int, _ failure: SwitchingCore.Failure) {
        guard rules.policy.detection.score != nil else { return }
        let weight = failure.kind.weight * (failure.hasConfirmation ? 1 : rules.unwitnessedFactor)
        let step = failure.step ?? rules.failureStep(calm: servers[position].score.calm)
        servers[position].score.raise(by: weight * step, ceiling: 2 * rules.scoreThreshold)
    }

    private func limit(of position: Int, after failure: SwitchingCore.Failure, isProven: Bool) -> SwitchCause? {
        let detection = rules.policy.detection
        if let score = detection.score, failure.hasConfirmation, servers[position].score.value >= score.threshold {
            return .score
        }
        guard isProven else { return nil }
        let (failures, requests) = (servers[position].window.failures, servers[position].window.requests)
        if let ratio = detection.ratio, ratio.isExceeded(failures: failures, of: requests) { return .errorRatio }
        if let row = detection.consecutive, servers[position].consecutiveFailures >= row { return .consecutiveFailures }
        return nil
    }
}

// MARK: - Lateness

extension Evidence {
    /// Records that an attempt was overtaken: its hedge on another server responded first.
    ///
    /// The attempt counts only if it was late and the hedge was quick.
    ///
    /// - Parameters:
    ///   - attempt: The attempt that was overtaken.
    ///   - position: The server of the attempt.
    ///   - winner: The outcome of the other attempt.
    ///   - waited: The seconds that the attempt has waited.
    ///   - weight: The factor by which the attempt counts more than usual.
    ///   - time: The current time.
    /// - Returns: Whether the server is late enough to be ejected.
    mutating func recordOvertaken(
        _ attempt: Attempt,
        on position: Int,
        by winner: AttemptOutcome,
        after waited: Double,
        weight: Double,
        at time: Double
    ) -> Bool {
        guard let rule = rules.policy.detection.lateness, isLate(waited, of: attempt.endpoint, on: position),
            isQuick(winner, of: attempt.endpoint)
        else { return false }
        let began = time - waited
        servers[position].overtaken.record(began: began, at: time)
        let isAlways = isLateAgain(attempt.endpoint, on: position, began: began, at: time)
        if let step = rules.lateStep(others: lateShareOfOthers(than: position, without: attempt.unsuitable)) {
            servers[position].lateness.recordOvertaken(
                by: weight * step,
                timelyStep: rules.timelyStep,
                began: began,
                before: attempt.timely,
                at: time,
                ceiling: 2 * rule.threshold
            )
        }
        return isAlways || servers[position].lateness.value >= rule.threshold
    }

    /// Records that a server was late with an endpoint, and returns whether it was late ``latesInRow`` times in a row.
    private mutating func isLateAgain(_ endpoint: UInt32, on position: Int, began: Double, at time: Double) -> Bool {
        guard judgesEndpoints else { return false }
        return endpoints.recordLate(endpoint, on: position, began: began, at: time) >= Self.latesInRow
    }

    /// Returns the share of late responses of the best other server that serves the request; 0 while it is unknown.
    private func lateShareOfOthers(than position: Int, without unsuitable: ServerSet) -> Double {
        let others = servers.indices.filter {
            $0 != position && !unsuitable.contains($0) && servers[$0].lateness.share.samples > 0
        }
        return Double(others.map { servers[$0].lateness.share.value }.min() ?? 0)
    }
}

// MARK: - Suspicion

extension Evidence {
    /// Whether suspicion probes of a server may begin (``SuspicionProbe``).
    ///
    /// The result is `true` if no probe pairs are in flight and fewer than `rounds` earlier probe pairs have counted
    /// against the server. A pair is one probe of the server and one probe of another server. One pair may be too
    /// little evidence to eject a server that does not respond to writes (`LateExecutionTests`). The maximum keeps a
    /// slow server that cannot be ejected from being probed again and again (`SuspicionEndTests`).
    func maySuspect(_ position: Int, rounds: Int) -> Bool {
        !servers[position].isSuspected && servers[position].suspicionRounds < rounds
    }

    /// Records that suspicion probes of a server are in flight.
    mutating func beginSuspicion(_ position: Int, with endpoint: UInt32, at time: Double) {
        _ = endpoints.allowsHedge(endpoint, claims: true, at: time)
        servers[position].isSuspected = true
    }

    /// Records that the suspicion probes of a server have ended.
    mutating func endSuspicion(_ position: Int) { servers[position].isSuspected = false }

    /// Counts a pair of suspicion probes whose result counts against a server.
    mutating func countSuspicion(_ position: Int) { servers[position].suspicionRounds &+= 1 }

    /// Resets the number of pairs of suspicion probes after the server has responded.
    mutating func clearSuspicion(_ position: Int) { servers[position].suspicionRounds = 0 }

    /// Records whether suspicion probes were useful, and the result of the other server (`peer`).
    ///
    /// `position` is the other server, or `nil` if it was ejected or recovered since the probe began.
    mutating func recordSuspicion(
        _ endpoint: UInt32,
        suspect: AttemptOutcome,
        peer: AttemptOutcome,
        on position: Int?,
        at time: Double
    ) {
        guard judgesEndpoints else { return }
        endpoints.recordHedge(endpoint, helped: peer.isAnswer && suspect.failureKind != nil, at: time)
        guard let position else { return }
        let twin = EndpointTable.twin(of: endpoint)
        if peer.isAnswer {
            servers[position].peerFailedAt = -1e9
            endpoints.recordResponse(twin, from: position, latency: nil, isLate: false, at: time)
        } else if peer.failureKind != nil {
            servers[position].peerFailedAt = time
            endpoints.recordFailure(endpoint, on: position, at: time)
            endpoints.recordFailure(twin, on: position, at: time)
        }
    }
}

// MARK: - Extra attempts

extension Evidence {
    /// Returns whether the evidence about an endpoint permits a failed request to be sent to another server.
    ///
    /// The result is `false` while every server fails the endpoint. If `isPaidFor` is `true`, the result is always
    /// `true`, because a request that the failover budget has been charged for may try the remaining servers. If
    /// `claims` is `true` and this failover is permitted after useless failovers, other requests of the endpoint have
    /// to wait for its result.
    mutating func allowsFailover(
        after kind: FailureKind?,
        of endpoint: UInt32,
        isPaidFor: Bool,
        claims: Bool,
        at time: Double
    ) -> Bool {
        guard judgesEndpoints, !isPaidFor, let kind, !kind.isWithoutWork else { return true }
        return endpoints.allowsFailover(endpoint, after: kind, claims: claims, at: time)
    }

    /// Returns whether a slow request of an endpoint may be sent to a second server.
    ///
    /// After several hedges of the endpoint did not help, the result is `false` for a time. If `claims` is `true` and
    /// the result is `true` after that time, other requests of the endpoint have to wait for the result of this hedge.
    mutating func allowsHedge(_ endpoint: UInt32, claims: Bool, at time: Double) -> Bool {
        endpoints.allowsHedge(endpoint, claims: claims, at: time)
    }

    /// Whether the endpoint fails or is slow on every server, so that a copy of its requests says nothing about a
    /// server.
    func isOdd(_ endpoint: UInt32) -> Bool { endpoints.isOdd(endpoint) }

    /// Records whether the extra attempts (failovers and hedges) of a request were useful.
    mutating func recordUse(of request: [SettledAttempt], winner: Attempt?, at time: Double) {
        guard judgesEndpoints, let first = request.first else { return }
        let endpoint = first.attempt.endpoint
        let haveAllFailed = request.allSatisfy { $0.outcome.failureKind != nil }
        let failovers = request.count { $0.attempt.role == .failover }
        if winner?.role == .failover {
            endpoints.recordHelp(of: endpoint)
        } else if failovers > 0, haveAllFailed, let kind = first.outcome.failureKind {
            endpoints.recordUseless(failovers, of: endpoint, after: kind, at: time)
        }
        if request.contains(where: { $0.attempt.role == .hedge }), winner != nil || haveAllFailed {
            endpoints.recordHedge(endpoint, helped: winner?.role == .hedge, at: time)
        }
    }
}

// MARK: - States

extension Evidence {
    /// Whether a server succeeded with some requests between the failures or late responses that count against it.
    func isMixed(_ position: Int) -> Bool {
        let isLate = rules.policy.detection.lateness.map { servers[position].lateness.value >= $0.threshold } ?? false
        return isLate ? servers[position].lateness.isMixed : servers[position].score.isMixed
    }

    /// Forgets the last outcomes of a server that has been ejected; its score stays until it recovers.
    mutating func eject(_ position: Int) {
        servers[position].clearWindow()
        servers[position].clearSuspicion()
    }

    /// Begins the trial of a server.
    ///
    /// The lateness starts at half of its threshold, so fewer late responses eject the server.
    mutating func beginTrial(_ position: Int) {
        servers[position].lateness.reset(to: (rules.policy.detection.lateness?.threshold ?? 0) / 2)
    }

    /// Forgets the evidence against a server that has recovered.
    mutating func recover(_ position: Int) {
        servers[position].clearScores()
        servers[position].clearSuspicion()
    }

    mutating func clearWindow(_ position: Int) { servers[position].clearWindow() }

    /// Forgets the evidence against servers and endpoints, because the network path has changed.
    mutating func forgetFailures() {
        endpoints.forgetFailures()
        for position in servers.indices { servers[position].clearScores() }
    }

    /// Forgets everything about servers and endpoints.
    mutating func reset(at time: Double) {
        for position in servers.indices { servers[position] = ServerEvidence(at: time) }
        endpoints = EndpointTable()
    }

    /// Moves the evidence to the new positions of the servers.
    ///
    /// `known` contains the old position of each server, or `nil` for a new server.
    mutating func rearrange(_ known: [Int?], at time: Double) {
        servers = known.map { old in old.map { servers[$0] } ?? ServerEvidence(at: time) }
        endpoints.forgetFailures()  // Their servers may have other positions now.
    }

    /// Returns the statistics of a server for an event or a snapshot.
    func statistics(of position: Int, share: Double, at time: Double) -> HealthStatistics {
        let counts = servers[position].window.counts(at: time, age: rules.window)
        return HealthStatistics(
            requests: counts.requests,
            failures: counts.failures,
            uncountedFailures: counts.uncounted,
            consecutiveFailures: Int(servers[position].consecutiveFailures),
            score: servers[position].score.value,
            share: share,
            lastFailure: servers[position].lastFailure
        )
    }
}
