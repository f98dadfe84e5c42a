/// The rules for the share of traffic that a server keeps if it is alive but overloaded.
///
/// The share works like TCP congestion control: overload cuts it; successes double it up to the point of the last cut
/// and then raise it slowly. Requests that the share does not admit go to the next server.
package struct AdmissionRules: Sendable, Hashable {
    /// The least share, above 0, at most 1; default 0.1.
    package var floor = 0.1
    /// The amount that a success adds to the share above the point of the last cut; default 0.02.
    package var step = 0.02
    /// The time without overload after which all is forgotten; default 120 s.
    package var forgetting = Duration.seconds(120)
    /// The time in which a share doubles without successes; `nil` if it does not; default 60 s.
    package var doubling: Duration? = .seconds(60)
    /// The factor by which 503 cuts the share, and 429 if it means overload (``TooManyRequests``); default 0.5.
    ///
    /// Like every sign of overload it needs a confirmation: another server that responded to the same request or
    /// recently to the same endpoint, or several endpoints that only this server fails.
    package var overloadCut = 0.5
    /// The factor that a time-out cuts the share by; default 0.25.
    package var timeoutCut = 0.25
    /// The highest priority that is shed while every server is overloaded; `nil` for none; default is low.
    ///
    /// Low priority is always shed then, normal priority with the probability that no server's share admits it, high
    /// priority never. A shed call certainly fails: shedding normal priority trades such calls for servers that recover
    /// sooner, which suits a large fleet in front of servers that cannot carry the whole load. In that case 503 and
    /// timeouts count as overload without a confirmation too, a timeout only until any server responds.
    package var sheds: RequestPriority? = .low
    /// The maximum share of normal-priority requests that is shed, 0...1; default 0.7.
    ///
    /// So a retry soon gets through, and recovery is noticed.
    package var mostShed = 0.7
    /// The time after an overload during which a server receives no extra attempts; default 30 s.
    package var clean = Duration.seconds(30)
    /// Whether slowness and overload eject a server only while another is healthy and not overloaded itself; default yes.
    package var sparesOverloaded = true
    /// The longest Retry-After that is obeyed; default 60 s.
    package var longestRetryAfter = Duration.seconds(60)

    /// Creates the rules of the recommended policy.
    package init() {}

    /// Whether overload needs a confirming response.
    var needsConfirmation: Bool { sheds != .normal }

    /// The factor that a failure cuts the share by.
    func cut(for kind: FailureKind) -> Double {
        switch kind {
        case .timeout: timeoutCut
        default: kind.isRejection ? overloadCut : 1
        }
    }

    func check() throws(SwitchPolicy.Problem) {
        let shares = [
            ("floor", floor), ("overloadCut", overloadCut), ("timeoutCut", timeoutCut),
        ]
        for (key, share) in shares {
            try require(share > 0 && share <= 1, "admission.\(key)", "a number above 0 and at most 1")
        }
        try require((0...1).contains(step), "admission.step", "a number within 0...1")
        try require((0...1).contains(mostShed), "admission.mostShed", "a number within 0...1")
        try require(forgetting >= .zero, "admission.forgetting", "a duration of at least 0")
        try require((doubling ?? .seconds(1)) > .zero, "admission.doubling", "a duration above 0")
        try require(clean >= .zero, "admission.clean", "a duration of at least 0")
        try require(longestRetryAfter >= .zero, "admission.longestRetryAfter", "a duration of at least 0")
    }
}
