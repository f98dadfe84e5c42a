extension SwitchingCore {
    /// Takes an attempt on another server beside one that is slow.
    ///
    /// - Parameters:
    ///   - tried: The servers that were tried.
    ///   - avoided: Servers that are not asked; they are no attempts of the request.
    ///   - traits: What the choice may depend on.
    ///   - isPaidFor: Whether the request has taken a token for a hedge: without another one it may go on, as long as other
    ///     requests wait for hedges too.
    ///   - now: The time.
    /// - Returns: The attempt, which has to be settled; `nil` as for
    ///   ``takeFailover(after:excluding:avoiding:for:isPaidFor:at:)``.
    public mutating func takeHedge(
        excluding tried: ServerSet,
        avoiding avoided: ServerSet = [],
        for traits: RequestTraits = RequestTraits(),
        isPaidFor: Bool = false,
        at now: MonotonicTime
    ) -> Attempt? {
        let time = read(now)
        let excluded = tried.union(avoided)
        guard rules.policy.hedging != nil, allowsAnother(tried), hedges.tokens >= 1 || (isPaidFor && goesOnHedging),
            endpoints.allowsHedge(traits.endpoint, claims: false, at: time),
            let choice = pickExtra(excluding: excluded, for: traits, at: time)
        else { return nil }
        _ = hedges.take(1)  // Or none, if there is none.
        _ = endpoints.allowsHedge(traits.endpoint, claims: true, at: time)
        hedgesUnderWay &+= 1
        return attempt(choice, .hedge, for: traits, at: now)
    }

    /// Lends a hedge token for an attempt that has waited for long, where there is none.
    ///
    /// What waits for less is no reason: in a fleet whose servers have too much to do, each client would add its part.
    private mutating func lendHedge(for attempt: Attempt, at now: MonotonicTime) {
        let time = read(now)
        let budgets = rules.policy.budgets
        guard hedges.tokens < 1, budgets.hedgeTokens >= 1, attempt.startedAt.duration(to: now) >= budgets.refill,
            lentHedges.take(at: time, first: rules.refill, longest: budgets.longestRefill.inSeconds)
        else { return }
        hedges.add(1, capacity: hedgeCapacity)
    }

    /// Gives the token of a hedge back that was of use.
    mutating func refundHedge() {
        hedges.add(1, capacity: hedgeCapacity)
        lentHedges.restart()
    }

    /// How long to wait for an attempt's answer before a second server is asked as well.
    ///
    /// - Parameters:
    ///   - attempt: The attempt under way.
    ///   - remaining: The time from its start to the request's deadline.
    /// - Returns: The time from its start; `nil` when the policy does not hedge.
    public func hedgeDelay(for attempt: Attempt, remaining: Duration) -> Duration? {
        hedgeDelay(for: attempt, remaining: remaining.inSeconds).map { .seconds($0) }
    }

    /// The same in seconds, as it is asked for with every attempt.
    package func hedgeDelay(for attempt: Attempt, remaining: Double) -> Double? {
        guard let hedging = rules.policy.hedging else { return nil }
        let delay = usualWait(for: attempt.endpoint, on: position(of: attempt))
        return max(0, min(delay, hedging.deadlineShare * remaining))
    }

    /// How many seconds an answer may take until it is late.
    func usualWait(for endpoint: UInt32, on position: Int?) -> Double {
        guard let bulk = endpoints.bulk(of: endpoint) ?? position.flatMap({ health[$0].latency.bulk }) else {
            return max(rules.shortestHedge, rules.unknownHedge)
        }
        return max(rules.shortestHedge, (rules.policy.hedging?.factor ?? 1) * bulk)
    }

    /// Takes an attempt on another server beside one that is slow, or was ejected meanwhile.
    ///
    /// - Parameters:
    ///   - attempt: The attempt under way.
    ///   - tried: The servers that were tried.
    ///   - avoided: Servers that no hedge asks, and a failover only when no other is left; they are no attempts of the
    ///     request.
    ///   - traits: What the choice may depend on.
    ///   - now: The time.
    /// - Returns: A hedge; where there is none to be had and the server's generation is over, mostly because it was ejected,
    ///   a failover; else `nil`.
    public mutating func takeHedge(
        beside attempt: Attempt,
        excluding tried: ServerSet,
        avoiding avoided: ServerSet = [],
        for traits: RequestTraits = RequestTraits(),
        at now: MonotonicTime
    ) -> Attempt? {
        lendHedge(for: attempt, at: now)
        let isHedged = attempt.role == .hedge
        if let hedge = takeHedge(excluding: tried, avoiding: avoided, for: traits, isPaidFor: isHedged, at: now) {
            return hedge
        }
        guard position(of: attempt) == nil else { return nil }
        return takeFailover(
            after: nil,
            excluding: tried,
            avoiding: avoided,
            for: traits,
            isPaidFor: attempt.isPaid,
            at: now
        )
    }

    /// How long to wait before a second server is asked for again, after none was to be had.
    ///
    /// Tokens come back: when a server hangs, all that is under way there wants a second one at the same moment, and what
    /// the first of them win lets the next go. The waits are an eighth of what the attempt has waited so far, so that few
    /// are needed. What takes longer than ``BudgetRules/longestLook`` is slow by nature, and leaves the tokens to others.
    ///
    /// - Parameters:
    ///   - attempt: The attempt under way.
    ///   - tried: The servers that were tried.
    ///   - avoided: Servers that are not asked; they are no attempts of the request.
    ///   - now: The time.
    /// - Returns: The time from now, at least ``BudgetRules/shortestPause``; `nil` when no other server can be asked, or the
    ///   attempt has waited too long.
    public func hedgePause(
        for attempt: Attempt,
        excluding tried: ServerSet,
        avoiding avoided: ServerSet = [],
        at now: MonotonicTime
    ) -> Duration? {
        let budgets = rules.policy.budgets
        let isPossible = rules.policy.hedging != nil && max(budgets.hedgeTokens, budgets.failoverTokens) >= 1
        guard isPossible, allowsAnother(tried), tried.union(avoided).count < members.count else { return nil }
        let waited = attempt.startedAt.duration(to: now)
        return waited < BudgetRules.longestLook ? Self.pause(after: waited) : nil
    }
}
