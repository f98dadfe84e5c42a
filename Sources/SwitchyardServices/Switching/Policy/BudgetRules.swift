/// How many extra attempts may be made: a failover or a hedge costs a token, successes earn fractions of one.
///
/// That bounds the load that failures can add. An empty budget never cancels what is under way, and a request that was
/// denied a token asks again while one may come back. With a policy that has ``SwitchPolicy/admission`` a request that has
/// taken one goes on to the servers that are left when there is no other, except after overload, and beside a slow server
/// only while other requests have hedges under way too.
public struct BudgetRules: Sendable, Hashable {
    /// The shortest time until a request that was denied a token asks for one again: 20 ms.
    public static let shortestPause = Duration.milliseconds(20)
    /// How long after the last failover was granted others wait for its token to come back: 2 s.
    ///
    /// A server that takes longer will hardly help those who wait for it.
    public static let patience = Duration.seconds(2)
    /// How long an attempt may have waited for its request to ask again for a second server: 10 s.
    public static let longestLook = Duration.seconds(10)

    /// The most failover tokens, and how many there are at first; default 10, and more as ``growsWithConcurrency`` says.
    public var failoverTokens = 10.0
    /// What a success adds to the failover tokens; default 0.1.
    public var failoverEarning = 0.1
    /// What a failover after overload (time-out, 503, or 429 where that means overload) costs if it fails as well; default 4.
    ///
    /// Any other costs 1. A failover takes 1 when it is made, which comes back when it succeeds, and when no server has
    /// had to do with it because the machine is offline. One after a refused connection, or a name that is not found,
    /// costs nothing with a policy that has ``SwitchPolicy/admission``: no server has had any work yet.
    public var overloadCost = 4.0
    /// Without successes one failover token comes back after this time; default 5 s.
    ///
    /// The time doubles each time, up to ``longestRefill``. A hedge token is lent for a request that has waited so long
    /// when there is none, the next after this time, and so on until a hedge was of use.
    public var refill = Duration.seconds(5)
    /// The longest time to the next token; default 60 s.
    public var longestRefill = Duration.seconds(60)
    /// The most hedge tokens; default 10, and more as ``growsWithConcurrency`` says.
    ///
    /// A hedge costs 1, which comes back when the hedge answers first, and when no server has had to do with it because
    /// the machine is offline.
    public var hedgeTokens = 10.0
    /// How many hedge tokens there are at first; default 3.
    ///
    /// Few, because a million clients that hardly send anything hold them all; a busy client soon earns the others.
    public var firstHedgeTokens = 3.0
    /// What a success adds to the hedge tokens; default 0.05.
    public var hedgeEarning = 0.05
    /// Whether there may be as many tokens as requests have been under way at a time, where that is more; default `true`.
    ///
    /// They have to be earned like the others. When a server dies, all that is under way there fails at once: with fewer
    /// tokens than requests some of them would fail for their callers although the next server is well. Without tokens,
    /// at 0, there are none either way.
    public var growsWithConcurrency = true

    /// Creates the rules of the recommended policy.
    public init() {}

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

/// When a request that has not been answered is sent to a second server as well.
///
/// The first answer wins. The wait is ``factor`` times the 90th percentile of the endpoint, or of the server while the
/// endpoint is not known, at least ``shortest`` and at most ``deadlineShare`` of the time that the request has left: so
/// the wait follows the bulk of the answers, and a slow tail of up to a tenth does not move it.
public struct HedgingRules: Sendable, Hashable {
    /// The shortest wait; default 100 ms.
    public var shortest = Duration.milliseconds(100)
    /// The wait as a multiple of the 90th percentile; default 1.3.
    public var factor = 1.3
    /// The longest wait as a share of the time left, 0...1; default 0.4.
    public var deadlineShare = 0.4
    /// The shortest wait while fewer than 8 answers are known; default 250 ms.
    public var unknown = Duration.milliseconds(250)
    /// The rounds of suspicion probes that one slow request that must not be repeated can set off; default 8.
    public var suspicionRounds = 8

    /// Creates the rules of the recommended policy.
    public init() {}

    func check() throws(SwitchPolicy.Problem) {
        try require(shortest >= .zero, "hedging.shortest", "a duration of at least 0")
        try require(unknown >= .zero, "hedging.unknown", "a duration of at least 0")
        try require(factor >= 0 && factor.isFinite, "hedging.factor", "a number of at least 0")
        try require((0...1).contains(deadlineShare), "hedging.deadlineShare", "a number within 0...1")
        try require((0...100).contains(suspicionRounds), "hedging.suspicionRounds", "a number within 0...100")
    }
}
