#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A number that grows with how often a server responds late (``LatenessRule``).
///
/// An attempt is *overtaken* if its hedge (a second attempt on another server) responds first. An overtaken attempt
/// raises the value. A *timely* response lowers it: no hedge responded first, and the response took no longer than the
/// wait before a hedge. The value also falls as time passes.
struct Lateness: Sendable {
    /// The accumulated lateness.
    ///
    /// It is below 0 if timely responses outweighed the first late responses.
    private(set) var value = 0.0
    /// Whether there were timely responses between the late responses.
    private(set) var isMixed = false
    /// The share of late responses, overtaken or not.
    private(set) var share = FadingShare()
    /// The number of timely responses.
    ///
    /// Each attempt stores the number at its start.
    private(set) var timely: UInt32 = 0
    /// The time at which ``value`` was last set to `timelyStep` times a number of timely responses.
    private var beganAt = -1e9
    private var since: Double

    init(at now: Double) {
        since = now
    }

    /// Records a response that arrived before any hedge of its request responded.
    ///
    /// - Parameters:
    ///   - isLate: Whether the response took longer than the wait before a hedge.
    ///   - step: The amount that a timely response adds to the lateness; negative.
    mutating func note(isLate: Bool, step: Double) {
        share.count(isLate)
        guard !isLate else { return }
        timely &+= 1
        guard value > 0 else { return }
        value = max(0, value + step)
        isMixed = true
    }

    /// Adds an attempt whose hedge responded first.
    ///
    /// If several requests are sent together, the timely responses arrive before the late responses and cannot lower a
    /// value that is still 0. They are therefore counted here, before the attempt is added: the value becomes
    /// `timelyStep`, which is negative, times the number of timely responses since this attempt began. The value is set
    /// in this way if it is 0, or if it is below 0 and this attempt began after the value was last set.
    ///
    /// - Parameters:
    ///   - step: The amount that the attempt adds.
    ///   - timelyStep: The amount that a timely response adds; negative.
    ///   - began: The start of the attempt by the core's clock.
    ///   - before: The number of timely responses at the start of the attempt.
    ///   - now: The current time.
    ///   - ceiling: The maximum lateness.
    mutating func recordOvertaken(
        by step: Double,
        timelyStep: Double,
        began: Double,
        before: UInt32,
        at now: Double,
        ceiling: Double
    ) {
        share.count(true)
        if value == 0 || value < 0 && began >= beganAt {
            isMixed = false
            beganAt = now
            value = timelyStep * Double(timely &- before)
        }
        value = min(value + step, ceiling)
    }

    /// Reduces the lateness for the time that has passed.
    mutating func decay(to now: Double, halfLife: Double) {
        if value != 0 { value *= exp2((since - now) / halfLife) }
        since = now
    }

    /// Sets the lateness, by default to 0.
    mutating func reset(to value: Double = 0) {
        self.value = value
    }
}
