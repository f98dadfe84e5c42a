/// The rules for the return of a server that failed.
///
/// An ejected server is out of use for a time: it receives no requests from the app. Probes, which are copies of
/// idempotent requests whose responses are discarded, find out whether the server works again. Then a trial admits a
/// growing number of real requests.
package struct RecoveryRules: Sendable, Hashable {
    /// The time from the first ejection to the first probe; default 1 s.
    ///
    /// It doubles with each further ejection.
    package var firstProbe = Duration.seconds(1)
    /// The time between probes as a share of the duration of the outage so far; default 0.35.
    package var outageShare = 0.35
    /// The longest time to the next probe; default 60 s.
    package var longestProbe = Duration.seconds(60)
    /// The maximum random variation of every wait, as a share of the wait, 0...1; default 0.3.
    ///
    /// For example, a wait of 10 s becomes 7 s to 13 s.
    package var jitter = 0.3
    /// The number of consecutive good probes after which the trial begins; default 2.
    package var successes = 2
    /// The number of additional good probes for every further ejection in a row; default 2.
    ///
    /// A smaller number would not be enough, because a server that fails only occasionally usually passes two probes.
    /// ``mostSuccesses`` is the upper limit.
    package var successesPerRelapse = 2
    /// The maximum number of consecutive good probes that are required after several ejections in a row; default 6.
    package var mostSuccesses = 6
    /// The time between two probes of a series of good probes; default 0.5 s.
    package var seriesGap = Duration.milliseconds(500)
    /// The factor by which a probe may exceed the 90th percentile of the server's response time before it fails;
    /// default 10.
    package var slownessFactor = 10.0
    /// The duration up to which a probe is never too slow; default 250 ms.
    package var slownessFloor = Duration.milliseconds(250)
    /// The maximum random wait of a client before the trial, as a share of the outage; default 0.25.
    ///
    /// The wait spreads the return of many clients over time, so that they do not overload a server that has just
    /// started.
    package var spreadShare = 0.25
    /// The maximum random wait before the trial if ``spreadShare`` of the outage is shorter; default 0.
    package var shortestSpread = Duration.zero
    /// The maximum random wait before the trial if ``spreadShare`` of the outage is longer; default 120 s.
    package var longestSpread = Duration.seconds(120)
    /// The number of successes after which the trial ends and the server is healthy; default 16.
    ///
    /// During the trial, the number of requests in flight is at most the number of successes so far, and at least one
    /// is allowed.
    package var trialSuccesses = 16
    /// The number of successes after which the trial of a server that failed only some of its requests ends; default
    /// 48, and at least ``trialSuccesses``.
    ///
    /// A server that fails 15 % of its requests passes a trial of 16 requests in 7 of 100 cases, and a trial of 48 in 4
    /// of 10,000.
    package var partialTrialSuccesses = 48
    /// The maximum number of ejections in a row that lengthen the time to the first probe; default 8.
    package var maximumBackoff = 8
    /// The time that a server must stay healthy for one of its ejections to be forgotten; default 60 s.
    package var forgiveness = Duration.seconds(60)

    /// Creates the rules of the recommended policy.
    package init() {}

    /// Returns the number of consecutive good probes that are needed after a number of consecutive ejections.
    func successes(after ejections: UInt8) -> Int {
        let wanted = successes + successesPerRelapse * (max(1, Int(ejections)) - 1)
        return min(wanted, max(successes, mostSuccesses))
    }

    /// Returns the number of successes that a trial requires.
    func trialSuccesses(afterPartialFailure isPartial: Bool) -> Int {
        isPartial ? max(trialSuccesses, partialTrialSuccesses) : trialSuccesses
    }

    func check() throws(SwitchPolicy.Problem) {
        let durations = [
            ("firstProbe", firstProbe), ("longestProbe", longestProbe), ("seriesGap", seriesGap),
            ("slownessFloor", slownessFloor), ("shortestSpread", shortestSpread), ("longestSpread", longestSpread),
        ]
        for (key, duration) in durations {
            try require(duration >= .zero, "recovery.\(key)", "a duration of at least 0")
        }
        try require(forgiveness > .zero, "recovery.forgiveness", "a duration above 0")
        try require((0...1).contains(jitter), "recovery.jitter", "a number within 0...1")
        let shares = [("outageShare", outageShare), ("slownessFactor", slownessFactor), ("spreadShare", spreadShare)]
        for (key, share) in shares {
            try require(share >= 0 && share.isFinite, "recovery.\(key)", "a number of at least 0")
        }
        try require((1...100).contains(successes), "recovery.successes", "a number within 1...100")
        try require((0...100).contains(successesPerRelapse), "recovery.successesPerRelapse", "a number within 0...100")
        try require((1...100).contains(mostSuccesses), "recovery.mostSuccesses", "a number within 1...100")
        for (key, count) in [("trialSuccesses", trialSuccesses), ("partialTrialSuccesses", partialTrialSuccesses)] {
            try require((1...10_000).contains(count), "recovery.\(key)", "a number within 1...10000")
        }
        try require((1...16).contains(maximumBackoff), "recovery.maximumBackoff", "a number within 1...16")
    }
}
