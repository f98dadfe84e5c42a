/// The tokens for extra attempts, and the number of requests and extra attempts in flight.
///
/// An extra attempt is a failover or a hedge. It takes a token, and every success adds tokens (``BudgetRules``).
struct ExtraAttempts: Sendable {
    private let rules: CompiledPolicy
    private(set) var failovers: AttemptBudget
    private(set) var hedges: AttemptBudget
    private var lentHedges = LentTokens()
    private(set) var requests = Concurrency()
    private var paidFailovers = PaidFailovers()
    /// The number of hedges that are not settled yet.
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

    /// Removes a settled attempt from the attempts in flight.
    mutating func release(_ attempt: Attempt) {
        switch attempt.role {
        case .first: requests.end()
        case .failover where !attempt.isFree: paidFailovers.end()
        case .hedge where hedgesUnderWay > 0: hedgesUnderWay -= 1
        default: break
        }
    }

    /// Adds the tokens that a success earns.
    mutating func earn(at time: Double) {
        let budgets = rules.policy.budgets
        failovers.restartRefill(at: time, gap: rules.refill)
        failovers.add(budgets.failoverEarning, capacity: failoverCapacity)
        hedges.add(budgets.hedgeEarning, capacity: hedgeCapacity)
    }

    /// Returns the token of an extra attempt that has succeeded, or that has caused no work on a server.
    mutating func refund(_ attempt: Attempt) {
        switch attempt.role {
        case .failover where !attempt.isFree: failovers.add(1, capacity: failoverCapacity)
        case .hedge: refundHedge()
        default: break
        }
    }

    /// Takes the additional tokens for a failover that followed overload and failed as well
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
    /// Whether a failover takes no token, because the previous attempt caused no server any work.
    ///
    /// Without admission rules every failover takes a token, because an empty budget is then the only protection of
    /// overloaded servers.
    func isFree(after kind: FailureKind?) -> Bool {
        kind?.isWithoutWork == true && rules.policy.admission != nil && rules.policy.budgets.failoverTokens > 0
    }

    /// Whether there is a token for a failover.
    mutating func hasFailoverToken(at time: Double) -> Bool {
        let longest = rules.policy.budgets.longestRefill.inSeconds
        failovers.refill(to: time, capacity: failoverCapacity, longest: longest)
        return failovers.tokens >= 1
    }

    /// Whether a failover may begin: it is free, there is a token, or the request may continue with the token that it
    /// has taken.
    ///
    /// If two of three servers die at the same moment, attempts on the second server take all tokens. If these requests
    /// could not continue to the third server, none of them would succeed and return its token, and all would fail
    /// (`BurstTests`). After overload a request needs a new token.
    mutating func allowsFailover(after kind: FailureKind?, isPaidFor: Bool, at time: Double) -> Bool {
        let hasToken = hasFailoverToken(at: time)
        let goesOn = isPaidFor && rules.policy.admission != nil && kind?.isOverload != true
        return hasToken || goesOn || isFree(after: kind)
    }

    /// Takes the token of a failover, if there is one and the failover is not free.
    mutating func beginFailover(isFree: Bool, at time: Double) {
        guard !isFree else { return }
        _ = failovers.take(1)
        paidFailovers.begin(at: time)
    }

    /// Whether a failover without a token may still get one, because a failover in flight may return its token.
    ///
    /// Without this wait, calls of a burst fail if their server fails, although other servers are healthy
    /// (`BurstTests`).
    func mayGetFailoverToken(at time: Double) -> Bool {
        failovers.tokens < 1 && paidFailovers.mayComeBack(at: time)
    }
}

// MARK: - Hedges

extension ExtraAttempts {
    /// Whether there is a token for a hedge, or the request may continue with the token that it has taken.
    ///
    /// The request may continue only while another hedge is in flight. Without another hedge in flight, the tokens were
    /// used up by slow servers and not by a server that has just died. `BurstTests` needs this rule if two of three
    /// servers hang.
    func allowsHedge(isPaidFor: Bool) -> Bool {
        hedges.tokens >= 1 || (isPaidFor && rules.policy.admission != nil && hedgesUnderWay > 1)
    }

    /// Takes the token of a hedge, if there is one.
    mutating func beginHedge() {
        _ = hedges.take(1)
        hedgesUnderWay &+= 1
    }

    /// Takes a hedge token for suspicion probes.
    ///
    /// Returns `false` if there is none.
    mutating func takeSuspicionToken() -> Bool { hedges.take(1) }

    /// Returns the token of a hedge that was useful.
    mutating func refundHedge() {
        hedges.add(1, capacity: hedgeCapacity)
        lentHedges.restart()
    }

    /// Adds a hedge token if there is none and an attempt has waited at least ``BudgetRules/refill``.
    ///
    /// A shorter wait is not enough, because if servers are overloaded, the extra attempts of all clients would
    /// increase the load.
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
    /// The maximum number of failover tokens.
    var failoverCapacity: Double { capacity(rules.policy.budgets.failoverTokens) }

    /// The maximum number of hedge tokens.
    var hedgeCapacity: Double { capacity(rules.policy.budgets.hedgeTokens) }

    /// Returns the capacity of a budget, which is at least the highest number of concurrent requests so far.
    ///
    /// When a server dies, all its requests fail at the same time. Each of them needs its own token before the first
    /// request succeeds on another server and returns its token.
    private func capacity(_ tokens: Double) -> Double {
        guard rules.policy.budgets.growsWithConcurrency, tokens > 0 else { return tokens }
        return max(tokens, Double(requests.most))
    }

    /// The number of requests for which a server has been chosen and that are not settled yet.
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

        /// Whether a token may be returned soon: a failover is in flight, and the last failover began less than
        /// ``BudgetRules/patience`` ago.
        func mayComeBack(at time: Double) -> Bool {
            underWay > 0 && time < lastAt + BudgetRules.patience.inSeconds
        }
    }
}
