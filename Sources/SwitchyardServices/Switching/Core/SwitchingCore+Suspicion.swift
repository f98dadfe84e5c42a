/// Two small idempotent requests that find out whether a slow server is at fault: one to it, one to another server.
public struct SuspicionProbe: Sendable, Hashable {
    /// The attempt on the server that is suspected.
    public var suspect: Attempt
    /// The attempt on the other server.
    public var witness: Attempt
    /// How long each may take; what is not answered by then has failed with ``FailureKind/timeout``.
    public var limit: Duration
}

extension SwitchingCore {
    /// Takes suspicion probes for a request that has waited longer than ``hedgeDelay(for:remaining:)``, or that failed,
    /// and must not be sent again.
    ///
    /// If only the witness answers, the suspect is charged, and the next round can be taken at once, up to
    /// ``HedgingRules/suspicionRounds``; so detection does not have to wait for the caller's deadline.
    ///
    /// - Parameters:
    ///   - attempt: The attempt under suspicion.
    ///   - now: The time.
    /// - Returns: The probes, to be handed to ``settleSuspicion(_:suspect:witness:at:)``; `nil` when the server is under
    ///   suspicion already, is not in use any more, has no healthy peer, or the hedge budget is empty.
    public mutating func takeSuspicion(of attempt: Attempt, at now: MonotonicTime) -> SuspicionProbe? {
        let time = read(now)
        guard let hedging = rules.policy.hedging, !clock.isFrozen, time >= quietUntil,
            let position = position(of: attempt), health[position].state != .ejected, !health[position].isSuspected,
            health[position].suspicionRounds < hedging.suspicionRounds,
            endpoints.allowsHedge(attempt.endpoint, claims: false, at: time),
            let peer = order.first(where: { Int($0) != position && health[Int($0)].state == .healthy }),
            hedges.take(1)
        else { return nil }
        _ = endpoints.allowsHedge(attempt.endpoint, claims: true, at: time)
        health[position].isSuspected = true
        let traits = RequestTraits(endpoint: attempt.endpoint)
        let delay = hedgeDelay(for: attempt, remaining: .seconds(3600)) ?? hedging.unknown
        return SuspicionProbe(
            suspect: self.attempt(Choice(position: position), .suspicion, for: traits, at: now),
            witness: self.attempt(Choice(position: Int(peer)), .suspicion, for: traits, at: now),
            limit: max(.milliseconds(200), delay * 2)
        )
    }

    /// Settles suspicion probes.
    ///
    /// - Parameters:
    ///   - probe: The probes.
    ///   - suspect: How the attempt on the suspected server ended.
    ///   - witness: How the attempt on the other server ended.
    ///   - now: The time.
    /// - Returns: What followed.
    public mutating func settleSuspicion(
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
            recordAnswer(position, at: time)
        case .failure(let kind, let retryAfter) where witness.isAnswer:
            guard !clock.isFrozen, probe.suspect.startedAt >= pathSince, time >= quietUntil else { break }
            refundHedge()
            health[position].suspicionRounds &+= 1
            charge(probe.suspect, at: position, kind, retryAfter, witness: witness, at: time)
        default:
            break
        }
        return takeEvents()
    }

    /// Takes note of whether the probes were of use, and of what the witness did with them.
    private mutating func note(
        _ probe: SuspicionProbe,
        suspect: AttemptOutcome,
        witness: AttemptOutcome,
        at time: Double
    ) {
        let endpoint = probe.suspect.endpoint
        endpoints.noteHedge(endpoint, helped: witness.isAnswer && suspect.failureKind != nil, at: time)
        guard let position = position(of: probe.witness) else { return }
        if witness.isAnswer {
            endpoints.noteAnswer(
                EndpointTable.twin(of: endpoint),
                from: position,
                latency: nil,
                isLate: false,
                at: time
            )
        } else if witness.failureKind != nil {
            endpoints.noteFailure(endpoint, on: position, at: time)
            endpoints.noteFailure(EndpointTable.twin(of: endpoint), on: position, at: time)
        }
    }

    /// Charges the suspect; being late behind a request that was late weighs twice.
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
            let failure = Failure(kind: kind, retryAfter: retryAfter, endpoint: twin, isWitnessed: true)
            return recordFailure(position, failure, at: time)
        }
        recordOvertaken(suspect, on: position, by: witness, weight: 2, at: time)
    }
}
