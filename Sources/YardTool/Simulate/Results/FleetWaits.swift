/// A histogram of the request durations in milliseconds for each second of the simulation.
///
/// The size of the histogram does not depend on the number of clients.
struct FleetWaits: Sendable {
    /// The number of millisecond buckets; no request takes longer than the deadline.
    private static let buckets = Int(FleetPlan.deadline / .milliseconds(1)) + 1

    /// The number of requests in each bucket.
    ///
    /// The buckets of one second are next to each other.
    private var counts: ContiguousArray<UInt32>
    private let seconds: Int

    init(seconds: Int) {
        self.seconds = seconds
        counts = ContiguousArray(repeating: 0, count: seconds * Self.buckets)
    }

    /// Counts a request that started at `start` and took `wait` (both in seconds).
    mutating func add(_ wait: Double, from start: Double) {
        let bucket = min(Self.buckets - 1, max(0, Int((wait * 1000).rounded())))
        counts[Int(start) * Self.buckets + bucket] += 1
    }

    /// Returns quantiles of the request durations in a range of seconds, in milliseconds and by the nearest rank.
    ///
    /// `shares` must be in ascending order. If there is no request, all results are `nil`.
    func quantiles(_ shares: [Double], of range: Range<Int>) -> [Double?] {
        let totals = (0..<Self.buckets).map { bucket in
            range.clamped(to: 0..<seconds).reduce(0) { $0 + Int(counts[$1 * Self.buckets + bucket]) }
        }
        let count = totals.reduce(0, +)
        guard count > 0 else { return shares.map { _ in nil } }
        var (bucket, seen) = (0, totals[0])
        return shares.map { share in
            let rank = max(1, (share * Double(count)).rounded(.up))
            while Double(seen) < rank {
                bucket += 1
                seen += totals[bucket]
            }
            return Double(bucket)
        }
    }
}
