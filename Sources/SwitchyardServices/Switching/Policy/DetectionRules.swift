/// What makes a server count as failing.
///
/// Any of the detectors that are set is enough; each looks only at attempts that went to that server, in its present
/// generation.
public struct DetectionRules: Sendable, Hashable {
    /// The accumulated score (CUSUM); `nil`: not used.
    public var score: ScoreRule? = ScoreRule()
    /// The error ratio; `nil`: not used.
    public var ratio: RatioRule? = RatioRule(confidenceFloor: 0.05)
    /// Failures in a row, 1 to 65535; `nil`: not used, which is the default.
    public var consecutive: Int?
    /// Being overtaken by hedges; `nil`: that is a failure like others.
    public var lateness: LatenessRule? = LatenessRule()
    /// Whether a failure needs another server that does better with the same endpoint; default yes.
    ///
    /// Then an endpoint that fails on every server is held against none, and soon costs no extra attempts. It concerns
    /// failures behind the connection, and policies that fail over (``SwitchPolicy/failsOver``): who repeats no request
    /// elsewhere has no witness.
    public var perEndpoint = true
    /// The outcomes that the ratio and the statistics look at.
    public var window = WindowRule()
    /// Which failures count; default all.
    public var kinds = CountedKinds.all
    /// Whether the ratio and the row count failures whose path is not proven; default no.
    ///
    /// A path is proven by an HTTP answer, by another server that answered the same request, or by any success within
    /// ``pathProof``. Without that it is as likely the network that failed, and no server is blamed.
    public var countsUnproven = false
    /// How long any server's success proves that the network works; default 2 s.
    public var pathProof = Duration.seconds(2)
    /// How long after a change of network path outcomes say nothing; default 2 s.
    public var quietAfterPathChange = Duration.seconds(2)
    /// Whether a switch starts a fresh window for the server switched to, whatever caused it; default yes.
    public var startsFreshWindow = true

    /// Creates the rules of the recommended policy.
    public init() {}

    func check() throws(SwitchPolicy.Problem) {
        try window.check()
        try score?.check()
        try ratio?.check(within: window)
        try lateness?.check()
        try require((1...65_535).contains(consecutive ?? 1), "consecutiveFailures", "a number within 1 to 65535")
        try require(pathProof >= .zero, "pathProof", "a duration of at least 0")
        try require(quietAfterPathChange >= .zero, "quietAfterPathChange", "a duration of at least 0")
    }
}

/// Which failures count against a server.
public enum CountedKinds: Sendable, Hashable {
    /// Every failure that an `AttemptOutcome` can carry.
    case all
    /// Only those that the published rule suspects: whatever went wrong below HTTP, and 502, 503 and 504.
    case suspicious
}

/// The accumulated score: a CUSUM test of "fails as often as tolerated" against "fails as often as to be detected".
///
/// A failure adds w ln(p1/p0), a success takes ln((1-p0)/(1-p1)) away, never below 0. With the defaults the mean number
/// of requests to trip is 41,000 / 270 / 56 / 12 / 6 / 3 at 1 / 5 / 10 / 30 / 50 / 100 % failures. A server that has been
/// calm for long is held to what is usual for it: after n successes without suspicion, p0 is ``tolerated`` divided by
/// 1 + n / ``calmSpan``. That halves the requests that a busy client loses to a server which begins to fail now and then
/// (15 instead of 29 at 15 % failures, in one case of a hundred more than 59), and does not concern one that asks rarely.
/// It is paid for by a server that always fails 1 % of its requests: it rests for a moment once in about 6,000.
public struct ScoreRule: Sendable, Hashable {
    /// The failure rate that is tolerated (p0), 0...1; default 0.01.
    public var tolerated = 0.01
    /// The failure rate that has to be detected (p1), 0...1; default 0.2.
    public var detected = 0.2
    /// How many successes without suspicion halve the failure rate that is tolerated; `nil`: it stays; default 100.
    ///
    /// At most 1,000 successes are remembered, and a suspicion that comes to nothing leaves a quarter of them.
    public var calmSpan: Double? = 100
    /// The least rate that is tolerated, however calm the server was, 0...``tolerated``; default 0.001.
    public var leastTolerated = 0.001
    /// The score at which the server is ejected; default 8.
    ///
    /// It cannot exceed twice this.
    public var threshold = 8.0
    /// The time in which the score halves by itself; default 10 min.
    public var halfLife = Duration.seconds(600)
    /// The factor for a failure that nobody witnessed: it may as well be the network; default 0.25.
    public var unwitnessedFactor = 0.25

    /// Creates the rule with its defaults.
    public init() {}

    func check() throws(SwitchPolicy.Problem) {
        try require(tolerated > 0 && tolerated < 1, "score.tolerated", "a rate between 0 and 1")
        try require(detected > tolerated && detected < 1, "score.detected", "a rate between the tolerated one and 1")
        try require((calmSpan ?? 1) > 0, "score.calmSpan", "a number above 0")
        try require(
            leastTolerated > 0 && leastTolerated <= tolerated,
            "score.leastTolerated",
            "a rate above 0 and at most the tolerated one"
        )
        try require(threshold > 0 && threshold.isFinite, "score.threshold", "a number above 0")
        try require(halfLife > .zero, "score.halfLife", "a duration above 0")
        try require((0...1).contains(unwitnessedFactor), "score.unwitnessedFactor", "a number within 0...1")
    }
}

