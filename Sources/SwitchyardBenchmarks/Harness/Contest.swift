import Foundation

/// One way of doing the work that is measured.
struct Contender: Sendable {
    let name: String
    /// Does the work for so many at a time and so many seconds, and returns how often it was done.
    private let drive: @Sendable (_ concurrency: Int, _ seconds: Double) async throws -> Int

    /// A contender whose work can be done by several tasks at once.
    ///
    /// - Parameters:
    ///   - name: The name in the table.
    ///   - work: Does the work once; throws when the answer is not what it should be.
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

    /// A contender that goes about its work in a way of its own.
    init(name: String, drive: @escaping @Sendable (_ concurrency: Int, _ seconds: Double) async throws -> Int) {
        self.name = name
        self.drive = drive
    }

    /// Does the work in its turn.
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
    /// The one of that name; all of them when it is `nil`.
    func chosen(_ name: String?) throws(BenchmarkError) -> [Contender] {
        guard let name else { return self }
        try BenchmarkError.refuse([name], unlessAmong: map(\.name))
        return filter { $0.name == name }
    }
}

/// What one contender did in one round.
struct Score: Codable {
    var perSecond: Double
    var cpuMicroseconds: Double
    /// For each time the work was done, how often it reached for memory that the system had yet to provide.
    var pageFaults: Double
}

/// Runs contenders in turn, round after round, so that the noise of the machine meets all of them alike.
///
/// Whom a contender follows matters too: of two that are the same, one behind the other, the second did 1.05 of the
/// first's requests. So within the rounds each follows each other equally often, and may warm up.
struct Contest {
    var contenders: [Contender]
    var concurrency: Int
    /// At least so many are run: as many as it takes until everyone has followed everyone.
    var rounds = 7
    var secondsPerTurn = 0.4
    /// How long a contender works before its turn is counted.
    var secondsToWarmUp = 0.0

    /// Returns the scores of each contender, by name, one per round.
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

    /// The orders of rounds after which each has followed each other equally often (Williams, Australian Journal of
    /// Scientific Research A 2, 1949): as many as there are contenders, or twice as many when their number is odd.
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

/// The middle of some figures, and how far they spread.
struct Spread: Codable {
    var median: Double
    var minimum: Double
    var maximum: Double
    /// Between these two lies the median of all rounds that could be run, with a certainty of 95 %: by the ranks of the
    /// figures, whatever their distribution (Conover, Practical Nonparametric Statistics, section 3.2).
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
