/// The budgets for extra attempts, and the number of requests and extra attempts in flight.
///
/// An extra attempt is a failover or a hedge (a second attempt on another server while the first is slow). Each costs
/// one token of its budget, and every success adds a fraction of a token (``BudgetRules``).
struct ExtraAttempts: Sendable {
    private let rules: CompiledPolicy
    private(set) var failovers: AttemptBudget
    private(set) var hedges: AttemptBudget
    private var lentHedges = LentTokens()
    private(set) var requests = Concurrency()
    private var paidFailovers = PaidFailovers()
    /// The number of hedges whose outcome has not been reported.
    private var hedgesUnderWay: UInt32 = 0

    init(_ rules: CompiledPolicy, at time: Double) {
        self.rules = rules
        let budgets = rules.policy.budgets
        failovers = AttemptBudget(tokens: budgets.failoverTokens, gap: rules.refill, at: time)
        let tokens = min(budgets.firstHedgeTokens, budgets.hedgeTokens)
        hedges = AttemptBudget(tokens: tokens, gap: rules.refill, at: time)
    }

    /// Counts a request whose first server has been chosen.
    mutating func beginRequest() { requests.begin() }

    /// Removes an attempt whose outcome was reported from the attempts in flight.
    mutating func release(_ attempt: Attempt) {
        switch attempt.role {
        case .first: requests.end()
        case .failover where !attempt.isFree: paidFailovers.end()
        case .hedge where hedgesUnderWay > 0: hedgesUnderWay -= 1
        default: break
        }
    }

    /// Adds the fraction of a token that a success earns to each budget.
    mutating func earn(at time: Double) {
        let budgets = rules.policy.budgets
        failovers.restartRefill(at: time, gap: rules.refill)
        failovers.add(budgets.failoverEarning, capacity: failoverCapacity)
        expireHedges(at: time)
        hedges.add(budgets.hedgeEarning, capacity: hedgeCapacity)
    }

    /// Returns the token of an extra attempt to its budget, because the attempt got the response, or because it says
    /// nothing about the server and the server is not working on the request (``AttemptOutcome/neutral``).
    mutating func refund(_ attempt: Attempt) {
        switch attempt.role {
        case .failover where !attempt.isFree: failovers.add(1, capacity: failoverCapacity)
        case .hedge: refundHedge()
        default: break
        }
    }

    /// Charges the failover budget again for a failover that followed overload and failed as well
    /// (``BudgetRules/overloadCost``).
    mutating func chargeFailure(of settled: SettledAttempt) {
        guard case .failure = settled.outcome, settled.attempt.followsOverload, rules.policy.admission != nil else {
            return
        }
        failovers.charge(rules.policy.budgets.overloadCost - 1)
    }
}

// MARK: - Failovers

extension ExtraAttempts {
    /// Whether a failover costs the budget nothing, because the previous attempt caused no server any work.
    ///
    /// Without admission rules every failover costs a token, because an empty budget is then the only protection of
    /// overloaded servers.
    func isFree(after kind: FailureKind?) -> Bool {
        kind?.isWithoutWork == true && rules.policy.admission != nil && rules.policy.budgets.failoverTokens > 0
    }

    /// Whether the failover budget has a token.
    mutating func hasFailoverToken(at time: Double) -> Bool {
        let longest = rules.policy.budgets.longestRefill.inSeconds
        failovers.refill(to: time, capacity: failoverCapacity, longest: longest)
        return failovers.tokens >= 1
    }

    /// Whether the failover budget permits a failover.
    ///
    /// The result is `true` if the failover is free, if a token is left, or if the request has already been charged for
    /// and no overload has occurred. If two of three servers die at the same moment, attempts on the second server take
    /// all tokens. If these requests could not continue to the third server, none of them would succeed and return its
    /// token, and all would fail (`BurstTests`). After overload a request needs a new token.
    mutating func allowsFailover(after kind: FailureKind?, isPaidFor: Bool, at time: Double) -> Bool {
        let hasToken = hasFailoverToken(at: time)
        let goesOn = isPaidFor && rules.policy.admission != nil && kind?.isOverload != true
        return hasToken || goesOn || isFree(after: kind)
    }

    /// Charges the failover budget for a failover that is not free, if a token is left.
    mutating func beginFailover(isFree: Bool, at time: Double) {
        guard !isFree else { return }
        _ = failovers.take(1)
        paidFailovers.begin(at: time)
    }

