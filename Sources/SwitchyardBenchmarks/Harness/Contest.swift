import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// One way of doing the work that is measured.
struct Contender: Sendable {
    let name: String
    /// Does the work once; throws when the answer is not what it should be.
    let work: @Sendable () async throws -> Void
}

/// What one contender did in one round.
struct Score: Codable {
    var perSecond: Double
    var cpuMicroseconds: Double
}

/// Runs contenders in turn, round after round, so that the noise of the machine meets all of them alike.
struct Contest {
    var contenders: [Contender]
    var concurrency: Int
    var rounds = 7
    var secondsPerTurn = 0.4

    /// Returns the scores of each contender, by name, one per round.
    func run() async throws -> [String: [Score]] {
        var scores: [String: [Score]] = [:]
        for contender in contenders { _ = try await turn(of: contender) }
        for round in 0..<rounds {
            for index in contenders.indices {
                let contender = contenders[(index + round) % contenders.count]
                scores[contender.name, default: []].append(try await turn(of: contender))
            }
        }
        return scores
    }

    private func turn(of contender: Contender) async throws -> Score {
        let clock = ContinuousClock()
        let cpuBefore = cpuSeconds()
        let start = clock.now
        let end = start.advanced(by: .seconds(secondsPerTurn))
        let done = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<concurrency {
                group.addTask {
                    var count = 0
                    while clock.now < end {
                        try await contender.work()
                        count += 1
                    }
                    return count
                }
            }
            return try await group.reduce(0, +)
        }
        let elapsed = (clock.now - start) / .seconds(1)
        return Score(
            perSecond: Double(done) / elapsed,
            cpuMicroseconds: (cpuSeconds() - cpuBefore) / Double(done) * 1e6
        )
    }
}

/// Processor time that this process has used, user and system.
func cpuSeconds() -> Double {
    var usage = rusage()
    getrusage(ownProcess, &usage)
    func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
    return seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

/// The middle of some figures, and how far they spread.
struct Spread: Codable {
    var median: Double
    var minimum: Double
    var maximum: Double

    init(_ values: [Double]) {
        let sorted = values.sorted()
        median = sorted.isEmpty ? .nan : sorted[sorted.count / 2]
        minimum = sorted.first ?? .nan
        maximum = sorted.last ?? .nan
    }
}

#if canImport(Glibc)
    private let ownProcess = RUSAGE_SELF.rawValue
#else
    private let ownProcess = RUSAGE_SELF
#endif
