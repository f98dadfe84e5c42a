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
    /// The accumulated lateness; below 0 if timely responses outweighed the first late responses.
    private(set) var value = 0.0
    /// Whether there were timely responses between the late responses.
    private(set) var isMixed = false
    /// The share of late responses, overtaken or not.
    private(set) var share = FadingShare()
    /// The number of timely responses; each attempt stores the number at its start.
    private(set) var timely: UInt32 = 0
    private var beganAt = -1e9
    private var since: Double

    init(at now: Double) {
        since = now
    }

    /// Counts a response that no hedge has overtaken.
    ///
    /// `step` is the amount that a timely response adds to the lateness; it is negative.
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
    /// Timely responses that arrived while the attempt was waiting are evidence for the server. If requests are sent
    /// together, their timely responses arrive before the late ones. So the first overtaken attempt counts all timely
    /// responses since its start. While the lateness is below 0, an attempt that began after that starts the count
    /// again.
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
