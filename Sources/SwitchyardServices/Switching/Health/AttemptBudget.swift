#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The budget for failovers or hedges (``BudgetRules``).
///
/// Each costs one token of the budget.
struct AttemptBudget: Sendable {
    /// The number of tokens that are left.
    private(set) var tokens: Double
    private var lastRefill: Double
    private var gap: Double
    private var expiredAt: Double

    init(tokens: Double, gap: Double, at now: Double) {
        self.tokens = tokens
        lastRefill = now
        self.gap = gap
        expiredAt = now
    }

    /// Takes `cost` tokens.
    ///
    /// If fewer are left, takes none and returns `false`.
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

    /// Removes the tokens that have expired: after `life` seconds, about a third (1/e) of the tokens is left.
    ///
    /// Tokens expire in steps of at least a second, so that calls that start together find all tokens.
    mutating func expire(at now: Double, life: Double) {
        let elapsed = now - expiredAt
        guard elapsed >= 1 else { return }
        expiredAt = now
        tokens *= exp(-elapsed / life)
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

/// Additional tokens for an empty hedge budget, with a gap between them until one of the hedges was useful.
///
/// A hedge is a second attempt on another server while the first is slow. Without these tokens, a client with little
/// traffic would earn no tokens, and its requests to a hanging server would wait for their deadlines, as in the random
/// scenarios 11235 and 16969 of `yard simulate worlds`.
struct LentTokens: Sendable {
    private var dueAt = -Double.infinity

    /// Returns whether a token is available now and, if so, makes the next one available after `gap` seconds.
    mutating func take(at now: Double, gap: Double) -> Bool {
        guard now >= dueAt else { return false }
        dueAt = now + gap
        return true
    }

    /// Makes the next token available immediately, because a hedge was useful.
    mutating func restart() { dueAt = -.infinity }
}
