/// The last outcomes of a server: their number, and the number of failures.
///
/// A ring buffer stores one word per outcome: its time, whether it failed, and whether the failure counts. The buffer
/// grows only as far as the traffic needs, at most to the rule's maximum count. The time to record an outcome does not
/// depend on the number of outcomes.
struct OutcomeWindow: Sendable {
    /// The result of an attempt.
    enum Outcome: UInt32 {
        case success = 0
        case failure = 1
        /// A failure that does not count against the server.
        case uncountedFailure = 2
    }

    /// The unit of the stored times is 1/512 s, so 30 bits are enough for 24 days.
    private static let unitsPerSecond = 512.0
    private static let stampMask: UInt32 = 0x3FFF_FFFF
    /// The bits of a word that contain the outcome.
    private static let outcomeBits: UInt32 = 2
    private static let outcomeMask: UInt32 = 3

    private var ring: [UInt32] = []
    private var head: UInt16 = 0
    private var used: UInt16 = 0
    private var bad: UInt16 = 0
    private var uncounted: UInt16 = 0
    private var latest: Int64 = 0

    /// The number of outcomes in the window.
    ///
    /// Expired outcomes are included until the next outcome is recorded.
    var requests: Int { Int(used) }
    /// The number of failures in the window that count.
    var failures: Int { Int(bad) }

    /// Adds an outcome, and drops outcomes beyond the limits.
    ///
    /// - Parameters:
    ///   - outcome: The outcome.
    ///   - now: The time in seconds; never earlier than the previous time.
    ///   - count: The maximum number of outcomes.
    ///   - age: The age in seconds below which outcomes are kept.
    mutating func record(_ outcome: Outcome, at now: Double, count: Int, age: Double) {
        let stamp = OutcomeWindow.units(now)
        expire(at: stamp, age: age)
        if requests >= count { dropOldest() }
        if requests == ring.count { grow(to: count) }
        var end = Int(head) + requests
        if end >= ring.count { end -= ring.count }
        let time = UInt32(truncatingIfNeeded: stamp) & OutcomeWindow.stampMask
        ring[end] = time << OutcomeWindow.outcomeBits | outcome.rawValue
        used += 1
        switch outcome {
        case .success: break
        case .failure: bad += 1
        case .uncountedFailure: uncounted += 1
        }
        latest = stamp
    }

    /// Returns the numbers of outcomes, of failures that count and of other failures that are in the window at the
    /// given time, without changing the window.
    func counts(at now: Double, age: Double) -> (requests: Int, failures: Int, uncounted: Int) {
        var copy = self
        copy.expire(at: OutcomeWindow.units(now), age: age)
        return (copy.requests, copy.failures, Int(copy.uncounted))
    }

    /// Removes every outcome, and keeps the allocated memory.
    mutating func clear() {
        head = 0
        used = 0
        bad = 0
        uncounted = 0
    }

    private mutating func expire(at stamp: Int64, age: Double) {
        guard used > 0, age.isFinite else { return }
        let limit = Int64(min(age * OutcomeWindow.unitsPerSecond, 1e15))
        guard stamp - latest < limit else { return clear() }
        while used > 0 {
            let oldest = Int64(ring[Int(head)] >> OutcomeWindow.outcomeBits)
            let elapsed = (stamp & Int64(OutcomeWindow.stampMask)) - oldest
            let isWrapped = elapsed < 0
            guard (isWrapped ? elapsed + Int64(OutcomeWindow.stampMask) + 1 : elapsed) >= limit else { return }
            dropOldest()
        }
    }

    private mutating func dropOldest() {
        switch ring[Int(head)] & OutcomeWindow.outcomeMask {
        case Outcome.failure.rawValue: bad -= 1
        case Outcome.uncountedFailure.rawValue: uncounted -= 1
        default: break
        }
        used -= 1
        head = Int(head) + 1 == ring.count ? 0 : head + 1
    }

    private mutating func grow(to limit: Int) {
        var larger: [UInt32] = []
        let size = min(max(8, ring.count * 2), max(limit, 1))
        larger.reserveCapacity(size)
        for offset in 0..<requests { larger.append(ring[(Int(head) + offset) % ring.count]) }
        larger.append(contentsOf: repeatElement(0, count: size - requests))
        ring = larger
        head = 0
    }

    private static func units(_ seconds: Double) -> Int64 {
        Int64(max(-9e15, min(seconds * unitsPerSecond, 9e15)))
    }
}

/// The share of recent samples in which an event occurred, such as a failure.
///
/// It is the mean of the first samples, and then a mean in which older samples fade.
struct FadingShare: Sendable {
    /// The approximate number of samples that count.
    private static let memory: UInt8 = 16

    private(set) var samples: UInt8 = 0
    /// The share of the samples, 0...1; 0 if there are no samples.
    private(set) var value: Float = 0

    mutating func count(_ happened: Bool) {
        if samples < Self.memory { samples += 1 }
        value += ((happened ? 1 : 0) - value) / Float(samples)
    }
}
