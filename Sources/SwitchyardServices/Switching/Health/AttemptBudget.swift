/// The tokens that pay for extra attempts (``BudgetRules``).
struct AttemptBudget: Sendable {
    /// The tokens that are left.
    private(set) var tokens: Double
    private var lastRefill: Double
    private var gap: Double

    init(tokens: Double, gap: Double, at now: Double) {
        self.tokens = tokens
        lastRefill = now
        self.gap = gap
    }

    /// Takes `cost` tokens, if there are as many.
    mutating func take(_ cost: Double) -> Bool {
        guard tokens >= cost else { return false }
        tokens -= cost
        return true
    }

    /// Takes `amount` tokens, or as many as there are.
    mutating func charge(_ amount: Double) {
        tokens = max(0, tokens - amount)
    }

    /// Returns tokens, or adds the earnings of a success.
    mutating func add(_ amount: Double, capacity: Double) {
        tokens = min(capacity, tokens + amount)
    }

    /// Adds the tokens that come back without successes, one by one with doubling gaps.
    mutating func refill(to now: Double, capacity: Double, longest: Double) {
        let waits = ((now - lastRefill) / longest).rounded(.down)
        if waits > capacity + 64 {
            // After such a long sleep the budget is full.
            lastRefill += waits * longest
            gap = longest
            tokens = capacity
        }
        while now - lastRefill >= gap {
            // The gap is shorter than the resolution of the clock.
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

/// The tokens that an empty budget lends, with doubling gaps, until one of them was useful.
///
/// Without them, a client that has spent its tokens in vain and then meets a hanging server would earn no others, and
/// its requests would wait for their deadlines, as in the worlds 11235 and 16969 of `yard simulate worlds`.
struct LentTokens: Sendable {
    private var gap: Double?
    private var dueAt = -1e9

    /// Whether one is lent now.
    mutating func take(at now: Double, first: Double, longest: Double) -> Bool {
        guard now >= dueAt else { return false }
        let next = gap.map { min(longest, $0 * 2) } ?? first
        gap = next
        dueAt = now + next
        return true
    }

    /// Restarts after a useful token.
    mutating func restart() {
        gap = nil
    }
}