/// The error ratio: failures divided by finished requests, within a window, from a minimum on.
public struct RatioRule: Sendable, Hashable {
    /// The ratio at which the server is ejected, 0...1; default 0.1.
    public var threshold: Double
    /// The finished requests that it takes at least; default 40.
    public var minimum: Int
    /// The lower end of the ratio's 95 % confidence interval (Wilson) that it takes as well, 0...1; default 0: not used.
    public var confidenceFloor: Double

    /// Creates a rule.
    public init(threshold: Double = 0.1, minimum: Int = 40, confidenceFloor: Double = 0) {
        self.threshold = threshold
        self.minimum = minimum
        self.confidenceFloor = confidenceFloor
    }

    /// Whether so many failures of so many requests are too many.
    func isExceeded(failures: Int, of requests: Int) -> Bool {
        guard requests >= max(minimum, 1) else { return false }
        let count = Double(requests)
        let ratio = Double(failures) / count
        guard ratio >= threshold else { return false }
        return confidenceFloor <= 0 || RatioRule.wilsonFloor(of: ratio, count: count) >= confidenceFloor
    }

    /// The lower end of the 95 % Wilson score interval.
    private static func wilsonFloor(of ratio: Double, count: Double) -> Double {
        let z = 1.96
        let square = z * z
        let spread = z * (ratio * (1 - ratio) / count + square / (4 * count * count)).squareRoot()
        return (ratio + square / (2 * count) - spread) / (1 + square / count)
    }

    func check(within window: WindowRule) throws(SwitchPolicy.Problem) {
        try require((0...1).contains(threshold), "errorRatio", "a number within 0...1")
        try require((0...1).contains(confidenceFloor), "ratio.confidenceFloor", "a number within 0...1")
        try require(minimum >= 1, "minimumRequests", "at least 1")
        try require(minimum <= window.count, "minimumRequests", "at most the \(window.count) requests of the window")
    }
}

/// Which outcomes of a server are looked at: the last ones, no older than a duration.
public struct WindowRule: Sendable, Hashable {
    /// The most outcomes that a window can hold, which bounds its memory to 1,600 bytes.
    public static let maximumCount = 400
    /// The longest duration that can be told from an older one, 24 days; an outcome's time takes 31 bits.
    public static let maximumDuration = Duration.seconds(24 * 86_400)

    /// How many outcomes count, 1...``maximumCount``; default 100.
    public var count: Int
    /// They have to be younger than this, at most ``maximumDuration``; `nil`: any age; default 60 s.
    public var duration: Duration?

    /// Creates a window.
    public init(count: Int = 100, duration: Duration? = .seconds(60)) {
        self.count = count
        self.duration = duration
    }

    /// The last outcomes, however old.
    public static func last(_ count: Int) -> WindowRule {
        WindowRule(count: count, duration: nil)
    }

    /// The outcomes of a duration; of more than ``maximumCount`` the last.
    public static func last(_ duration: Duration) -> WindowRule {
        WindowRule(count: maximumCount, duration: duration)
    }

    func check() throws(SwitchPolicy.Problem) {
        let counts = 1...WindowRule.maximumCount
        try require(counts.contains(count), "windowRequests", "a number within \(counts)")
        let duration = duration ?? .seconds(1)
        let isInRange = duration > .zero && duration <= WindowRule.maximumDuration
        try require(isInRange, "window", "a duration above 0 and of at most 24 days")
    }
}

/// The accumulated lateness: a CUSUM test of "late as often as the others" against "late clearly more often".
///
/// An answer is late that takes longer than the wait before a hedge. One late answer says nothing about a server: each has
/// a tail. A hedge that answers first adds ln(p1/p0), where p0 is ``tolerated`` or one and a half times the share of late
/// answers of the best other server, whichever is more, and a timely answer takes ln((1-p0)/(1-p1)) away, never below 0.
/// With the defaults a server that hangs is ejected after about 6 requests, or 4 of one endpoint that do not overlap, and
/// one that is late three times in ten after some 50.
public struct LatenessRule: Sendable, Hashable {
    /// The share of late answers that is tolerated (p0), 0...1; default 0.08.
    public var tolerated = 0.08
    /// The share of late answers that has to be detected (p1), at least twice as much, 0...1; default 0.3.
    public var detected = 0.3
    /// The lateness at which the server is ejected; default 7.3.
    ///
    /// It cannot exceed twice this. On trial half of it is enough.
    public var threshold = 7.3

    /// Creates the rule with its defaults.
    public init() {}

    func check() throws(SwitchPolicy.Problem) {
        try require(tolerated > 0 && tolerated < 1, "lateness.tolerated", "a share between 0 and 1")
        try require(
            detected >= 2 * tolerated && detected < 1,
            "lateness.detected",
            "a share below 1, at least twice the tolerated one"
        )
        try require(threshold > 0 && threshold.isFinite, "lateness.threshold", "a number above 0")
    }
}
