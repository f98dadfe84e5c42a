/// The latencies of a server's last 64 successes, in 128 bytes.
///
/// Each latency is stored as the upper half of a `Float`, which is exact to 0.4 %. The halves sort like the numbers
/// themselves. The percentiles are recalculated after every 16th sample, from the 8 longest latencies.
struct LatencyDigest: Sendable {
    private static let capacity = 64
    /// The minimum number of samples for which a percentile is computed.
    private static let minimum: UInt8 = 8

    private var samples = SIMD64<UInt16>()
    private var next: UInt8 = 0
    private var used: UInt8 = 0
    private var cachedBulk: UInt16 = 0
    private var cachedTail: UInt16 = 0
    /// The exponentially weighted mean of all samples, in seconds; 0 without a sample.
    ///
    /// A new sample has the weight 0.2, as in MongoDB's drivers.
    private(set) var mean: Float = 0

    /// The 90th percentile in seconds, or `nil` with fewer than 8 samples.
    ///
    /// One slow response in twenty does not change it. At most the 15 newest samples are not included.
    var bulk: Double? {
        used < LatencyDigest.minimum ? nil : LatencyDigest.seconds(cachedBulk)
    }

    /// The second longest of the last 64 latencies in seconds, or `nil` with fewer than 64.
    ///
    /// At most the 15 newest samples are not included. On average, 2 of 65 later latencies exceed it (3 %), whatever
    /// their distribution (order statistics).
    var tail: Double? {
        used < LatencyDigest.capacity ? nil : LatencyDigest.seconds(cachedTail)
    }

    /// Adds the latency of a success, in seconds; a negative value counts as 0.
    mutating func record(_ seconds: Double) {
        let value = Float(max(0, seconds))
        samples[Int(next)] = UInt16(truncatingIfNeeded: value.bitPattern >> 16)
        next = (next + 1) % UInt8(LatencyDigest.capacity)
        mean = used == 0 ? value : mean + (value - mean) / 5
        if used < LatencyDigest.capacity { used += 1 }
        guard next % 16 == 0 || used == LatencyDigest.minimum else { return }
        // Even with 64 samples, both percentiles are among the 8 longest latencies.
        let longest = longest
        cachedBulk = longest[place(of: 0.9)]
        cachedTail = longest[place(of: 0.99)]
    }

    /// The 8 longest latencies, longest first.
    private var longest: SIMD8<UInt16> {
        withUnsafeBytes(of: samples) { bytes in
            var longest = SIMD8<UInt16>()
            for sample in bytes.bindMemory(to: UInt16.self) where sample > longest[7] {
                var place = 7
                while place > 0, longest[place - 1] < sample {
                    longest[place] = longest[place - 1]
                    place -= 1
                }
                longest[place] = sample
            }
            return longest
        }
    }

    /// The number of samples.
    var count: Int { Int(used) }

    /// Returns a quantile in seconds: the sample at rank `share * (count - 1)`, rounded down.
    ///
    /// The result is `nil` if there are no samples.
    func quantile(_ share: Double) -> Double? {
        used == 0 ? nil : LatencyDigest.seconds(quantileBits(share))
    }

    /// Returns the number of samples that are longer than a quantile.
    private func place(of share: Double) -> Int { Int(used) - 1 - Int(share * Double(Int(used) - 1)) }

    private func quantileBits(_ share: Double) -> UInt16 {
        let greater = place(of: share)
        var low = 0
        var high = 0x7F80
        while low < high {
            let middle = (low + high) / 2
            if samplesAbove(UInt16(middle)) > greater { low = middle + 1 } else { high = middle }
        }
        return UInt16(low)
    }

    /// Returns the number of samples that are greater than `bound`.
    ///
    /// Unused entries are 0, so they are not counted.
    private func samplesAbove(_ bound: UInt16) -> Int {
        withUnsafeBytes(of: samples) { bytes in
            bytes.bindMemory(to: UInt16.self).reduce(0) { $1 > bound ? $0 + 1 : $0 }
        }
    }

    private static func seconds(_ bits: UInt16) -> Double {
        Double(Float(bitPattern: UInt32(bits) << 16))
    }
}
