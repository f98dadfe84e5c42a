/// The limits of extra attempts: a failover or a hedge costs a token, and successes earn fractions of a token.
///
/// The limits bound the load that failures can add. An empty budget never cancels attempts in flight, and a request
/// that was denied a token asks again while a token may be returned.
///
/// With a policy that has ``SwitchPolicy/admission``, a request that has taken a token may try the remaining servers
/// without another token. This rule does not apply after overload. While a server is only slow, it applies only if
/// other requests have hedges in flight too.
package struct BudgetRules: Sendable, Hashable {
    /// The shortest time until a request that was denied a token asks for one again: 20 ms.
    package static let shortestPause = Duration.milliseconds(20)
    /// The time after the last granted failover during which others wait for its token: 2 s.
    ///
    /// A slower server will hardly help the waiting requests.
    package static let patience = Duration.seconds(2)
    /// The time after which a slow attempt's request no longer asks for a hedge: 10 s.
    package static let longestCheck = Duration.seconds(10)

    /// The maximum and initial number of failover tokens; default 10, and more by ``growsWithConcurrency``.
    package var failoverTokens = 10.0
    /// The amount that a success adds to the failover tokens; default 0.1.
    package var failoverEarning = 0.1
    /// The cost of a failover after overload (timeout, 503, or 429 if it means overload) that fails as well; default 4.
    ///
    /// Any other failover costs 1. It takes 1 token when it begins, and returns the token if it succeeds or if the
    /// machine is offline. A failover after a refused connection, or after a name that is not found, is free with a
    /// policy that has ``SwitchPolicy/admission``, because no server has done any work yet.
    package var overloadCost = 4.0
    /// The time after which one failover token returns without successes; default 5 s.
    ///
    /// The time doubles with each token, up to ``longestRefill``. If there is no hedge token, a request that has waited
    /// this long may be hedged without a token. The next such hedge is allowed after the same time, then after twice
    /// the time, and so on, until a hedge was useful.
    package var refill = Duration.seconds(5)
    /// The longest time to the next token; default 60 s.
    package var longestRefill = Duration.seconds(60)
    /// The maximum number of hedge tokens; default 10, or more if ``growsWithConcurrency`` is set.
    ///
    /// A hedge costs 1 token. The token is returned if the hedge responds first, or if no server was involved because
    /// the machine is offline.
    package var hedgeTokens = 10.0
    /// The initial number of hedge tokens; default 3.
    ///
    /// The number is small because a million mostly idle clients all hold that many tokens. A busy client soon earns
    /// more.
    package var firstHedgeTokens = 3.0
    /// The number of hedge tokens that a success earns; default 0.05.
    package var hedgeEarning = 0.05
    /// Whether the number of tokens may grow to the number of concurrent requests; default `true`.
    ///
    /// Successes have to earn the additional tokens like the others. When a server dies, all its requests fail at once.
    /// With fewer tokens than requests, some requests would fail although the next server is healthy. If the number of
    /// tokens is 0, there are none in any case.
    package var growsWithConcurrency = true

    /// Creates the rules of the recommended policy.
    package init() {}

    func check() throws(SwitchPolicy.Problem) {
        let numbers = [
            ("failoverTokens", failoverTokens), ("failoverEarning", failoverEarning), ("overloadCost", overloadCost),
            ("hedgeTokens", hedgeTokens), ("firstHedgeTokens", firstHedgeTokens), ("hedgeEarning", hedgeEarning),
        ]
        for (key, number) in numbers {
            try require(number >= 0 && number <= 1e6, "budgets.\(key)", "a number within 0...1000000")
        }
        try require(overloadCost >= 1, "budgets.overloadCost", "at least 1")
        try require(refill > .zero, "budgets.refill", "a duration above 0")
        try require(longestRefill >= refill, "budgets.longestRefill", "at least budgets.refill")
    }
}

/// The rules for sending a slow request to a second server as well.
///
/// The first response wins. The wait is ``factor`` times the 90th percentile of the endpoint, or of the server while
/// the endpoint's latencies are unknown, at least ``shortest`` and at most ``deadlineShare`` of the remaining time. So
/// the wait follows the bulk of the responses, and a slow tail of up to a tenth does not move it.
///
/// If the endpoint's last 64 latencies are known, ``shortest`` yields to the latency that 3 % of them exceed, but not
/// below ``earliest``: a quick endpoint is hedged soon, and its healthy reads cost at most 3 % more requests.
package struct HedgingRules: Sendable, Hashable {
    /// The shortest wait, unless the endpoint's latencies are known to be shorter; default 100 ms.
    package var shortest = Duration.milliseconds(100)
    /// The shortest wait for an endpoint whose latencies are known; default 10 ms.
    package var earliest = Duration.milliseconds(10)
    /// The wait as a multiple of the 90th percentile; default 1.3.
    package var factor = 1.3
    /// The longest wait as a share of the time left, 0...1; default 0.4.
    package var deadlineShare = 0.4
    /// The shortest wait while fewer than 8 responses are known; default 250 ms.
    package var unknown = Duration.milliseconds(250)
    /// The maximum rounds of suspicion probes (``SuspicionProbe``) for one slow request that must not be repeated;
    /// default 8.
    package var suspicionRounds = 8

    /// Creates the rules of the recommended policy.
    package init() {}

    func check() throws(SwitchPolicy.Problem) {
        try require(shortest >= .zero, "hedging.shortest", "a duration of at least 0")
        try require(earliest >= .zero, "hedging.earliest", "a duration of at least 0")
        try require(unknown >= .zero, "hedging.unknown", "a duration of at least 0")
        try require(factor >= 0 && factor.isFinite, "hedging.factor", "a number of at least 0")
        try require((0...1).contains(deadlineShare), "hedging.deadlineShare", "a number within 0...1")
        try require((0...100).contains(suspicionRounds), "hedging.suspicionRounds", "a number within 0...100")
    }
}
