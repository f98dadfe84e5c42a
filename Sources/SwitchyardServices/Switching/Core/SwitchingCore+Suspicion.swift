/// A pair of suspicion probes: the same safe request to a suspected server, which is slow or has failed, and to another
/// server.
///
/// If only the other server responds, the suspected server is at fault.
package struct SuspicionProbe: Sendable, Hashable {
    /// The attempt on the suspected server.
    package var suspect: Attempt
    /// The attempt on the other server, whose response confirms that the network works.
    package var peer: Attempt
    /// The time limit of each probe.
    ///
    /// A probe without a response within this time has failed with ``FailureKind/timeout``.
    package var limit: Duration

    /// The result of the probes.
    package enum Verdict: Sendable {
        /// Only the other server responded, which counts against the suspected server.
        case atFault
        /// The suspected server responded, so it is slow only for the request that caused the probes.
        case responsive
        /// The probes prove nothing about the suspected server.
        ///
        /// Neither server responded, no probe was sent, the network path changed, or the process was paused during the
        /// probes.
        case undecided
    }
}

extension SwitchingCore {
    /// Begins a pair of suspicion probes: the same safe request goes to a suspected server and to another server.
    ///
    /// The usual cause is another request that must not be sent to two servers, such as a POST, and that has failed or
    /// is late (``lateDelay(for:remaining:)``). The client makes the safe request: it reads the probe path, the path of
    /// the write, or the base URL.
    ///
    /// If only the other server responds, this counts against the suspected server, and the next pair can begin
    /// immediately, up to ``HedgingRules/suspicionRounds`` times in a row. So a failing server is detected before the
    /// deadline of the request that caused the probes.
    ///
    /// No probes begin in these cases:
    /// - The policy does not hedge.
    /// - Outcomes are no evidence at this time (`Timeline.isQuiet(at:)`).
    /// - The suspected server is ejected (taken out of use for a time), or does not serve the probes.
    /// - Probes of the suspected server are in flight, or have counted against it ``HedgingRules/suspicionRounds``
    ///   times.
    /// - Hedges of the endpoint have not helped recently.
    /// - No other server is healthy.
    /// - The hedge budget is empty.
    ///
    /// - Parameters:
    ///   - attempt: The attempt on the suspected server.
    ///   - endpoint: The endpoint of the probes, if it differs from that of the attempt.
    ///   - unsuitable: The servers that do not serve the probes.
    ///   - tried: The servers that the request has tried. None of them is the other server of the pair if there is a
    ///     server that the request has not tried.
    ///   - minimum: The minimum time limit of each probe.
    ///   - now: The current time.
    /// - Returns: The probes, to be passed to ``settleSuspicion(_:suspect:peer:at:)``. The result is `nil` in the
    ///   cases above.
    package mutating func takeSuspicion(
        of attempt: Attempt,
        asking endpoint: UInt32? = nil,
        without unsuitable: ServerSet = [],
        besides tried: ServerSet = [],
        atLeast minimum: Duration = .milliseconds(200),
        at now: MonotonicTime
    ) -> SuspicionProbe? {
        let time = read(now)
        let endpoint = endpoint ?? attempt.endpoint
        guard let hedging = rules.policy.hedging, !timeline.isQuiet(at: time),
            let position = recovery.position(of: attempt), recovery.state(of: position) != .ejected,
            !unsuitable.contains(position),
            evidence.maySuspect(position, rounds: hedging.suspicionRounds),
            evidence.allowsHedge(endpoint, claims: false, at: time),
            let peer = healthyPeer(of: position, without: unsuitable, avoiding: tried, at: time),
            extras.takeSuspicionToken()
        else { return nil }
        evidence.beginSuspicion(position, with: endpoint, at: time)
        var traits = RequestTraits(endpoint: endpoint)
        traits.unsuitable = unsuitable
        let suspect = self.attempt(Choice(position: position), .suspicion, for: traits, at: now)
        let delay = lateDelay(for: suspect, remaining: 3_600).map { Duration.seconds($0) } ?? hedging.unknown
        return SuspicionProbe(
            suspect: suspect,
            peer: self.attempt(Choice(position: peer), .suspicion, for: traits, at: now),
            limit: max(minimum, delay * 2)
        )
    }

