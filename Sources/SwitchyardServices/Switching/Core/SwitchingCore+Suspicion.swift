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
            let peer = order.first(where: { Int($0) != position && health[Int($0)].state == .healthy }),
            hedges.take(1)
        else { return nil }
        health[position].isSuspected = true
        let delay = hedgeDelay(for: attempt, remaining: .seconds(3600)) ?? hedging.unknown
        return SuspicionProbe(
            suspect: self.attempt(Choice(position: position), .suspicion, at: now),
            witness: self.attempt(Choice(position: Int(peer)), .suspicion, at: now),
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
            hedges.add(1, capacity: hedgeCapacity)
            health[position].suspicionRounds &+= 1
            recordFailure(position, Failure(kind: kind, retryAfter: retryAfter, isWitnessed: true), at: time)
        default:
            break
        }
        return takeEvents()
    }
}
