#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The lateness of a server (``LatenessRule``): hedges that overtake it raise the value, timely responses and time
/// lower it.
struct Lateness: Sendable {
    /// The evidence; below 0 while timely responses outweigh the first late ones.
    private(set) var value = 0.0
    /// Whether there were timely responses between the late ones.
    private(set) var isMixed = false
    /// The share of late responses, overtaken or not.
    private(set) var share = FadingShare()
    /// The number of timely responses; an attempt remembers the number at its start.
    private(set) var timely: UInt32 = 0
    private var beganAt = -1e9
    private var since: Double

    init(at now: Double) {
        since = now
    }

    /// Counts a response that no hedge has overtaken; `step` is negative.
    mutating func note(isLate: Bool, step: Double) {
        share.count(isLate)
        guard !isLate else { return }
        timely &+= 1
        guard value > 0 else { return }
        value = max(0, value + step)
        isMixed = true
    }

    /// Counts an attempt that was overtaken.
    ///
    /// Timely responses while it waited speak for the server. Timely responses of requests that were sent together
    /// arrive before the late ones. So the first late one counts all timely responses, and of the others only those
    /// count that began later.
    ///
    /// - Parameters:
    ///   - step: The amount that the attempt adds.
    ///   - timelyStep: The amount that a timely response adds; negative.
    ///   - began: The start of the attempt by the core's clock.
    ///   - before: The number of timely responses by then.
    ///   - now: The time.
    ///   - ceiling: The maximum of the evidence.
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

    /// Lets the evidence fade for the time that has passed.
    mutating func decay(to now: Double, halfLife: Double) {
        if value != 0 { value *= exp2((since - now) / halfLife) }
        since = now
    }

    /// Forgets the evidence, or begins with some.
    mutating func reset(to value: Double = 0) {
        self.value = value
    }
}
