/// The rules for the share of traffic that a server keeps if it is alive but overloaded.
///
/// The share works like the congestion avoidance of TCP (RFC 5681 section 3.1): overload multiplies it by a factor
/// below 1, and each success adds a small amount. Requests that the share does not admit go to the next server.
package struct AdmissionRules: Sendable, Hashable {
    /// The minimum share of its traffic that a server keeps, above 0 and at most 1; default 0.1.
    package var floor = 0.1
    /// The amount that each success adds to a reduced share of traffic; default 0.02.
    package var step = 0.02
    /// The time without overload after which earlier overload is forgotten; default 120 s.
    package var forgetting = Duration.seconds(120)
    /// The time in which a reduced share of traffic doubles even without successes; default 60 s.
    ///
    /// If `nil`, only successes increase the share until ``forgetting`` has passed. The share is then full again.
    package var doubling: Duration? = .seconds(60)
    /// The factor applied to the share of traffic on status 503, and on 429 if it means overload
    /// (``SwitchPolicy/TooManyRequests``); default 0.5.
    ///
    /// Like every sign of overload, the status counts only if one of three conditions confirms it: another server
    /// responded to the same request, another server recently responded to the same endpoint, or only this server fails
    /// several endpoints.
    package var overloadCut = 0.5
    /// The factor applied to the share of traffic on a timeout; default 0.25.
    package var timeoutCut = 0.25
    /// The highest priority whose requests are shed (not sent) while every server is overloaded; default low.
    ///
    /// If `nil`, no request is shed. Otherwise every low-priority request is shed. Normal-priority requests are shed
    /// only if this property is `normal`, with the probability that no server's share admits them. High-priority
    /// requests are never shed.
    ///
    /// A shed call certainly fails. Shedding normal priority makes overloaded servers recover sooner at the cost of
    /// such calls. This suits a large fleet of clients whose servers cannot carry the whole load. With `normal`, a 503
    /// and a timeout count as overload even without a confirmation; a timeout counts only until any server responds.
    package var sheds: RequestPriority? = .low
    /// The maximum share of normal-priority requests that is shed, 0...1; default 0.7.
    ///
    /// The limit lets some requests through, so that retries soon succeed and a recovery is noticed.
    package var mostShed = 0.7
    /// The time after an overload during which a server receives no extra attempts; default 30 s.
    package var clean = Duration.seconds(30)
    /// Whether slowness and overload eject a server (take it out of use for a time) only if another server is healthy
    /// and not overloaded; default `true`.
    ///
    /// If all servers in use have been overloaded for 10 s, most requests try the ejected servers first, and a refused
    /// request does not go to an overloaded server. A hedge token expires (``BudgetRules/hedgeTokenLife``), and is
    /// returned only by a hedge that responds as quickly as usual.
    package var sparesOverloaded = true
    /// The longest Retry-After that is obeyed; default 60 s.
    package var longestRetryAfter = Duration.seconds(60)

    /// Creates the rules of the recommended policy.
    package init() {}

    /// Whether a sign of overload counts only if another server's response confirms it.
    var needsConfirmation: Bool { sheds != .normal }

    /// Returns the factor that is applied to the share of traffic after a failure.
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
