/// The time inside a core in seconds: it never goes backwards, and stops while the machine is offline.
struct CoreClock: Sendable {
    /// A step back that is larger than this is a jump, not two threads that raced for the lock.
    private static let tolerance = 1.0

    private var offset = 0.0
    private var latest = -Double.infinity
    private var raw = -Double.infinity
    private var frozenSince: Double?
    /// The time as it was last handed in.
    private(set) var reading = MonotonicTime.zero

    /// Whether the time is stopped.
    var isFrozen: Bool { frozenSince != nil }

    /// Whether a time handed in would be a jump back.
    func jumpsBack(to now: MonotonicTime) -> Bool {
        now.seconds < raw - CoreClock.tolerance
    }

    /// Takes the time handed in, and returns the time inside.
    mutating func read(_ now: MonotonicTime) -> Double {
        let seconds = now.seconds
        if jumpsBack(to: now) {
            offset += raw - seconds
            raw = seconds
        } else if seconds > raw {
            raw = seconds
        }
        reading = now
        if frozenSince == nil { latest = max(latest, raw + offset) }
        return latest
    }

    /// Stops the time.
    mutating func freeze(at now: MonotonicTime) {
        _ = read(now)
        if frozenSince == nil { frozenSince = raw + offset }
    }

    /// Lets the time go on from where it stopped.
    mutating func thaw(at now: MonotonicTime) {
        guard let since = frozenSince else { return }
        _ = read(now)
        offset -= raw + offset - since
        frozenSince = nil
    }
}
