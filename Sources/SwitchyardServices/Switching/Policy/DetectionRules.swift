/// The rules that decide when a server counts as failing.
///
/// If any of the configured detectors finds a failing server, the server is ejected (taken out of use for a time). Each
/// detector counts only attempts that began after the server's last ejection or recovery.
package struct DetectionRules: Sendable, Hashable {
    /// The accumulated score (CUSUM); if `nil`, it is not used.
    package var score: ScoreRule? = ScoreRule()
    /// The error ratio; if `nil`, it is not used.
    package var ratio: RatioRule? = RatioRule(confidenceFloor: 0.05)
    /// The number of consecutive failures that ejects a server, 1 to 65535.
    ///
    /// If `nil`, which is the default, consecutive failures are not counted.
    package var consecutive: Int?
    /// The rule for servers that are late.
    ///
    /// If `nil`, an attempt counts as a failure if its hedge (a second attempt on another server) responds first.
    package var lateness: LatenessRule? = LatenessRule()
    /// Whether a failure counts only if another server fails the same endpoint less often; default `true`.
    ///
    /// If `true`, an endpoint that fails on every server counts against no server, and after a few failures its
    /// requests get no extra attempts. The rule applies to failures after the connection was established, and only if
    /// the policy fails over (``SwitchPolicy/failsOver``), because without failover no other server confirms a failure.
    package var perEndpoint = true
    /// The rule that determines which outcomes the error ratio and the statistics include.
    package var window = SwitchPolicy.Window()
    /// The failures that count; default all.
    package var kinds = FailureFilter.all
    /// Whether the error ratio and the consecutive failures include failures without proof that the network path works;
    /// default `false`.
    ///
    /// The failure itself is proof if it is an HTTP response. Another proof is another server's response to the same
    /// request, or a response of any server within ``pathProof`` that is not a failure. Without proof, the failure may
    /// be the network's, so neither detector counts it.
    package var countsUnproven = false
    /// The time for which a response that is not a failure proves that the network works; default 2 s.
    package var pathProof = Duration.seconds(2)
    /// The time after a change of the network path during which outcomes are no evidence; default 2 s.
    package var quietAfterPathChange = Duration.seconds(2)
    /// Whether every switch clears the window of the server switched to; default `true`.
    package var startsFreshWindow = true

    /// Creates the rules of the recommended policy.
    package init() {}

    func check() throws(SwitchPolicy.Problem) {
        try window.check()
        try score?.check()
        try ratio?.check(within: window)
        try lateness?.check()
        try require((1...65_535).contains(consecutive ?? 1), "consecutiveFailures", "a number within 1...65535")
        try require(pathProof >= .zero, "pathProof", "a duration of at least 0")
        try require(quietAfterPathChange >= .zero, "quietAfterPathChange", "a duration of at least 0")
    }
}

/// A selection of the failures that count against a server.
package enum FailureFilter: Sendable, Hashable {
    /// Every failure of an `AttemptOutcome`.
    case all
    /// Only failures without an HTTP status, and the statuses 502, 503 and 504.
    case suspicious
}

/// The accumulated score: a CUSUM test of the tolerated failure rate (p0) against the failure rate to detect (p1).
///
/// A failure of weight w adds w ln(p1/p0). A success subtracts ln((1-p0)/(1-p1)), never below 0. With the default
/// rates and a constant p0, the mean number of requests until the ejection is 41,000 at 1 % failures, 270 at 5 %, 56 at
/// 10 %, 12 at 30 %, 6 at 50 %, and 3 at 100 %.
///
/// A server that has had no failure for a long time is allowed a lower rate: after n successes at a score of 0, p0 is
/// ``tolerated`` / (1 + n / ``calmSpan``), but at least ``leastTolerated``. That halves the number of requests that a
/// busy client loses to a server that begins to fail occasionally (15 instead of 29 at 15 % failures, and more than 59
/// in only one case of 100). The lower rate has no effect on a client with little traffic. The disadvantage is that a
/// server that always fails 1 % of its requests is ejected for a moment once in about 6,000 requests.
package struct ScoreRule: Sendable, Hashable {
    /// The failure rate that is tolerated (p0), 0...1; default 0.01.
    package var tolerated = 0.01
    /// The failure rate that has to be detected (p1), 0...1; default 0.2.
    package var detected = 0.2
    /// The number of successes at a score of 0 that halve the tolerated failure rate; default 100.
    ///
    /// If `nil`, the tolerated failure rate is constant. At most 1,000 successes are remembered. If failures raise the
    /// score and it falls back to 0, a quarter of this number remains.
    package var calmSpan: Double? = 100
    /// The minimum tolerated failure rate, however many successes the server had at a score of 0, 0...``tolerated``;
    /// default 0.001.
    package var leastTolerated = 0.001
    /// The score at which the server is ejected; default 8.
    ///
    /// The score cannot exceed twice the threshold.
    package var threshold = 8.0
    /// The time in which the score halves without outcomes; default 10 min.
    package var halfLife = Duration.seconds(600)
    /// The factor by which a failure counts if no other server responded to the same request, because the network may
    /// have failed instead; default 0.25.
    package var unwitnessedFactor = 0.25

    /// Creates the rule with its defaults.
    package init() {}

    func check() throws(SwitchPolicy.Problem) {
        try require(tolerated > 0 && tolerated < 1, "score.tolerated", "a rate above 0 and below 1")
        try require(detected > tolerated && detected < 1, "score.detected", "a rate above score.tolerated and below 1")
        try require((calmSpan ?? 1) > 0, "score.calmSpan", "a number above 0")
        try require(
            leastTolerated > 0 && leastTolerated <= tolerated,
            "score.leastTolerated",
            "a rate above 0 and at most score.tolerated"
        )
        try require(threshold > 0 && threshold.isFinite, "score.threshold", "a number above 0")
        try require(halfLife > .zero, "score.halfLife", "a duration above 0")
        try require((0...1).contains(unwitnessedFactor), "score.unwitnessedFactor", "a number within 0...1")
    }
}

