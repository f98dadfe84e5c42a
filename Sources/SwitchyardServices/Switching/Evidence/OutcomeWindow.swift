/// The last outcomes of a server: their number, and the number of failures.
///
/// A ring buffer stores one word per outcome: its time, and whether it failed. The buffer grows only as far as the
/// traffic needs, at most to the rule's maximum count. The time to record an outcome does not depend on the number of
/// outcomes.
struct OutcomeWindow: Sendable {
    /// The unit of the stored times is 1/1024 s, so 31 bits are enough for 24 days.
    private static let unitsPerSecond = 1024.0
    private static let stampMask: UInt32 = 0x7FFF_FFFF

    private var ring: [UInt32] = []
    private var head: UInt16 = 0
    private var used: UInt16 = 0
    private var bad: UInt16 = 0
    private var latest: Int64 = 0

    /// The number of outcomes in the window.
    ///
    /// Expired outcomes are included until the next outcome is recorded.
    var requests: Int { Int(used) }
    /// The number of failures in the window.
    var failures: Int { Int(bad) }

    /// Adds an outcome, and drops outcomes beyond the limits.
    ///
    /// - Parameters:
    ///   - failed: Whether it was a failure.
    ///   - now: The time in seconds; never earlier than the previous time.
    ///   - count: The maximum number of outcomes.
    ///   - age: The age in seconds below which outcomes are kept.
    mutating func record(failed: Bool, at now: Double, count: Int, age: Double) {
        let stamp = OutcomeWindow.units(now)
        expire(at: stamp, age: age)
        if requests >= count { dropOldest() }
        if requests == ring.count { grow(to: count) }
        var end = Int(head) + requests
        if end >= ring.count { end -= ring.count }
        ring[end] = (UInt32(truncatingIfNeeded: stamp) & OutcomeWindow.stampMask) << 1 | (failed ? 1 : 0)
        used += 1
        if failed { bad += 1 }
        latest = stamp
    }

    /// Returns the numbers of outcomes and failures that are in the window at the given time, without changing the
    /// window.
    func counts(at now: Double, age: Double) -> (requests: Int, failures: Int) {
        var copy = self
        copy.expire(at: OutcomeWindow.units(now), age: age)
        return (copy.requests, copy.failures)
    }

    /// Removes every outcome, and keeps the allocated memory.
    mutating func clear() {
        head = 0
        used = 0
        bad = 0
    }

    private mutating func expire(at stamp: Int64, age: Double) {
        guard used > 0, age.isFinite else { return }
        let limit = Int64(min(age * OutcomeWindow.unitsPerSecond, 1e15))
        guard stamp - latest < limit else { return clear() }
        while used > 0 {
            let oldest = Int64(ring[Int(head)] >> 1)
            let elapsed = (stamp & Int64(OutcomeWindow.stampMask)) - oldest
            let isWrapped = elapsed < 0
            guard (isWrapped ? elapsed + Int64(OutcomeWindow.stampMask) + 1 : elapsed) >= limit else { return }
            dropOldest()
        }
    }

    private mutating func dropOldest() {
        if ring[Int(head)] & 1 == 1 { bad -= 1 }
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

/// The share of recent samples in which something happened.
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
