/// The rules for probing, trying and recovering a server that failed.
///
/// An ejected server receives no requests of callers. Shadow probes, which are copies of idempotent requests whose
/// responses are discarded, find out whether the server works again. Then a trial admits a growing number of real
/// requests.
package struct RecoveryRules: Sendable, Hashable {
    /// The time from the first ejection to the first probe; default 1 s.
    ///
    /// It doubles with each further ejection.
    package var firstProbe = Duration.seconds(1)
    /// The gap between probes as a share of the outage so far; default 0.35.
    package var outageShare = 0.35
    /// The longest time to the next probe; default 60 s.
    package var longestProbe = Duration.seconds(60)
    /// By how much every wait is varied at random, 0...1; default 0.3, so a wait of 10 s is 7 s to 13 s.
    package var jitter = 0.3
    /// The good probes in a row that begin the trial; default 2.
    package var successes = 2
    /// The additional good probes for every further ejection in a row; default 2.
    ///
    /// A server that fails only occasionally passes two probes more often than not. ``mostSuccesses`` is the upper
    /// limit.
    package var successesPerRelapse = 2
    /// The most good probes in a row that are asked for after ejections in a row; default 6.
    package var mostSuccesses = 6
    /// The time between the probes of such a row; default 0.5 s.
    package var seriesGap = Duration.milliseconds(500)
    /// A probe is a failure if it takes longer than this times the 90th percentile of the server; default 10.
    package var slownessFactor = 10.0
    /// A probe that takes no longer than this is never too slow; default 250 ms.
    package var slownessFloor = Duration.milliseconds(250)
    /// Clients wait before the trial for a random time up to this share of the outage; default 0.25.
    ///
    /// So a fleet comes back spread over time, and does not knock a cold server over.
    package var spreadShare = 0.25
    /// The least upper end of that random time; default 0.
    package var shortestSpread = Duration.zero
    /// The greatest upper end of that random time; default 120 s.
    package var longestSpread = Duration.seconds(120)
    /// The successes of the trial that make the server healthy; default 16.
    ///
    /// As many requests as succeeded so far may be under way at once, at least one.
    package var trialSuccesses = 16
    /// The successes of the trial of a server that failed only now and then; at least ``trialSuccesses``; default 48.
    ///
    /// A server that fails 15 % of its requests passes a trial of 16 in 7 of 100 cases, one of 48 in 4 of 10,000.
    package var partialTrialSuccesses = 48
    /// The most ejections that lengthen the time to the first probe; default 8.
    package var maximumBackoff = 8
    /// The healthy time after which one ejection is forgiven; default 60 s.
    package var forgiveness = Duration.seconds(60)

    /// Creates the rules of the recommended policy.
    package init() {}

    /// Returns the number of consecutive good probes that are needed after a number of consecutive ejections.
    func successes(after ejections: UInt8) -> Int {
        let wanted = successes + successesPerRelapse * (max(1, Int(ejections)) - 1)
        return min(wanted, max(successes, mostSuccesses))
    }

    /// The successes that a trial takes.
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
