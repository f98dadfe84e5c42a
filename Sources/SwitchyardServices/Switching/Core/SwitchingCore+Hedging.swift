extension SwitchingCore {
    /// Begins a hedge: an additional attempt on another server while an attempt is slow.
    ///
    /// - Parameters:
    ///   - tried: The servers that the request has tried.
    ///   - avoided: Servers that are not used. These servers do not count as tried.
    ///   - traits: The properties on which the choice may depend.
    ///   - isPaidFor: Whether the request has been charged to the hedge budget. Such a request may continue without
    ///     another charge while other hedges are in flight.
    ///   - now: The current time.
    /// - Returns: The attempt, whose outcome must be reported, or `nil` in the same cases as
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
        extras.expireHedges(at: time)
        guard rules.policy.hedging != nil, allowsAnother(tried, for: traits), extras.allowsHedge(isPaidFor: isPaidFor),
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
    ///   - remaining: The time from the start of the attempt to the request's deadline.
    /// - Returns: The time from the start of the attempt, or `nil` if the policy does not hedge.
    package func hedgeDelay(for attempt: Attempt, remaining: Duration) -> Duration? {
        hedgeDelay(for: attempt, remaining: remaining.inSeconds).map { .seconds($0) }
    }

    /// Returns the seconds to wait for an attempt's response before a hedge, or `nil` if the policy does not hedge.
    package func hedgeDelay(for attempt: Attempt, remaining: Double) -> Double? {
        bounded(evidence.usualWait(for: attempt.endpoint, on: recovery.position(of: attempt)), remaining)
    }

    /// Returns the seconds after which an attempt that must not be repeated is late, or `nil` if the policy does not
    /// hedge.
    package func lateDelay(for attempt: Attempt, remaining: Double) -> Double? {
        bounded(evidence.cautiousWait(for: attempt.endpoint, on: recovery.position(of: attempt)), remaining)
    }

    private func bounded(_ delay: Double, _ remaining: Double) -> Double? {
        rules.policy.hedging.map { max(0, min(delay, $0.deadlineShare * remaining)) }
    }

    /// Begins an attempt on another server while an attempt is slow or its server has been ejected (taken out of use
    /// for a time).
    ///
    /// - Parameters:
    ///   - attempt: The attempt in flight.
    ///   - tried: The servers that the request has tried.
    ///   - avoided: Servers that a hedge does not use, and that a failover uses only if there is no other server. These
    ///     servers do not count as tried.
    ///   - traits: The properties on which the choice may depend.
    ///   - now: The current time.
    /// - Returns: A hedge if possible. Otherwise, a failover if the server was ejected or has recovered since the
    ///   attempt began. Otherwise, `nil`.
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

    /// Returns the time to wait before the next check for a hedge after no hedge was possible.
    ///
    /// When a server hangs, all its requests need a hedge at the same moment. Each hedge that responds first returns
    /// its token to the budget, which then permits another hedge. Each pause is an eighth of the time that the attempt
    /// has waited, so that few checks are needed. A request that has waited longer than ``BudgetRules/longestCheck`` is
    /// slow on every server, so it does not check again and leaves the budget to other requests.
    ///
    /// - Parameters:
    ///   - attempt: The attempt in flight.
    ///   - tried: The servers that the request has tried.
    ///   - avoided: Servers that are not used. These servers do not count as tried.
    ///   - traits: The properties of the request.
    ///   - now: The current time.
    /// - Returns: The time from now, at least ``BudgetRules/shortestPause``, or `nil` if no other server can get the
    ///   request, or if the attempt has waited too long.
    package func hedgePause(
        for attempt: Attempt,
        excluding tried: ServerSet,
        avoiding avoided: ServerSet = [],
        for traits: RequestTraits = RequestTraits(),
        at now: MonotonicTime
    ) -> Duration? {
        let budgets = rules.policy.budgets
        let isPossible = rules.policy.hedging != nil && max(budgets.hedgeTokens, budgets.failoverTokens) >= 1
        guard isPossible, allowsAnother(tried, for: traits), hasOthers(than: tried.union(avoided), for: traits) else {
            return nil
        }
        let waited = attempt.startedAt.duration(to: now)
        return waited < BudgetRules.longestCheck ? Self.pause(after: waited) : nil
    }
}

extension SwitchingCore {
    /// Returns the time to wait before the next check for a failover after the budget has denied a failover.
    ///
    /// When a server dies, all its requests fail at the same moment. As long as other failovers are in flight, each
    /// successful failover returns its token to the budget. A request that has already had a second server does not
    /// wait, because other requests may be waiting for that token. A request that failed because the machine is offline
    /// does not wait either.
    ///
    /// - Parameters:
    ///   - kind: The failure of the previous attempt, or `nil` if its server was ejected, or if no server was involved.
    ///   - held: The time for which the request has waited for the failover budget so far.
    ///   - tried: The servers that the request has tried.
    ///   - traits: The properties of the request.
    ///   - now: The current time.
    /// - Returns: The time, at least ``BudgetRules/shortestPause``, or `nil` if the request should not wait. For
    ///   example, waiting is unnecessary if tokens are available. It is useless if no failover is in flight, if the last
    ///   failover began ``BudgetRules/tokenWait`` ago, or if every server fails the endpoint.
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
            tried.count == 1, allowsAnother(tried, for: traits), steering.members.count - traits.unsuitable.count > 1
        else { return nil }
        return Self.pause(after: held)
    }

    /// Returns an eighth of the waiting time so far, but at least ``BudgetRules/shortestPause``.
    ///
    /// With growing pauses, few checks are needed until the deadline.
    static func pause(after waited: Duration) -> Duration { max(BudgetRules.shortestPause, waited / 8) }
}
