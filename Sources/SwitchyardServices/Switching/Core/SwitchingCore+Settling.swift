extension SwitchingCore {
    /// Reports the outcome of a request that had a single attempt.
    ///
    /// - Parameters:
    ///   - attempt: The attempt.
    ///   - outcome: The outcome of the attempt.
    ///   - now: The current time.
    /// - Returns: The resulting events, usually none.
    package mutating func settle(
        _ attempt: Attempt,
        _ outcome: AttemptOutcome,
        at now: MonotonicTime
    ) -> [SwitchEvent] {
        let time = read(now)
        let position = release(attempt)
        switch outcome {
        case .success(let latency) where timeline.isTimed(attempt):
            recordSuccess(
                position,
                of: attempt.endpoint,
                latency: latency.inSeconds,
                without: present(attempt.unsuitable, since: attempt.startedAt),
                at: time
            )
            extras.refund(attempt)
        case .success, .answered:
            let unsuitable = present(attempt.unsuitable, since: attempt.startedAt)
            recordResponse(position, of: attempt.endpoint, without: unsuitable, at: time)
            extras.refund(attempt)
        case .failure(let kind, let retryAfter):
            guard timeline.counts(attempt, kind, at: time), let position else { break }
            let failure = Failure(kind, attempt, retryAfter: retryAfter, hasConfirmation: false)
            recordFailure(position, failure, at: time)
        case .neutral:
            extras.refund(attempt)
        case .unfinished:
            break
        }
        return takeEvents()
    }

    /// Reports the outcomes of all attempts of a request, once, after the request has ended.
    ///
    /// If another server responded to this request, the server of the failed attempt is certainly at fault. If every
    /// server failed in the same way, the network or the request is at fault. ``Evidence/weigh(_:of:at:)`` and
    /// ``Evidence/charge(_:to:at:)`` decide how much a failure counts. If an attempt succeeded while another attempt
    /// was in flight, the other attempt counts as overtaken if it is the request's first attempt or began earlier than
    /// the successful attempt.
    ///
    /// - Parameters:
    ///   - request: The attempts in the order in which they were made.
    ///   - now: The current time.
    /// - Returns: The resulting events, usually none.
    package mutating func settle(_ request: [SettledAttempt], at now: MonotonicTime) -> [SwitchEvent] {
        if request.count == 1, let only = request.first { return settle(only.attempt, only.outcome, at: now) }
        let time = read(now)
        let positions = request.map { release($0.attempt) }
        let winner = request.firstIndex { $0.outcome.isAnswer }
        if let winner, !isSlowHedge(request[winner], at: positions[winner]) { extras.refund(request[winner].attempt) }
        for (index, settled) in request.enumerated() where index != winner {
            extras.chargeFailure(of: settled)
            if settled.outcome.isNeutral { extras.refund(settled.attempt) }
            guard let position = positions[index] else { continue }
            settleLoser(settled, at: position, in: request, winner: winner.map { request[$0] }, time)
        }
        if let winner { settleResponse(request[winner], at: positions[winner], time) }
        if !timeline.isQuiet(at: time) {
            evidence.recordUse(of: request, winner: winner.map { request[$0].attempt }, at: time)
        }
        return takeEvents()
    }

    /// Whether a hedge responded first, but so late that it would have been hedged itself.
    ///
    /// Then every server is slow, probably because of overload, and more hedges would increase the load. So such a
    /// hedge does not return its token. If the token were returned, many clients with little traffic would overload all
    /// servers, even servers with spare capacity (`yard simulate --scenario herd --clients 2000`).
    ///
    /// A server that is never quicker is not overloaded. If the first server hangs, the hedges to such a fallback
    /// server would otherwise use up the budget, and other calls would wait for their deadlines (`SlowFallbackTests`).
    private func isSlowHedge(_ settled: SettledAttempt, at position: Int?) -> Bool {
        guard settled.attempt.role == .hedge, rules.sparesOverloaded, case .success(let latency) = settled.outcome
        else { return false }
        return latency.inSeconds > evidence.usualWait(for: settled.attempt.endpoint, on: position)
            && !evidence.isQuickest(latency.inSeconds, on: position)
    }

    private mutating func settleResponse(_ settled: SettledAttempt, at position: Int?, _ time: Double) {
        let attempt = settled.attempt
        let (endpoint, unsuitable) = (attempt.endpoint, present(attempt.unsuitable, since: attempt.startedAt))
        if case .success(let latency) = settled.outcome, timeline.isTimed(attempt) {
            recordSuccess(position, of: endpoint, latency: latency.inSeconds, without: unsuitable, at: time)
        } else {
            recordResponse(position, of: endpoint, without: unsuitable, at: time)
        }
    }

    private mutating func settleLoser(
        _ settled: SettledAttempt,
        at position: Int,
        in request: [SettledAttempt],
        winner: SettledAttempt?,
        _ time: Double
    ) {
        let attempt = settled.attempt
        guard timeline.counts(attempt, settled.outcome.failureKind, at: time) else { return }
        switch settled.outcome {
        case .success, .answered:
            settleResponse(settled, at: position, time)
        case .failure(let kind, let retryAfter):
            let others = request.lazy.filter { $0.attempt.isElsewhere(than: attempt) }
            let hasConfirmation = winner.map { $0.attempt.isElsewhere(than: attempt) } ?? Self.proves(others, kind)
            let isShared = winner == nil && others.contains { Self.isAlike($0.outcome, kind) }
            let failure = Failure(
                kind,
                attempt,
                retryAfter: retryAfter,
                hasConfirmation: hasConfirmation,
                isShared: isShared
            )
            recordFailure(position, failure, at: time)
        case .unfinished:
            guard let winner, winner.attempt.isElsewhere(than: attempt) else { return }
            guard attempt.role == .first || attempt.startedAt < winner.attempt.startedAt else { return }
            recordOvertaken(attempt, on: position, by: winner.outcome, at: time)
        case .neutral:
            return
        }
    }

    /// Whether an error status from another server shows that the network works, although this attempt got no response.
    private static func proves(_ others: some Sequence<SettledAttempt>, _ kind: FailureKind) -> Bool {
        !kind.isAnswer
            && others.contains {
                if case .failure(let other, _) = $0.outcome { other.isAnswer } else { false }
            }
    }

    /// Whether another server failed in the same way, so that the request or the path is at fault.
    private static func isAlike(_ outcome: AttemptOutcome, _ kind: FailureKind) -> Bool {
        guard case .failure(let other, _) = outcome else { return false }
        return other == kind
    }

    /// Whether the endpoint of an attempt, or its server, usually needs longer than `wait` for a success.
    ///
    /// An attempt that ended earlier is no evidence. The result is `false` while fewer than 8 successes are known.
    package func usuallyTakesLonger(than wait: Double, on attempt: Attempt) -> Bool {
        guard let position = recovery.position(of: attempt) else { return false }
        return evidence.bulk(of: attempt.endpoint, on: position).map { wait < $0 } ?? false
    }

    /// Removes an attempt from the attempts in flight, and frees its slot in a trial.
    ///
    /// - Returns: The current position of the attempt's server, or `nil` if the server was ejected (taken out of use
    ///   for a time) or has recovered since the attempt began. In this case, the outcome counts against no server.
    mutating func release(_ attempt: Attempt) -> Int? {
        extras.release(attempt)
        guard let position = recovery.position(of: attempt) else { return nil }
        inFlight?.end(position)
        if attempt.holdsTrialPlace { recovery.returnTrialPlace(position) }
        return position
    }
}
