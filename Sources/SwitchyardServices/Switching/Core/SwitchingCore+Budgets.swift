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
