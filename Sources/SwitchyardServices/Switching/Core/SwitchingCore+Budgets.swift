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
    public mutating func failoverPause(
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
