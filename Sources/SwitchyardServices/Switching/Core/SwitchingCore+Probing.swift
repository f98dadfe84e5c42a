extension SwitchingCore {
    /// Takes the shadow probe that is due, if any.
    ///
    /// Call it whenever the client has traffic and an idempotent request to copy. One probe per server is in flight at
    /// a time; a probe that is never settled expires after a minute. Only servers that are preferred to the current one
    /// are probed, and any server if none is healthy or if the policy does not select by preference.
    ///
    /// A copy of a request to an endpoint that every server fails would find no server working, so it is skipped for up
    /// to 5 s while a better one may come.
    ///
    /// - Parameters:
    ///   - traits: The properties of the available request.
    ///   - now: The time.
    /// - Returns: The probe, which has to be passed to ``settleProbe(_:_:at:)``.
    package mutating func takeProbe(for traits: RequestTraits = RequestTraits(), at now: MonotonicTime) -> Attempt? {
        let time = read(now)
        let due = endpoints.isOdd(traits.endpoint) ? time - 5 : time
        guard !timeline.isFrozen, health.indices.contains(where: { isProbeDue($0, at: time, since: due) }) else {
            return nil
        }
        let goesByPreference = rules.policy.failsBack && rules.policy.selection == .priority
        let hasHealthy = health.indices.contains { health[$0].state == .healthy }
        for position in steering.order {
            if goesByPreference, hasHealthy, position == steering.current { return nil }
            guard isProbeDue(Int(position), at: time, since: due) else { continue }
            health[Int(position)].probedUntil = time + SwitchingCore.probeBudget
            return attempt(Choice(position: Int(position)), .probe, at: now)
        }
        return nil
    }

    /// Whether a probe is due, and none is under way.
    ///
    /// Asked with every request: a method of the server's health would copy all of it.
    private func isProbeDue(_ position: Int, at time: Double, since due: Double) -> Bool {
        health[position].state == .ejected && due >= health[position].dueAt && time >= health[position].probedUntil
    }

    private static var probeBudget: Double { 60 }

    /// Settles a shadow probe.
    ///
    /// A success that took longer than ``RecoveryRules/slownessFactor`` allows counts as a failure.
    ///
    /// - Parameters:
    ///   - probe: The probe.
    ///   - outcome: The outcome; a response with 4xx counts as a success.
    ///   - now: The time.
    /// - Returns: The events that followed.
    package mutating func settleProbe(
        _ probe: Attempt,
        _ outcome: AttemptOutcome,
        at now: MonotonicTime
    ) -> [SwitchEvent] {
        let time = read(now)
        guard let position = position(of: probe), health[position].state == .ejected else { return takeEvents() }
        health[position].probedUntil = -1e9
        guard !timeline.isOutdated(probe, nil), !timeline.isFrozen else { return takeEvents() }
        switch outcome {
        case .success(let latency): finishProbe(position, succeeded: !isSlow(latency.inSeconds, position), at: time)
        case .answered: finishProbe(position, succeeded: true, at: time)
        case .failure: finishProbe(position, succeeded: false, at: time)
        case .unfinished, .neutral: break
        }
        return takeEvents()
    }

    /// Returns the time within which a working server responds to a probe.
    ///
    /// It is twice the server's usual time, or that of the preferred server while its own is unknown, and at most a
    /// minute; zero while neither is known.
    package func patience(with probe: Attempt) -> Duration {
        let known = position(of: probe).flatMap { health[$0].latency.bulk }
        let usual = known ?? health[Int(steering.current)].latency.bulk ?? 0
        return .seconds(min(SwitchingCore.probeBudget, 2 * usual))
    }

    private func isSlow(_ latency: Double, _ position: Int) -> Bool {
        guard let bulk = health[position].latency.bulk else { return false }
        let recovery = rules.policy.recovery
        return latency > max(recovery.slownessFloor.inSeconds, recovery.slownessFactor * bulk)
    }

    mutating func finishProbe(_ position: Int, succeeded: Bool, at time: Double) {
        let recovery = rules.policy.recovery
        let outage = time - health[position].outageSince
        emit(.probed(steering.members[position].id, succeeded: succeeded), statistics(of: position, at: time))
        guard succeeded else {
            health[position].probeSuccesses = 0
            let gap = max(firstProbe(position), recovery.outageShare * outage)
            health[position].dueAt = time + jittered(min(recovery.longestProbe.inSeconds, gap))
            return
        }
        health[position].probeSuccesses += 1
        guard health[position].probeSuccesses >= recovery.successes(after: health[position].ejections) else {
            health[position].dueAt = time + jittered(recovery.seriesGap.inSeconds)
            return
        }
        let share = max(recovery.shortestSpread.inSeconds, recovery.spreadShare * outage)
        let wait = min(recovery.longestSpread.inSeconds, share) * random.unit()
        health[position].beginTrial(generation: takeGeneration(), at: time + wait, rules)
        emit(.trialStarted(steering.members[position].id, after: .seconds(wait)))
    }
}

/// Two small idempotent requests that find out whether a slow server is at fault: one to it, one to another server.
package struct SuspicionProbe: Sendable, Hashable {
    /// The attempt on the server that is suspected.
    package var suspect: Attempt
    /// The attempt on the other server.
    package var witness: Attempt
    /// The time limit of each probe; a probe without a response by then has failed with ``FailureKind/timeout``.
    package var limit: Duration
}

