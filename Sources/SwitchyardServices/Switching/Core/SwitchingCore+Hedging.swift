extension SwitchingCore {
    /// Takes a hedge: an attempt on another server beside a slow one.
    ///
    /// - Parameters:
    ///   - tried: The servers that were tried.
    ///   - avoided: The servers that are not used; they are not attempts of the request.
    ///   - traits: The properties on which the choice may depend.
    ///   - isPaidFor: Whether the request has taken a token for a hedge: it may continue without another one as long as
    ///     other requests wait for hedges too.
    ///   - now: The time.
    /// - Returns: The attempt, which has to be settled; `nil` as for
    ///   ``takeFailover(after:excluding:avoiding:for:isPaidFor:at:)``.
    package mutating func takeHedge(
        excluding tried: ServerSet,
        avoiding avoided: ServerSet = [],
        for traits: RequestTraits = RequestTraits(),
        isPaidFor: Bool = false,
        at now: MonotonicTime
    ) -> Attempt? {
        let time = read(now)
        let excluded = tried.union(avoided)
        guard rules.policy.hedging != nil, allowsAnother(tried), extras.allowsHedge(isPaidFor: isPaidFor),
            evidence.allowsHedge(traits.endpoint, claims: false, at: time),
            let choice = pickExtra(excluding: excluded, for: traits, at: time)
        else { return nil }
        extras.beginHedge()
        _ = evidence.allowsHedge(traits.endpoint, claims: true, at: time)
        return attempt(choice, .hedge, for: traits, at: now)
    }

    /// Returns the time to wait for an attempt's response before a hedge.
    ///
    /// - Parameters:
    ///   - attempt: The attempt in flight.
    ///   - remaining: The time from its start to the request's deadline.
    /// - Returns: The time from its start; `nil` if the policy does not hedge.
    package func hedgeDelay(for attempt: Attempt, remaining: Duration) -> Duration? {
        hedgeDelay(for: attempt, remaining: remaining.inSeconds).map { .seconds($0) }
    }

    /// Returns the hedge delay in seconds, for every attempt.
    package func hedgeDelay(for attempt: Attempt, remaining: Double) -> Double? {
        bounded(evidence.usualWait(for: attempt.endpoint, on: recovery.position(of: attempt)), remaining)
    }

    /// Returns the seconds after which an attempt that must not be repeated is late; `nil` if the policy does not hedge.
    package func lateDelay(for attempt: Attempt, remaining: Double) -> Double? {
        bounded(evidence.cautiousWait(for: attempt.endpoint, on: recovery.position(of: attempt)), remaining)
    }

    private func bounded(_ delay: Double, _ remaining: Double) -> Double? {
        rules.policy.hedging.map { max(0, min(delay, $0.deadlineShare * remaining)) }
    }

    /// Takes an attempt on another server beside one that is slow or has been ejected.
    ///
    /// - Parameters:
    ///   - attempt: The attempt in flight.
    ///   - tried: The servers that were tried.
    ///   - avoided: The servers that no hedge uses, and a failover only if there is no other; they are not attempts of
    ///     the request.
    ///   - traits: The properties on which the choice may depend.
    ///   - now: The time.
    /// - Returns: A hedge; if none is available and the server's generation is over, usually because it was ejected, a
    ///   failover; otherwise `nil`.
    package mutating func takeHedge(
        beside attempt: Attempt,
        excluding tried: ServerSet,
        avoiding avoided: ServerSet = [],
        for traits: RequestTraits = RequestTraits(),
        at now: MonotonicTime
    ) -> Attempt? {
        extras.lendHedge(after: attempt.startedAt.duration(to: now), at: read(now))
        let isHedged = attempt.role == .hedge
        if let hedge = takeHedge(excluding: tried, avoiding: avoided, for: traits, isPaidFor: isHedged, at: now) {
            return hedge
        }
        guard recovery.position(of: attempt) == nil else { return nil }
        return takeFailover(
            after: nil,
            excluding: tried,
            avoiding: avoided,
            for: traits,
            isPaidFor: attempt.isPaid,
            at: now
        )
    }

    /// Returns the time to wait before another try for a hedge after none was available.
    ///
    /// Tokens come back: when a server hangs, all its requests want a hedge at the same moment, and the hedges that win
    /// return their tokens for the next ones. The pauses are an eighth of the attempt's waiting time so far, so that
    /// few tries are needed. A request that takes longer than ``BudgetRules/longestCheck`` is slow by nature and leaves
    /// the tokens to others.
    ///
    /// - Parameters:
    ///   - attempt: The attempt in flight.
    ///   - tried: The servers that were tried.
    ///   - avoided: The servers that are not used; they are not attempts of the request.
    ///   - now: The time.
    /// - Returns: The time from now, at least ``BudgetRules/shortestPause``; `nil` if no other server can get the
    ///   request, or the attempt has waited too long.
    package func hedgePause(
        for attempt: Attempt,
        excluding tried: ServerSet,
        avoiding avoided: ServerSet = [],
        at now: MonotonicTime
    ) -> Duration? {
        let budgets = rules.policy.budgets
        let isPossible = rules.policy.hedging != nil && max(budgets.hedgeTokens, budgets.failoverTokens) >= 1
        guard isPossible, allowsAnother(tried), tried.union(avoided).count < steering.members.count else { return nil }
        let waited = attempt.startedAt.duration(to: now)
        return waited < BudgetRules.longestCheck ? Self.pause(after: waited) : nil
    }
}

extension SwitchingCore {
    /// Returns the time to wait before another try for a failover after the budget has denied one.
    ///
    /// When a server dies, all its requests fail at the same moment. As long as others are on their way to the next
    /// server, each of them that succeeds returns a token. A request that has had a second server does not wait,
    /// because others may be waiting for its token. Nor does a request that failed because the machine is offline.
    ///
    /// - Parameters:
    ///   - kind: The failure of the previous attempt; `nil` if the request was moved away, or if no server was
    ///     involved.
    ///   - held: The time for which the request has waited for a token so far.
    ///   - tried: The servers that were tried.
    ///   - traits: The properties of the request.
    ///   - now: The time.
    /// - Returns: The time, at least ``BudgetRules/shortestPause``; `nil` if there are tokens, or if none will come
    ///   back in this way: none is taken, or the last was granted ``BudgetRules/patience`` ago. Also `nil` if every
    ///   server fails the endpoint.
    package mutating func failoverPause(
        after kind: FailureKind?,
        held: Duration,
        excluding tried: ServerSet,
        for traits: RequestTraits = RequestTraits(),
        at now: MonotonicTime
    ) -> Duration? {
        let time = read(now)
        guard evidence.allowsFailover(after: kind, of: traits.endpoint, isPaidFor: false, claims: false, at: time)
        else {
            return nil
        }
        guard rules.policy.failsOver, rules.policy.admission != nil, let kind, !extras.isFree(after: kind),
            !timeline.isFrozen, extras.mayGetFailoverToken(at: time),
            tried.count == 1, allowsAnother(tried), steering.members.count > 1
        else { return nil }
        return Self.pause(after: held)
    }

    /// Returns an eighth of the waiting time so far, so that few checks are needed until the deadline.
    static func pause(after waited: Duration) -> Duration { max(BudgetRules.shortestPause, waited / 8) }
}
