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
    package mutating func takeHedge(
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
    package func hedgeDelay(for attempt: Attempt, remaining: Duration) -> Duration? {
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
    package mutating func takeHedge(
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
    package func hedgePause(
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

extension SwitchingCore {
    /// The requests that have been chosen a server and are not settled yet.
    struct Concurrency: Sendable {
        private var underWay: UInt32 = 0
        /// The most there were at a time.
        private(set) var most: UInt32 = 0

        mutating func begin() {
            underWay &+= 1
            most = max(most, underWay)
        }

        mutating func end() {
            if underWay > 0 { underWay -= 1 }
        }
    }

    /// How long to wait before a failover is asked for again, after the budget has denied one.
    ///
    /// When a server dies, all that is under way there fails at the same moment; as long as others are on their way to the
    /// next server, a token comes back with each of them that is answered. A request that has had a second server does not
    /// wait: it may be one of those that others wait for. Nor does one that has failed because the machine is offline.
    ///
    /// - Parameters:
    ///   - kind: How the attempt before failed; `nil` when it was moved away, or when no server has had to do with it.
    ///   - held: How long the request has waited for a token so far.
    ///   - tried: The servers that were tried.
    ///   - traits: Of the request.
    ///   - now: The time.
    /// - Returns: The time, at least ``BudgetRules/shortestPause``; `nil` when there are tokens, or when none comes back in
    ///   this way: none is out, or the last was granted ``BudgetRules/patience`` ago. Nor when every server fails the
    ///   endpoint.
    package mutating func failoverPause(
        after kind: FailureKind?,
        held: Duration,
        excluding tried: ServerSet,
        for traits: RequestTraits = RequestTraits(),
        at now: MonotonicTime
    ) -> Duration? {
        let time = read(now)
        guard isOfUse(after: kind, of: traits.endpoint, isPaidFor: false, claims: false, at: time) else { return nil }
        guard rules.policy.failsOver, rules.policy.admission != nil, let kind, !isFree(after: kind),
            !clock.isFrozen, failovers.tokens < 1, paidFailovers.mayComeBack(at: time),
            tried.count == 1, allowsAnother(tried), members.count > 1
        else { return nil }
        return Self.pause(after: held)
    }

    /// An eighth of what was waited so far, so that few looks are needed until the deadline.
    static func pause(after waited: Duration) -> Duration { max(BudgetRules.shortestPause, waited / 8) }

    /// Whether a failover takes no token: without admission an empty budget is all that keeps load from servers that have
    /// too much.
    func isFree(after kind: FailureKind?) -> Bool {
        kind?.isWithoutWork == true && rules.policy.admission != nil && rules.policy.budgets.failoverTokens > 0
    }

    /// Whether a request that has taken a token goes on when there is none for another attempt.
    ///
    /// Where two servers die at once, all tokens are out for attempts on the second: if none of those requests went on to
    /// the third, to be answered there and bring its token back, all would fail. Servers that have too much get no more.
    func goesOn(after kind: FailureKind?) -> Bool {
        rules.policy.admission != nil && kind?.isOverload != true
    }

    /// Whether a request that has taken a token for a hedge goes on when there is none for another.
    ///
    /// With a single one under way the tokens are not out, but used up: by servers that are slow, and not by one that has
    /// just died.
    var goesOnHedging: Bool { rules.policy.admission != nil && hedgesUnderWay > 1 }

    /// The failovers that have taken a token and are not settled yet.
    struct PaidFailovers: Sendable {
        private var underWay: UInt32 = 0
        private var lastAt = -1e9

        mutating func begin(at time: Double) {
            underWay &+= 1
            lastAt = time
        }

        mutating func end() {
            if underWay > 0 { underWay -= 1 }
        }

        /// Whether it is worth waiting for their tokens.
        func mayComeBack(at time: Double) -> Bool {
            underWay > 0 && time < lastAt + BudgetRules.patience.inSeconds
        }
    }

    /// The most failover tokens there may be.
    var failoverCapacity: Double { capacity(rules.policy.budgets.failoverTokens) }

    /// The most hedge tokens there may be.
    var hedgeCapacity: Double { capacity(rules.policy.budgets.hedgeTokens) }

    /// When a server dies, all that is under way fails at once: before the first of it is answered elsewhere, and its
    /// token comes back, each needs one of its own.
    private func capacity(_ tokens: Double) -> Double {
        guard rules.policy.budgets.growsWithConcurrency, tokens > 0 else { return tokens }
        return max(tokens, Double(concurrency.most))
    }
}
