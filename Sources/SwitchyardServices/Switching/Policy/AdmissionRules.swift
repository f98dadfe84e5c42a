/// How much of its traffic a server keeps that is alive but cannot keep up.
///
/// Like TCP: overload cuts the server's share, successes double it up to where it was cut and then raise it slowly. What
/// the share does not admit goes to the next server.
public struct AdmissionRules: Sendable, Hashable {
    /// The least share, above 0, at most 1; default 0.1.
    public var floor = 0.1
    /// What a success adds to the share once it is past the point of the last cut; default 0.02.
    public var step = 0.02
    /// The time without overload after which all is forgotten; default 120 s.
    public var forgetting = Duration.seconds(120)
    /// The time in which a share doubles by itself; `nil`: it does not; default 60 s.
    public var doubling: Duration? = .seconds(60)
    /// The factor that 503 cuts the share by, and 429 where that means overload (``TooManyRequests``); default 0.5.
    ///
    /// Like every sign of overload it needs a witness: another server that answered the same request, or has just answered
    /// the same endpoint, or several endpoints that only this server fails.
    public var overloadCut = 0.5
    /// The factor that a time-out cuts the share by; default 0.25.
    public var timeoutCut = 0.25
    /// The highest priority that is given up unsent while every server is overloaded; `nil`: none; default low.
    ///
    /// Low priority is given up always then, normal priority with the probability that no server's share admits it, high
    /// never. A call that is not sent is certainly not answered: whoever gives up calls of normal priority trades them for
    /// servers that recover sooner, as suits a large fleet in front of servers that cannot carry all of it. For that, 503
    /// and time-outs count as overload without a witness too; a time-out only until any server answers.
    public var sheds: RequestPriority? = .low
    /// The greatest part of requests of normal priority that is given up, 0...1; default 0.7.
    ///
    /// So whoever tries again gets through soon, and recovery is noticed.
    public var mostShed = 0.7
    /// How long a server gets no extra attempts after overload; default 30 s.
    public var clean = Duration.seconds(30)
    /// Whether slowness and overload eject a server only while another is healthy and not overloaded itself; default yes.
    public var sparesOverloaded = true
    /// The longest Retry-After that is obeyed; default 60 s.
    public var longestRetryAfter = Duration.seconds(60)

    /// Creates the rules of the recommended policy.
    public init() {}

    /// Whether overload needs a witness.
    var needsWitness: Bool { sheds != .normal }

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
