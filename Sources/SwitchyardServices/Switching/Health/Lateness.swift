#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// How late a server is (``LatenessRule``): being overtaken by hedges raises it, timely answers and time lower it.
struct Lateness: Sendable {
    /// The evidence; below 0 while the first late answers are outweighed by those that came in time beside them.
    private(set) var value = 0.0
    /// Whether there were timely answers between the late ones.
    private(set) var isMixed = false
    /// How often the answers are late, overtaken or not.
    private(set) var share = FadingShare()
    /// How many timely answers there were; an attempt remembers how many when it began.
    private(set) var timely: UInt32 = 0
    private var beganAt = -1e9
    private var since: Double

    init(at now: Double) {
        since = now
    }

    /// Counts an answer that no hedge has overtaken; `step` is negative.
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
    /// What came in time while it waited speaks for the server. Answers of requests that were sent together come before the
    /// late ones of them: so the first late one counts them all, and of the others only those that began later do again.
    ///
    /// - Parameters:
    ///   - step: What it adds.
    ///   - timelyStep: What a timely answer adds; negative.
    ///   - began: When the attempt began, by the clock of the core.
    ///   - before: The timely answers by then.
    ///   - now: The time.
    ///   - ceiling: The most evidence there may be.
    mutating func noteOvertaken(
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
