/// The tokens that pay for failovers and hedges, and the requests and extra attempts under way that tokens depend on.
struct ExtraAttempts: Sendable {
    private let rules: CompiledPolicy
    private(set) var failovers: AttemptBudget
    private(set) var hedges: AttemptBudget
    private var lentHedges = LentTokens()
    private(set) var requests = Concurrency()
    private var paidFailovers = PaidFailovers()
    /// The hedges that are not settled yet.
    private var hedgesUnderWay: UInt32 = 0

    init(_ rules: CompiledPolicy, at time: Double) {
        self.rules = rules
        let budgets = rules.policy.budgets
        failovers = AttemptBudget(tokens: budgets.failoverTokens, gap: rules.refill, at: time)
        let tokens = min(budgets.firstHedgeTokens, budgets.hedgeTokens)
        hedges = AttemptBudget(tokens: tokens, gap: rules.refill, at: time)
    }

    /// Counts a request that has been chosen a server.
    mutating func beginRequest() { requests.begin() }

    /// Removes a settled attempt from those under way.
    mutating func release(_ attempt: Attempt) {
        switch attempt.role {
        case .first: requests.end()
        case .failover where !attempt.isFree: paidFailovers.end()
        case .hedge where hedgesUnderWay > 0: hedgesUnderWay -= 1
        default: break
        }
    }

    /// Adds what a success earns.
    mutating func earn(at time: Double) {
        let budgets = rules.policy.budgets
        failovers.restartRefill(at: time, gap: rules.refill)
        failovers.add(budgets.failoverEarning, capacity: failoverCapacity)
        hedges.add(budgets.hedgeEarning, capacity: hedgeCapacity)
    }

    /// Returns the cost of an extra attempt after it has succeeded or leaves no server at work.
    mutating func refund(_ attempt: Attempt) {
        switch attempt.role {
        case .failover where !attempt.isFree: failovers.add(1, capacity: failoverCapacity)
        case .hedge: refundHedge()
        default: break
        }
    }

    /// Charges a failover that followed overload, and failed as well, with the rest of its price.
    mutating func chargeFailure(of settled: SettledAttempt) {
        guard case .failure = settled.outcome, settled.attempt.followsOverload, rules.policy.admission != nil else {
            return
        }
        failovers.charge(rules.policy.budgets.overloadCost - 1)
    }
}

// MARK: - Failovers

extension ExtraAttempts {
    /// Whether a failover takes no token: without admission an empty budget is all that keeps load from servers that
    /// have too much.
    func isFree(after kind: FailureKind?) -> Bool {
        kind?.isWithoutWork == true && rules.policy.admission != nil && rules.policy.budgets.failoverTokens > 0
    }

    /// Whether there is a token for a failover.
    mutating func hasFailoverToken(at time: Double) -> Bool {
        let longest = rules.policy.budgets.longestRefill.inSeconds
        failovers.refill(to: time, capacity: failoverCapacity, longest: longest)
        return failovers.tokens >= 1
    }

    /// Whether a failover is free, has a token, or continues with the one that its request has taken.
    ///
    /// If two servers die at once, all tokens are taken by attempts on the second. If none of these requests continued
    /// to the third server, to succeed there and return its token, all would fail (`BurstTests`: two servers of three
    /// fail). Overloaded servers get no further requests.
    mutating func allowsFailover(after kind: FailureKind?, isPaidFor: Bool, at time: Double) -> Bool {
        let hasToken = hasFailoverToken(at: time)
        let goesOn = isPaidFor && rules.policy.admission != nil && kind?.isOverload != true
        return hasToken || goesOn || isFree(after: kind)
    }

    /// Takes the token of a failover; none if there is none, or if the failover is free.
    mutating func beginFailover(isFree: Bool, at time: Double) {
        guard !isFree else { return }
        _ = failovers.take(1)
        paidFailovers.begin(at: time)
    }

    /// Whether a failover that was denied a token may get one back from the failovers under way.
    ///
    /// Without this wait, calls of a burst fail when their server fails, although others are healthy (`BurstTests`).
    func mayGetFailoverToken(at time: Double) -> Bool {
        failovers.tokens < 1 && paidFailovers.mayComeBack(at: time)
    }
}

// MARK: - Hedges

extension ExtraAttempts {
    /// Whether there is a token for a hedge, or the request that has taken one may continue without.
    ///
    /// With a single hedge in flight the tokens are not taken but used up, by slow servers and not by one that has just
    /// died. `BurstTests` need it if two servers of three hang.
    func allowsHedge(isPaidFor: Bool) -> Bool {
        hedges.tokens >= 1 || (isPaidFor && rules.policy.admission != nil && hedgesUnderWay > 1)
    }

    /// Takes the token of a hedge, or none if there is none.
    mutating func beginHedge() {
        _ = hedges.take(1)
        hedgesUnderWay &+= 1
    }

    /// Takes a hedge token for suspicion probes, if there is one.
    mutating func takeSuspicionToken() -> Bool { hedges.take(1) }

    /// Gives the token of a hedge back that was of use.
    mutating func refundHedge() {
        hedges.add(1, capacity: hedgeCapacity)
        lentHedges.restart()
    }

    /// Lends a hedge token to an attempt that has waited long if there is no token.
    ///
    /// A shorter wait is no reason, because in a fleet with overloaded servers each client would add its part of the
    /// load.
    mutating func lendHedge(after waited: Duration, at time: Double) {
        let budgets = rules.policy.budgets
        guard hedges.tokens < 1, budgets.hedgeTokens >= 1, waited >= budgets.refill,
            lentHedges.take(at: time, first: rules.refill, longest: budgets.longestRefill.inSeconds)
        else { return }
        hedges.add(1, capacity: hedgeCapacity)
    }
}

// MARK: - Capacity

extension ExtraAttempts {
    /// The most failover tokens there may be.
    var failoverCapacity: Double { capacity(rules.policy.budgets.failoverTokens) }

    /// The most hedge tokens there may be.
    var hedgeCapacity: Double { capacity(rules.policy.budgets.hedgeTokens) }

    /// When a server dies, all its requests fail at once: each needs its own token before the first of them succeeds
    /// elsewhere and returns its token.
    private func capacity(_ tokens: Double) -> Double {
        guard rules.policy.budgets.growsWithConcurrency, tokens > 0 else { return tokens }
        return max(tokens, Double(requests.most))
    }

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

    /// The failovers that have taken a token and are not settled yet.
    private struct PaidFailovers: Sendable {
        private var underWay: UInt32 = 0
        private var lastAt = -1e9

        mutating func begin(at time: Double) {
            underWay &+= 1
            lastAt = time
        }

        mutating func end() {
            if underWay > 0 { underWay -= 1 }
        }

        /// Whether waiting for the tokens is useful.
        func mayComeBack(at time: Double) -> Bool {
            underWay > 0 && time < lastAt + BudgetRules.patience.inSeconds
        }
    }
}
