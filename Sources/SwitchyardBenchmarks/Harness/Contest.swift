import Foundation

/// A contender: one of the implementations of the measured work that a ``Contest`` compares.
struct Contender: Sendable {
    let name: String
    /// A function that repeats the work for `seconds`, with `concurrency` repetitions at the same time, and returns the
    /// number of completed repetitions.
    private let drive: @Sendable (_ concurrency: Int, _ seconds: Double) async throws -> Int

    /// Creates a contender whose work several tasks can do at the same time.
    ///
    /// - Parameters:
    ///   - name: The name in the table.
    ///   - work: Does the work once, and throws if the response is wrong.
    init(name: String, work: @escaping @Sendable () async throws -> Void) {
        self.name = name
        drive = { concurrency, seconds in
            let end = ContinuousClock.now.advanced(by: .seconds(seconds))
            return try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<concurrency {
                    group.addTask {
                        var count = 0
                        while ContinuousClock.now < end {
                            try await work()
                            count += 1
                        }
                        return count
                    }
                }
                return try await group.reduce(0, +)
            }
        }
    }

    /// Creates a contender whose function `drive` starts the concurrent repetitions and measures the time itself.
    init(name: String, drive: @escaping @Sendable (_ concurrency: Int, _ seconds: Double) async throws -> Int) {
        self.name = name
        self.drive = drive
    }

    /// Measures this contender for a number of seconds (a turn) and returns its score.
    func turn(concurrency: Int, seconds: Double) async throws -> Score {
        let before = ProcessUsage.current
        let start = ContinuousClock.now
        let done = try await Double(drive(concurrency, seconds))
        let elapsed = (ContinuousClock.now - start) / .seconds(1)
        let after = ProcessUsage.current
        return Score(
            perSecond: done / elapsed,
            cpuMicroseconds: (after.cpuSeconds - before.cpuSeconds) / done * 1e6,
            pageFaults: Double(after.pageFaults - before.pageFaults) / done
        )
    }
}

extension [Contender] {
    /// Returns the contender with this name, or all contenders if the name is `nil`.
    func chosen(_ name: String?) throws(BenchmarkError) -> [Contender] {
        guard let name else { return self }
        try BenchmarkError.refuse([name], unlessAmong: map(\.name))
        return filter { $0.name == name }
    }
}

/// The results of one contender in one measurement.
struct Score: Codable {
    var perSecond: Double
    var cpuMicroseconds: Double
    /// The number of page faults per repetition of the work.
    var pageFaults: Double
}

/// A comparison of contenders (implementations of the same work).
///
/// Each measurement (see `rounds`) runs every contender once, so that the noise of the machine affects all of them
/// equally.
///
/// The order of contenders also matters: of two identical contenders, the second contender sent 1.05 times as many
/// requests as the first. Therefore, each contender follows each other contender equally often, and each turn starts
/// with a warm-up that is not measured.
struct Contest {
    var contenders: [Contender]
    var concurrency: Int
    /// The minimum number of measurements.
    ///
    /// It is increased until each contender has followed each other contender equally often.
    var rounds = 7
    var secondsPerTurn = 0.4
    /// The warm-up time in seconds before a turn is measured.
    var secondsToWarmUp = 0.0

    /// Makes the measurements.
    ///
    /// Returns the scores of each contender by name, one score per measurement.
    func run() async throws -> [String: [Score]] {
        var scores: [String: [Score]] = [:]
        for contender in contenders { _ = try await turn(of: contender) }
        let orders = Self.orders(of: contenders.count)
        let times = (rounds + orders.count - 1) / orders.count
        for order in repeatElement(orders, count: times).joined() {
            for index in order {
                let contender = contenders[index]
                scores[contender.name, default: []].append(try await turn(of: contender))
            }
        }
        return scores
    }

    /// Returns the orders of the contenders for a series of measurements.
    ///
    /// In the series, each contender follows each other contender equally often (Williams, Australian Journal of
    /// Scientific Research A 2, 1949).
    ///
    /// The number of orders equals the number of contenders. If the number of contenders is odd, there are twice as
    /// many orders.
    private static func orders(of count: Int) -> [[Int]] {
        let zigzag = (0..<count).map { $0.isMultiple(of: 2) ? (count - $0 / 2) % count : ($0 + 1) / 2 }
        let orders = (0..<count).map { shift in zigzag.map { ($0 + shift) % count } }
        return count.isMultiple(of: 2) ? orders : orders + orders.map { $0.reversed() }
    }

    private func turn(of contender: Contender) async throws -> Score {
        if secondsToWarmUp > 0 { _ = try await contender.turn(concurrency: concurrency, seconds: secondsToWarmUp) }
        return try await contender.turn(concurrency: concurrency, seconds: secondsPerTurn)
    }
}

/// The median of a set of measurements, and how far they differ.
struct Spread: Codable {
    var median: Double
    var minimum: Double
    var maximum: Double
    /// The lower bound of a 95 % confidence interval for the true median; `upper` is the upper bound.
    ///
    /// The bounds are computed from the ranks of the measurements, so they are valid for any distribution (Conover,
    /// Practical Nonparametric Statistics, section 3.2).
    var lower: Double
    var upper: Double

    init(_ values: [Double]) {
        let sorted = values.sorted()
        let middle = sorted.count / 2
        let distance = Int((0.98 * Double(sorted.count).squareRoot()).rounded(.up))
        func at(_ index: Int) -> Double { sorted.isEmpty ? .nan : sorted[min(max(0, index), sorted.count - 1)] }
        (median, minimum, maximum) = (at(middle), at(0), at(sorted.count - 1))
        (lower, upper) = (at(middle - distance), at(middle + distance))
    }
}
