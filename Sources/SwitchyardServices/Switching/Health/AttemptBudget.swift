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

    /// Gives tokens back, or adds what a success earns.
    mutating func add(_ amount: Double, capacity: Double) {
        tokens = min(capacity, tokens + amount)
    }

    /// Adds the tokens that come back without successes, one by one with doubling gaps.
    mutating func refill(to now: Double, capacity: Double, longest: Double) {
        let waits = ((now - lastRefill) / longest).rounded(.down)
        if waits > capacity + 64 {
            // Whoever slept that long finds the budget full.
            lastRefill += waits * longest
            gap = longest
            tokens = capacity
        }
        while now - lastRefill >= gap {
            // A gap too short for the clock to tell.
            guard lastRefill + gap > lastRefill else { return lastRefill = now }
            lastRefill += gap
            add(1, capacity: capacity)
            gap = min(longest, gap * 2)
        }
    }

    /// Starts the refill anew after a success.
    mutating func restartRefill(at now: Double, gap: Double) {
        self.gap = gap
        lastRefill = now
    }
}

/// The tokens that a budget lends when it is empty, with doubling gaps, until one of them was of use.
///
/// Without them a client that has spent its tokens in vain, and then meets a server that hangs, would earn no other: what
/// waits there waits for its deadline.
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

    /// Starts anew: a token was of use.
    mutating func restart() {
        gap = nil
    }
}
