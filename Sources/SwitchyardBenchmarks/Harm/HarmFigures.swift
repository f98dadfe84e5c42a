import Foundation
import Switchyard

/// How one call ended, and how long its caller waited.
struct HarmCall: Sendable {
    var isOdd: Bool
    var milliseconds: Double
    /// Why it failed, in a word or two; `nil` when it was answered as it should be.
    var failure: String?
    /// Whether it failed before anything was sent.
    var isUnsent = false
}

/// What a client did for its callers in one world.
struct HarmFigures: Codable, Sendable, Equatable {
    /// What became of some calls; times in milliseconds, 0 without any call.
    ///
    /// A call that failed counts with its whole deadline, since its caller waited in vain.
    struct Calls: Codable, Sendable, Equatable {
        var count = 0
        var failed = 0
        var p50 = 0.0
        var p99 = 0.0
        var maximum = 0.0

        /// The share of them that failed.
        var failureRate: Double { count > 0 ? Double(failed) / Double(count) : 0 }
    }

    var all: Calls
    /// Those of the endpoints that are well.
    var well: Calls
    /// Those of the odd one.
    var odd: Calls
    /// Calls that failed before anything was sent.
    var unsent: Int
    /// Requests that reached a server: those of failovers, hedges, probes, warm-ups and redirects too.
    var requests: Int
    var switches: Int
    /// The failures by kind.
    var failures: [String: Int]

    var requestsPerCall: Double { all.count > 0 ? Double(requests) / Double(all.count) : 0 }
}

extension HarmFigures {
    init(_ calls: [HarmCall], deadline: Duration, requests: Int, switches: Int) {
        let deadline = deadline / .milliseconds(1)
        all = Calls(calls, deadline: deadline)
        well = Calls(calls.filter { !$0.isOdd }, deadline: deadline)
        odd = Calls(calls.filter(\.isOdd), deadline: deadline)
        unsent = calls.count(where: \.isUnsent)
        self.requests = requests
        self.switches = switches
        failures = Dictionary(calls.compactMap(\.failure).map { ($0, 1) }, uniquingKeysWith: +)
    }
}

extension HarmFigures.Calls {
    init(_ calls: [HarmCall], deadline: Double) {
        let waits = calls.map { $0.failure == nil ? $0.milliseconds : max(deadline, $0.milliseconds) }.sorted()
        // By the nearest rank: the least of them that at least this share of all does not exceed.
        func percentile(_ share: Double) -> Double {
            waits.isEmpty ? 0 : waits[max(1, Int((share * Double(waits.count)).rounded(.up))) - 1]
        }
        count = calls.count
        failed = calls.count { $0.failure != nil }
        p50 = percentile(0.5)
        p99 = percentile(0.99)
        maximum = waits.last ?? 0
    }
}
