/// The budget for failovers or hedges (``BudgetRules``).
///
/// Each costs one token of the budget.
struct AttemptBudget: Sendable {
    /// The number of tokens that are left.
    private(set) var tokens: Double
    private var lastRefill: Double
    private var gap: Double

    init(tokens: Double, gap: Double, at now: Double) {
        self.tokens = tokens
        lastRefill = now
        self.gap = gap
    }

    /// Takes `cost` tokens, or none and returns `false` if fewer are left.
    mutating func take(_ cost: Double) -> Bool {
        guard tokens >= cost else { return false }
        tokens -= cost
        return true
    }

    /// Takes `amount` tokens, or all that are left if there are fewer.
    mutating func charge(_ amount: Double) {
        tokens = max(0, tokens - amount)
    }

    /// Adds tokens that are returned, or that a success earns.
    mutating func add(_ amount: Double, capacity: Double) {
        tokens = min(capacity, tokens + amount)
    }

    /// Adds the tokens that return to the budget as time passes, without successes: one token at a time, after gaps
    /// that double.
    mutating func refill(to now: Double, capacity: Double, longest: Double) {
        let waits = ((now - lastRefill) / longest).rounded(.down)
        if waits > capacity + 64 {
            // After such a long time without a refill, the budget is full.
            lastRefill += waits * longest
            gap = longest
            tokens = capacity
        }
        while now - lastRefill >= gap {
            // The gap is shorter than the resolution of the clock, so it cannot be added.
            guard lastRefill + gap > lastRefill else { return lastRefill = now }
            lastRefill += gap
            add(1, capacity: capacity)
            gap = min(longest, gap * 2)
        }
    }

    /// Restarts the refill after a success.
    mutating func restartRefill(at now: Double, gap: Double) {
        self.gap = gap
        lastRefill = now
    }
}

/// Additional tokens for an empty hedge budget, with doubling gaps between them until one of the hedges was useful.
///
/// A hedge is a second attempt on another server while the first is slow. Without these tokens, a client that has used
/// up its budget without success and then meets a hanging server would earn no tokens. Its requests would wait for
/// their deadlines, as in the random scenarios 11235 and 16969 of `yard simulate worlds`.
struct LentTokens: Sendable {
    private var gap: Double?
    private var dueAt = -1e9

    /// Returns whether a token is available now and, if so, plans the next token.
    mutating func take(at now: Double, first: Double, longest: Double) -> Bool {
        guard now >= dueAt else { return false }
        let next = gap.map { min(longest, $0 * 2) } ?? first
        gap = next
        dueAt = now + next
        return true
    }

    /// Restarts the gaps because a hedge was useful.
    mutating func restart() {
        gap = nil
    }
}