extension SwitchingCore {
    /// Takes suspicion probes for a request that must not be sent again and has waited longer than
    /// ``hedgeDelay(for:remaining:)``, or has failed.
    ///
    /// If only the other server responds, the suspect is charged, and the next round can be taken immediately, up to
    /// ``HedgingRules/suspicionRounds``. So detection does not have to wait for the caller's deadline.
    ///
    /// - Parameters:
    ///   - attempt: The attempt under suspicion.
    ///   - endpoint: The endpoint of the probes if it differs from the attempt's.
    ///   - patience: The minimum time limit of each probe.
    ///   - now: The time.
    /// - Returns: The probes, to be passed to ``settleSuspicion(_:suspect:witness:at:)``; `nil` if the server is under
    ///   suspicion already, is not in use any more, has no healthy peer, or the hedge budget is empty.
    package mutating func takeSuspicion(
        of attempt: Attempt,
        asking endpoint: UInt32? = nil,
        atLeast patience: Duration = .milliseconds(200),
        at now: MonotonicTime
    ) -> SuspicionProbe? {
        let time = read(now)
        let endpoint = endpoint ?? attempt.endpoint
        guard let hedging = rules.policy.hedging, !timeline.isQuiet(at: time),
            let position = position(of: attempt), health[position].state != .ejected, !health[position].isSuspected,
            health[position].suspicionRounds < hedging.suspicionRounds,
            endpoints.allowsHedge(endpoint, claims: false, at: time),
            let peer = steering.order.first(where: { Int($0) != position && health[Int($0)].state == .healthy }),
            extras.takeSuspicionToken()
        else { return nil }
        _ = endpoints.allowsHedge(endpoint, claims: true, at: time)
        health[position].isSuspected = true
        let traits = RequestTraits(endpoint: endpoint)
        let suspect = self.attempt(Choice(position: position), .suspicion, for: traits, at: now)
        let delay = hedgeDelay(for: suspect, remaining: .seconds(3600)) ?? hedging.unknown
        return SuspicionProbe(
            suspect: suspect,
            witness: self.attempt(Choice(position: Int(peer)), .suspicion, for: traits, at: now),
            limit: max(patience, delay * 2)
        )
    }

    /// Settles suspicion probes.
    ///
    /// - Parameters:
    ///   - probe: The probes.
    ///   - suspect: The outcome of the attempt on the suspected server.
    ///   - witness: The outcome of the attempt on the other server.
    ///   - now: The time.
    /// - Returns: The events that followed.
    package mutating func settleSuspicion(
        _ probe: SuspicionProbe,
        suspect: AttemptOutcome,
        witness: AttemptOutcome,
        at now: MonotonicTime
    ) -> [SwitchEvent] {
        let time = read(now)
        if witness.isAnswer { provePath(at: time) }
        if judgesEndpoints { note(probe, suspect: suspect, witness: witness, at: time) }
        guard let position = position(of: probe.suspect) else { return takeEvents() }
        health[position].isSuspected = false
        switch suspect {
        case .success(let latency):
            health[position].suspicionRounds = 0
            recordSuccess(position, latency: latency.inSeconds, at: time)
        case .answered:
            recordResponse(position, at: time)
        case .failure(let kind, let retryAfter) where witness.isAnswer:
            guard timeline.counts(probe.suspect, nil, at: time) else { break }
            extras.refundHedge()
            health[position].suspicionRounds &+= 1
            charge(probe.suspect, at: position, kind, retryAfter, witness: witness, at: time)
        default:
            break
        }
        return takeEvents()
    }

    /// Records whether the probes were useful, and the result of the other server.
    private mutating func note(
        _ probe: SuspicionProbe,
        suspect: AttemptOutcome,
        witness: AttemptOutcome,
        at time: Double
    ) {
        let endpoint = probe.suspect.endpoint
        endpoints.recordHedge(endpoint, helped: witness.isAnswer && suspect.failureKind != nil, at: time)
        guard let position = position(of: probe.witness) else { return }
        if witness.isAnswer {
            endpoints.recordResponse(
                EndpointTable.twin(of: endpoint),
                from: position,
                latency: nil,
                isLate: false,
                at: time
            )
        } else if witness.failureKind != nil {
            endpoints.recordFailure(endpoint, on: position, at: time)
            endpoints.recordFailure(EndpointTable.twin(of: endpoint), on: position, at: time)
        }
    }

    /// Charges the suspect; a late probe after a late request weighs twice.
    private mutating func charge(
        _ suspect: Attempt,
        at position: Int,
        _ kind: FailureKind,
        _ retryAfter: Duration?,
        witness: AttemptOutcome,
        at time: Double
    ) {
        guard kind == .timeout, rules.policy.detection.lateness != nil else {
            let twin = EndpointTable.twin(of: suspect.endpoint)
            let failure = Failure(kind: kind, retryAfter: retryAfter, endpoint: twin, hasConfirmation: true)
            return recordFailure(position, failure, at: time)
        }
        recordOvertaken(suspect, on: position, by: witness, weight: 2, at: time)
    }
}
