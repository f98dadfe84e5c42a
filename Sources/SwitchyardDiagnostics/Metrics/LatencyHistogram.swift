import SwitchyardClient
import SwitchyardServices

/// A histogram of durations with 96 buckets.
///
/// The first bucket ends at 50 µs, and each following bucket is 25 % larger, up to over an hour.
///
/// Quantiles are accurate to 12 %, and the memory size is fixed.
public struct LatencyHistogram: Sendable, Hashable {
    private static let count = 96
    private static let lowest = 50e-6
    private static let growth = 1.25

    private var buckets = [UInt32](repeating: 0, count: Self.count)
    /// The number of recorded durations.
    public private(set) var count = 0
    /// The longest recorded duration.
    public private(set) var maximum = Duration.zero

    init() {}

    mutating func record(_ duration: Duration) {
        let seconds = duration.inSeconds
        var bucket = 0
        var bound = Self.lowest
        while seconds > bound, bucket < Self.count - 1 {
            bound *= Self.growth
            bucket += 1
        }
        buckets[bucket] &+= 1
        count += 1
        maximum = max(maximum, duration)
    }

    /// Returns a quantile of the recorded durations, or `nil` if no duration was recorded.
    ///
    /// - Parameter share: The fraction of the durations that are not longer than the result, from 0 to 1, such as 0.99
    ///   for the 99th percentile.
    /// - Returns: The upper bound of the bucket that contains the quantile, at most ``maximum``.
    public func quantile(_ share: Double) -> Duration? {
        guard count > 0 else { return nil }
        let rank = Double(count) * min(max(share, 0), 1)
        var seen = 0
        var bound = Self.lowest
        for bucket in buckets.dropLast() {
            seen += Int(bucket)
            if Double(seen) >= rank, seen > 0 { return min(maximum, .seconds(bound)) }
            bound *= Self.growth
        }
        // The last bucket has no upper bound.
        return maximum
    }
}
