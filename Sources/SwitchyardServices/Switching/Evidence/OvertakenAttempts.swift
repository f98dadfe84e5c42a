/// The consecutive attempts on a server that were overtaken: each was late, and its hedge (a second attempt on another
/// server) responded first.
///
/// After one overtaken attempt, a server that is only slow at times is more likely than a silent server. Attempts that
/// overlap count once, because a short pause of the server delays all of them.
struct OvertakenAttempts: Sendable {
    /// The number of attempts after which the server may be silent.
    private static let minimum = 2
    /// The seconds for which the attempts count.
    private static let memory = 10.0

    private var count = 0
    private var lastAt = -1e9

    /// Records an attempt that began at the time `began` and was overtaken at the time `time`.
    mutating func record(began: Double, at time: Double) {
        if began >= lastAt { count += 1 }
        lastAt = time
    }

    /// Returns whether the server may be silent, so that a write that must not be sent to a second server might get no
    /// response.
    func suggestsSilence(at time: Double) -> Bool {
        count >= Self.minimum && time - lastAt < Self.memory
    }
}
