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