    /// Whether a failover that the budget has denied may be permitted soon, because a failover in flight may return its
    /// token.
    ///
    /// Without this wait, calls of a burst fail if their server fails, although other servers are healthy
    /// (`BurstTests`).
    func mayGetFailoverToken(at time: Double) -> Bool {
        failovers.tokens < 1 && paidFailovers.mayComeBack(at: time)
    }
}

// MARK: - Hedges

extension ExtraAttempts {
    /// Removes the expired tokens of the hedge budget (``BudgetRules/hedgeTokenLife``).
    mutating func expireHedges(at time: Double) {
        if let life = rules.hedgeTokenLife { hedges.expire(at: time, life: life) }
    }

    /// Whether the hedge budget permits a hedge.
    ///
    /// The result is `true` if a token is left, or if the request has already been charged for and another hedge is in
    /// flight. If no other hedge is in flight, the tokens were used up because of slow servers and not because a server
    /// has just died. The rule helps if two of three servers hang at the same moment (`BurstTests`).
    func allowsHedge(isPaidFor: Bool) -> Bool {
        hedges.tokens >= 1 || (isPaidFor && rules.policy.admission != nil && hedgesUnderWay > 1)
    }

    /// Charges the hedge budget for a hedge, if a token is left.
    mutating func beginHedge() {
        _ = hedges.take(1)
        hedgesUnderWay &+= 1
    }

    /// Charges the hedge budget for suspicion probes (``SuspicionProbe``).
    ///
    /// Returns `false` if no token is left.
    mutating func takeSuspicionToken() -> Bool { hedges.take(1) }

    /// Returns the token of suspicion probes that were not sent or prove nothing.
    mutating func returnSuspicionToken() { hedges.add(1, capacity: hedgeCapacity) }

    /// Returns the token of a useful hedge to the hedge budget.
    mutating func refundHedge() {
        hedges.add(1, capacity: hedgeCapacity)
        lentHedges.restart()
    }

    /// Adds a token to an empty hedge budget if an attempt has waited at least ``BudgetRules/lentTokenWait``.
    ///
    /// A shorter wait is not enough: if servers are busy, the extra attempts of all clients would overload them.
    ///
    /// The next token is added after ``BudgetRules/longestRefill`` at the earliest, or sooner if a hedge was useful.
    mutating func lendHedge(after waited: Duration, at time: Double) {
        let budgets = rules.policy.budgets
        expireHedges(at: time)
        guard hedges.tokens < 1, budgets.hedgeTokens >= 1, waited >= BudgetRules.lentTokenWait,
            lentHedges.take(at: time, gap: budgets.longestRefill.inSeconds)
        else { return }
        hedges.add(1, capacity: hedgeCapacity)
    }
}

// MARK: - Capacity

extension ExtraAttempts {
    /// The maximum number of tokens in the failover budget.
    var failoverCapacity: Double { capacity(rules.policy.budgets.failoverTokens) }

    /// The maximum number of tokens in the hedge budget.
    var hedgeCapacity: Double { capacity(rules.policy.budgets.hedgeTokens) }

    /// Returns the capacity of a budget, which is at least the highest number of concurrent requests so far.
    ///
    /// When a server dies, all its requests fail at the same time. Each of them needs a token before the first request
    /// succeeds on another server and returns its token.
    private func capacity(_ tokens: Double) -> Double {
        guard rules.policy.budgets.growsWithConcurrency, tokens > 0 else { return tokens }
        return max(tokens, Double(requests.most))
    }

    /// The number of requests for which a server has been chosen and whose outcomes have not been reported.
    struct Concurrency: Sendable {
        private var underWay: UInt32 = 0
        /// The highest number of concurrent requests so far.
        private(set) var most: UInt32 = 0

        mutating func begin() {
            underWay &+= 1
            most = max(most, underWay)
        }

        mutating func end() {
            if underWay > 0 { underWay -= 1 }
        }
    }

    /// The failovers in flight that the failover budget was charged for.
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

        /// Whether a token may soon be returned to the failover budget.
        ///
        /// The result is `true` if a failover is in flight and the last failover began less than
        /// ``BudgetRules/tokenWait`` ago.
        func mayComeBack(at time: Double) -> Bool {
            underWay > 0 && time < lastAt + BudgetRules.tokenWait.inSeconds
        }
    }
}