/// The error ratio: failures divided by finished requests within a window.
///
/// The ratio is computed once the window has a minimum number of requests.
package struct RatioRule: Sendable, Hashable {
    /// The ratio of failed requests at which the server is ejected, 0...1; default 0.1.
    package var threshold: Double
    /// The minimum number of finished requests before the ratio can eject the server; default 40.
    package var minimum: Int
    /// The value that the lower end of the ratio's 95 % confidence interval (Wilson) must reach before the server is
    /// ejected, 0...1; if 0, the default, the interval is not used.
    package var confidenceFloor: Double

    /// Creates a rule.
    package init(threshold: Double = 0.1, minimum: Int = 40, confidenceFloor: Double = 0) {
        self.threshold = threshold
        self.minimum = minimum
        self.confidenceFloor = confidenceFloor
    }

    /// Whether the number and the ratio of failures are high enough to eject the server.
    func isExceeded(failures: Int, of requests: Int) -> Bool {
        guard requests >= max(minimum, 1) else { return false }
        let count = Double(requests)
        let ratio = Double(failures) / count
        guard ratio >= threshold else { return false }
        return confidenceFloor <= 0 || RatioRule.wilsonFloor(of: ratio, count: count) >= confidenceFloor
    }

    /// Returns the lower end of the 95 % Wilson score interval.
    private static func wilsonFloor(of ratio: Double, count: Double) -> Double {
        let z = 1.96
        let square = z * z
        let spread = z * (ratio * (1 - ratio) / count + square / (4 * count * count)).squareRoot()
        return (ratio + square / (2 * count) - spread) / (1 + square / count)
    }

    func check(within window: SwitchPolicy.Window) throws(SwitchPolicy.Problem) {
        try require((0...1).contains(threshold), "errorRatio", "a number within 0...1")
        try require((0...1).contains(confidenceFloor), "ratio.confidenceFloor", "a number within 0...1")
        try require(minimum >= 1, "minimumRequests", "a number of at least 1")
        try require(
            minimum <= window.count,
            "minimumRequests",
            "a number of at most \(window.count), the maximum number of requests in the window"
        )
    }
}

extension SwitchPolicy {
    /// The outcomes of a server that count: the latest outcomes, up to a maximum number and a maximum age.
    public struct Window: Sendable, Hashable {
        /// The maximum number of outcomes in a window, which limits its memory to 1,600 bytes.
        package static let maximumCount = 400
        /// The maximum duration, 24 days, because the time of an outcome is stored in 30 bits.
        package static let maximumDuration = Duration.seconds(24 * 86_400)

        /// The number of outcomes that count, 1...400; default 100.
        public var count: Int
        /// The maximum age of the outcomes, at most 24 days; default 60 s.
        ///
        /// If `nil`, outcomes of any age count.
        public var duration: Duration?

        /// Creates a window of at most the last `count` outcomes, which are no older than `duration`.
        public init(count: Int = 100, duration: Duration? = .seconds(60)) {
            self.count = count
            self.duration = duration
        }

        /// Returns a window of the last `count` outcomes of any age.
        public static func last(_ count: Int) -> Window {
            Window(count: count, duration: nil)
        }

        /// Returns a window of the outcomes within a duration, at most the last 400.
        public static func last(_ duration: Duration) -> Window {
            Window(count: maximumCount, duration: duration)
        }

        func check() throws(SwitchPolicy.Problem) {
            let counts = 1...Window.maximumCount
            try require(counts.contains(count), "windowRequests", "a number within \(counts)")
            let duration = duration ?? .seconds(1)
            let isInRange = duration > .zero && duration <= Window.maximumDuration
            try require(isInRange, "window", "a duration above 0 and of at most 24 days")
        }
    }
}

/// The accumulated lateness: a CUSUM test of "late as often as the other servers" against "late much more often".
///
/// A response is late if it takes longer than the wait before a hedge. One late response is no evidence against a
/// server, because every server is sometimes slow. Each time a hedge responds before the server, the lateness grows by
/// ln(p1/p0). Each response that is not late reduces it by ln((1-p0)/(1-p1)), but not below 0. p1 is ``detected``. p0
/// is ``tolerated``, or one and a half times the share of late responses of the best other server if that is greater.
///
/// With the defaults, a hanging server is ejected after about 6 requests, or after 4 requests to one endpoint one after
/// another. A server that is late three times in ten is ejected after about 50 requests.
package struct LatenessRule: Sendable, Hashable {
    /// The tolerated share of late responses (p0), 0...1; default 0.08.
    package var tolerated = 0.08
    /// The share of late responses that must be detected (p1), 0...1 and at least twice ``tolerated``; default 0.3.
    package var detected = 0.3
    /// The lateness at which the server is ejected; default 7.3.
    ///
    /// The lateness is at most twice this value. A server on trial is ejected at half of this value.
    package var threshold = 7.3

    /// Creates the rule with its defaults.
    package init() {}

    func check() throws(SwitchPolicy.Problem) {
        try require(tolerated > 0 && tolerated < 1, "lateness.tolerated", "a share above 0 and below 1")
        try require(
            detected >= 2 * tolerated && detected < 1,
            "lateness.detected",
            "a share below 1 and at least twice lateness.tolerated"
        )
        try require(threshold > 0 && threshold.isFinite, "lateness.threshold", "a number above 0")
    }
}
