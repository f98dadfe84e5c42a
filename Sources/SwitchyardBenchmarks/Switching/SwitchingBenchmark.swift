import Foundation
import Switchyard

/// A benchmark of the switching core: processor time per attempt and memory per server.
///
/// A measurement makes many attempts one after another with a core of three servers in virtual time. For each attempt,
/// it chooses a server, computes the delay before a hedge (a second attempt), and reports a response with its latency
/// to the core. The result is the median of the measurements. ``CoreMemory`` measures the memory.
struct SwitchingBenchmark {
    var isJSON = false
    var rounds = 9
    var attemptsPerRound = 1_000_000

    private static let policies: [SwitchPolicy] = [.recommended, .smallFleet, .stickyErrorRatio, .off]

    func run() throws {
        var results = Self.policies.map { SwitchingResult(policy: $0.name) }
        for _ in 0..<rounds {
            for index in results.indices {
                results[index].rounds.append(try nanoseconds(Self.policies[index]))
            }
        }
        let bytes = try CoreMemory(policy: .recommended).bytesPerServer()
        if isJSON {
            let report = SwitchingReport(policies: results.map(\.summary), bytesPerServer: bytes)
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys]
            print(String(decoding: try encoder.encode(report), as: UTF8.self))
        } else {
            print("choose + record   ns per attempt (minimum to maximum of \(rounds) measurements)")
            for result in results { print(result.line) }
            print("memory            \(bytes) bytes per server with full windows")
        }
    }

    /// Returns the processor time of one attempt in nanoseconds.
    private func nanoseconds(_ policy: SwitchPolicy) throws -> Double {
        var core = try SwitchingCore(members: CoreMemory.members, policy: policy, at: .zero, seed: 1)
        var now = MonotonicTime.zero
        var events = 0
        let before = ProcessUsage.current.cpuSeconds
        for number in 0..<attemptsPerRound {
            now.nanoseconds += 1_000_000
            guard let attempt = core.choose(at: now) else { throw BenchmarkError("no server was selected") }
            _ = core.hedgeDelay(for: attempt, remaining: .seconds(2))
            let latency = Int64(5_000_000 + (number & 1023) * 1000)
            now.nanoseconds += latency
            events += core.settle(attempt, .success(latency: .nanoseconds(latency)), at: now).count
        }
        let elapsed = ProcessUsage.current.cpuSeconds - before
        guard events == 0 else { throw BenchmarkError("\(events) events occurred without a fault") }
        return elapsed / Double(attemptsPerRound) * 1e9
    }
}

/// The processor time and memory of the switching core with one policy.
struct SwitchingResult {
    let policy: String
    var rounds: [Double] = []

    var summary: SwitchingReport.Policy { SwitchingReport.Policy(name: policy, nanoseconds: Spread(rounds)) }

    var line: String {
        let spread = Spread(rounds)
        let name = policy.padding(toLength: 18, withPad: " ", startingAt: 0)
        return name + String(format: "%.0f (%.0f to %.0f)", spread.median, spread.minimum, spread.maximum)
    }
}

/// The output of `--json`.
struct SwitchingReport: Codable {
    struct Policy: Codable {
        var name: String
        var nanoseconds: Spread
    }

    var policies: [Policy]
    var bytesPerServer: Int
}
