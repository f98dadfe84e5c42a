/// How long the requests of each second took, in milliseconds: counted, so that a fleet of any size fits.
struct FleetWaits: Sendable {
    /// The milliseconds that are told apart; nothing takes longer than the deadline.
    private static let buckets = Int(FleetPlan.deadline / .milliseconds(1)) + 1

    /// The counts of all milliseconds, second by second.
    private var counts: ContiguousArray<UInt32>
    private let seconds: Int

    /// Creates empty counters.
    init(seconds: Int) {
        self.seconds = seconds
        counts = ContiguousArray(repeating: 0, count: seconds * Self.buckets)
    }

    /// Counts a request.
    mutating func add(_ wait: Double, from start: Double) {
        let bucket = min(Self.buckets - 1, max(0, Int((wait * 1000).rounded())))
        counts[Int(start) * Self.buckets + bucket] += 1
    }

    /// The milliseconds that each share of the requests of these seconds did not exceed, by the nearest rank.
    ///
    /// The shares have to rise. Without a request all are `nil`.
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
