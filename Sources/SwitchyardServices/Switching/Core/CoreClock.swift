/// The clock of a core, in seconds.
///
/// It never goes backwards, and it is stopped while the machine is offline.
struct CoreClock: Sendable {
    /// The largest step back, in seconds, that is ignored, because threads may pass their times in the wrong order.
    ///
    /// A larger step means that the clock of the calling client has jumped back.
    private static let tolerance = 1.0

    private var offset = 0.0
    private var latest = -Double.infinity
    private var raw = -Double.infinity
    private var frozenSince: Double?
    /// The time that was passed last.
    private(set) var reading = MonotonicTime.zero

    /// Whether the clock is stopped.
    var isFrozen: Bool { frozenSince != nil }

    /// Whether the time in `now` means that the clock of the calling client has jumped back.
    func jumpsBack(to now: MonotonicTime) -> Bool {
        now.seconds < raw - CoreClock.tolerance
    }

    /// Advances the clock to the time in `now`, and returns the core's time in seconds.
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

    /// Stops the clock.
    mutating func freeze(at now: MonotonicTime) {
        _ = read(now)
        if frozenSince == nil { frozenSince = raw + offset }
    }

    /// Restarts the clock at the time at which it stopped.
    mutating func thaw(at now: MonotonicTime) {
        guard let since = frozenSince else { return }
        _ = read(now)
        offset -= raw + offset - since
        frozenSince = nil
    }
}
