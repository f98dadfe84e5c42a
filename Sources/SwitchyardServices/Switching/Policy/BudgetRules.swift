/// The limits of extra attempts, which are failovers and hedges.
///
/// A hedge is a second attempt on another server while the first is slow. There is a budget for failovers and a budget
/// for hedges. An extra attempt costs one token of its budget, and a success earns a fraction of a token. The limits
/// bound the load that failures can add. An empty budget never cancels attempts in flight. A request that the budget
/// has denied checks again while a token may be returned.
///
/// With a policy that has ``SwitchPolicy/admission``, a request that the budget has been charged for may try the
/// remaining servers without another charge. This rule does not apply after overload. While a server is only slow, it
/// applies only if other requests have hedges in flight too.
package struct BudgetRules: Sendable, Hashable {
    /// The minimum time before a request that the budget has denied checks the budget again: 20 ms.
    package static let shortestPause = Duration.milliseconds(20)
    /// The time after the last permitted failover during which other requests wait for its token: 2 s.
    ///
    /// A slower server will hardly help the waiting requests.
    package static let tokenWait = Duration.seconds(2)
    /// The age of a slow attempt after which its request no longer checks for a hedge: 10 s.
    package static let longestCheck = Duration.seconds(10)
    /// The time after which about a third (1/e) of the unused hedge tokens is left: 20 s.
    ///
    /// A client with little traffic could otherwise save tokens and spend all of them at the same time. If a server of
    /// a large fleet is slow for a moment, every client then hedges, and the hedges overload all servers for minutes
    /// (`yard simulate --scenario herd --selection lowestLatency --clients 2000`). A client that sends 10 requests per
    /// second still earns 10 tokens in this time.
    package static let hedgeTokenLife = Duration.seconds(20)
    /// The time that a request must have waited before it is hedged despite an empty hedge budget: 500 ms.
    package static let lentTokenWait = Duration.milliseconds(500)

    /// The maximum and initial number of tokens in the failover budget; default 10, or more if
    /// ``growsWithConcurrency`` is set.
    package var failoverTokens = 10.0
    /// The amount that a success adds to the failover budget; default 0.1.
    package var failoverEarning = 0.1
    /// The number of tokens that a failover costs if it follows overload (timeout, 503, or 429 if it means overload)
    /// and fails as well; default 4.
    ///
    /// Any other failover costs 1. Every failover takes 1 token when it begins, and returns the token if it succeeds or
    /// if the machine is offline. A failover after a refused connection, or after a name that is not found, is free
    /// with a policy that has ``SwitchPolicy/admission``, because no server has done any work yet.
    package var overloadCost = 4.0
    /// The time after which one token returns to the failover budget without successes; default 5 s.
    ///
    /// The time doubles with each token, up to ``longestRefill``.
    package var refill = Duration.seconds(5)
    /// The longest time until the next token returns to the failover budget without successes; default 60 s.
    ///
    /// If the hedge budget is empty, a request that has waited ``lentTokenWait`` may be hedged nevertheless. The next
    /// such hedge is allowed after this time, or immediately if the hedge was useful.
    package var longestRefill = Duration.seconds(60)
    /// The maximum number of tokens in the hedge budget; default 10, or more if ``growsWithConcurrency`` is set.
    ///
    /// A hedge costs 1 token. The token is returned if the hedge responds first and as quickly as usual, or if no
    /// server was involved because the machine is offline. Tokens expire (``hedgeTokenLife``).
    package var hedgeTokens = 10.0
    /// The initial number of tokens in the hedge budget; default 3.
    ///
    /// The number is small because a million mostly idle clients each have this many tokens. A busy client soon earns
    /// more.
    package var firstHedgeTokens = 3.0
    /// The amount that a success adds to the hedge budget; default 0.05.
    package var hedgeEarning = 0.05
    /// Whether the size of a budget may grow to the number of concurrent requests; default `true`.
    ///
    /// Successes have to earn the additional tokens like the others. When a server dies, all its requests fail at the
    /// same time. With fewer tokens than requests, some requests would fail although the next server is healthy. A
    /// budget whose size is 0 does not grow.
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
        try require(overloadCost >= 1, "budgets.overloadCost", "a number of at least 1")
        try require(refill > .zero, "budgets.refill", "a duration above 0")
        try require(longestRefill >= refill, "budgets.longestRefill", "a duration of at least budgets.refill")
    }
}

/// The rules for a hedge: sending a slow request to a second server as well.
///
/// The first response wins. The wait before a hedge is ``factor`` times the 90th percentile of the endpoint's latency,
/// at least ``shortest`` and at most ``deadlineShare`` of the remaining time. While the endpoint's latencies are
/// unknown, the percentile of the server applies. So the slowest tenth of the responses does not change the wait.
///
/// If the endpoint's last 64 latencies are known and 3 % of them exceed a value below ``shortest``, that value replaces
/// ``shortest``, but not below ``earliest``. So a read of a quick endpoint is hedged soon, and healthy reads cost at
/// most 3 % more requests.
package struct HedgingRules: Sendable, Hashable {
    /// The shortest wait, unless the endpoint's latencies are known to be shorter; default 100 ms.
    package var shortest = Duration.milliseconds(100)
    /// The shortest wait for an endpoint with 64 known latencies; default 10 ms.
    package var earliest = Duration.milliseconds(10)
    /// The wait as a multiple of the 90th percentile; default 1.3.
    package var factor = 1.3
    /// The longest wait as a share of the time left, 0...1; default 0.4.
    package var deadlineShare = 0.4
    /// The shortest wait while fewer than 8 responses are known; default 250 ms.
    package var unknown = Duration.milliseconds(250)
    /// The maximum number of pairs of suspicion probes (``SuspicionProbe``) that count against one server; default 8.
    ///
    /// A pair counts against a server if only the other server responds. The count of a server is reset when the server
    /// responds, is ejected (taken out of use for a time) or recovers.
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
