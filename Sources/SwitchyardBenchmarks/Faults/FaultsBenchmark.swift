import Foundation
import SwitchyardTesting

/// A benchmark of calls while the first of three servers is faulty.
///
/// Its results are in the article on switching measurements.
///
/// For each fault, a separate process runs `yard load` with a deadline of 2 s. By default, the load is an open loop of
/// 60 requests/s and four workers that pause for 50 ms between calls. The first server is faulty from the 5th to the
/// 15th second.
struct FaultsBenchmark {
    var method = "GET"
    var policy = "recommended"
    /// The number of workers that wait for each response before they send the next request.
    var workers = 4
    var only: Set<String> = []
    /// The number of faults that are measured at the same time.
    var parallel = 3
    var isJSON = false

    func run() async throws {
        let scenarios = try FaultScenario.chosen(only)
        var results: [FaultResult] = []
        var index = 0
        while index < scenarios.count {
            let batch = scenarios[index..<min(index + parallel, scenarios.count)]
            index += parallel
            results += try await withThrowingTaskGroup(of: (Int, FaultResult).self) { group in
                for (position, scenario) in batch.enumerated() {
                    group.addTask { (position, try await run(scenario)) }
                }
                return try await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
            }
        }
        if isJSON {
            print(String(decoding: try JSONEncoder().encode(results), as: UTF8.self))
        } else {
            print(FaultResult.table(results, title: "\(method), policy \(policy)"))
        }
    }

    private func run(_ scenario: FaultScenario) async throws -> FaultResult {
        try await FaultRun(scenario, method: method, policy: policy, workers: workers).run()
    }
}

/// The effects of one fault on the callers.
struct FaultResult: Codable, Sendable {
    var fault: String
    var requests: Int
    /// The number of failed requests.
    ///
    /// A request fails if there is no complete response, or if the status is 500 or above.
    var failures: Int
    /// The number of failures by kind.
    var errors: [String: Int]
    /// The 99th percentile of the latency in milliseconds, for the open-loop requests that were due during the fault.
    var p99: Double
    var maximum: Double
    /// The number of requests that reached the faulty server during the fault.
    var hits: Int
    /// The number of requests that arrived at more than one server, or twice at the same server.
    var duplicates: Int
    /// The time in seconds from the end of the fault to the next response of the first server, or `nil` if the first
    /// server did not respond again.
    var back: Double?
    /// The number of requests that failed after the first server had responded again.
    var failuresAfter: Int
    var switches: Int

    static func table(_ results: [FaultResult], title: String) -> String {
        var lines = [
            title, "fault        requests  failures   p99 ms   max ms  hits  doubles  back s  late failures  switches",
        ]
        for result in results {
            let back = result.back.map { String(format: "%.1f", $0) } ?? "never"
            let name = result.fault.padding(toLength: 12, withPad: " ", startingAt: 0)
            let backText = String(repeating: " ", count: max(0, 8 - back.count)) + back
            lines.append(
                name
                    + String(
                        format: "%9d %9d %8.1f %8.1f %5d %8d",
                        result.requests,
                        result.failures,
                        result.p99,
                        result.maximum,
                        result.hits,
                        result.duplicates
                    )
                    + backText + String(format: "%15d %9d", result.failuresAfter, result.switches)
                    + result.errors.sorted { $0.key < $1.key }.map { "  \($0.key) \($0.value)" }.joined()
            )
        }
        return lines.joined(separator: "\n")
    }
}