    /// Returns the first other server in order that is healthy and serves the probes.
    ///
    /// Servers whose last attempt or last suspicion probe did not fail come first, and servers to avoid come last. If the
    /// peer did not respond, the probes would not show which server is at fault.
    private func healthyPeer(
        of position: Int,
        without unsuitable: ServerSet,
        avoiding avoided: ServerSet,
        at time: Double
    ) -> Int? {
        let peers = steering.order.lazy.map { Int($0) }.filter {
            $0 != position && !unsuitable.contains($0) && recovery.state(of: $0) == .healthy
        }
        let failed = evidence.failedServers(at: time).union(evidence.failedPeers(at: time))
        let others = peers.filter { !avoided.contains($0) }
        return others.first { !failed.contains($0) } ?? others.first ?? peers.first
    }

    /// Returns the result of suspicion probes, to be called before their outcomes are reported.
    package func verdict(
        on probe: SuspicionProbe,
        suspect: AttemptOutcome,
        peer: AttemptOutcome,
        at now: MonotonicTime
    ) -> SuspicionProbe.Verdict {
        switch suspect {
        case .success, .answered: .responsive
        case .failure where peer.isAnswer && timeline.counts(probe.suspect, nil, at: timeline.time(at: now)): .atFault
        default: .undecided
        }
    }

    /// Reports the outcomes of suspicion probes.
    ///
    /// - Parameters:
    ///   - probe: The probes.
    ///   - suspect: The outcome of the attempt on the suspected server.
    ///   - peer: The outcome of the attempt on the other server.
    ///   - now: The current time.
    /// - Returns: The resulting events.
    package mutating func settleSuspicion(
        _ probe: SuspicionProbe,
        suspect: AttemptOutcome,
        peer: AttemptOutcome,
        at now: MonotonicTime
    ) -> [SwitchEvent] {
        let verdict = verdict(on: probe, suspect: suspect, peer: peer, at: now)
        let time = read(now)
        if peer.isAnswer { provePath(at: time) }
        let position = recovery.position(of: probe.suspect)
        if let position { evidence.endSuspicion(position) }
        let isEvidence = timeline.counts(probe.suspect, nil, at: time)
        guard verdict == .responsive || isEvidence && !(suspect.isNeutral && peer.isNeutral) else {
            extras.returnSuspicionToken()
            return takeEvents()
        }
        evidence.recordSuspicion(
            probe.suspect.endpoint,
            suspect: suspect,
            peer: isEvidence || peer.isAnswer ? peer : .neutral,
            on: recovery.position(of: probe.peer),
            at: time
        )
        guard let position else { return takeEvents() }
        switch suspect {
        case .success(let latency):
            evidence.clearSuspicion(position)
            recordSuccess(position, latency: latency.inSeconds, at: time)
        case .answered:
            recordResponse(position, at: time)
        case .failure(let kind, let retryAfter) where verdict == .atFault:
            extras.refundHedge()
            evidence.countSuspicion(position)
            charge(probe.suspect, at: position, kind, retryAfter, peer: peer, at: time)
        default:
            break
        }
        return takeEvents()
    }

    /// Counts the failed probe against the suspected server.
    ///
    /// If the policy has a ``LatenessRule``, a probe that timed out counts like two overtaken attempts (``Lateness``).
    private mutating func charge(
        _ suspect: Attempt,
        at position: Int,
        _ kind: FailureKind,
        _ retryAfter: Duration?,
        peer: AttemptOutcome,
        at time: Double
    ) {
        guard kind == .timeout, rules.policy.detection.lateness != nil else {
            let twin = EndpointTable.twin(of: suspect.endpoint)
            let failure = Failure(kind, suspect, endpoint: twin, retryAfter: retryAfter, hasConfirmation: true)
            return recordFailure(position, failure, at: time)
        }
        recordOvertaken(suspect, on: position, by: peer, weight: 2, at: time)
    }
}
