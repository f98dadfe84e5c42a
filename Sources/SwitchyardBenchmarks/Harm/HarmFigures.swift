import Foundation
import Switchyard

/// The result of one call and the time that its caller waited.
struct HarmCall: Sendable {
    var isOdd: Bool
    var milliseconds: Double
    /// The reason for the failure in one or two words, or `nil` if the response was correct.
    var failure: String?
    /// Whether the call failed before anything was sent.
    var isUnsent = false
}

/// The statistics of one client in one scenario.
struct HarmFigures: Codable, Sendable, Equatable {
    /// The statistics of a group of calls.
    ///
    /// Times are in milliseconds, and 0 if there is no call.
    ///
    /// The wait for a failed call is counted as at least the whole deadline, because the caller did not get a response.
    struct Calls: Codable, Sendable, Equatable {
        var count = 0
        var failed = 0
        var p50 = 0.0
        var p99 = 0.0
        var maximum = 0.0

        /// The fraction of failed calls, 0 to 1.
        var failureRate: Double { count > 0 ? Double(failed) / Double(count) : 0 }
    }

    var all: Calls
    /// The statistics of the calls to healthy endpoints.
    var well: Calls
    /// The statistics of the calls to the odd endpoint, which is the one that misbehaves (``Oddity``).
    var odd: Calls
    /// The number of calls that failed before anything was sent.
    var unsent: Int
    /// The number of requests that reached a server, including failovers, hedges (second requests while the first is
    /// slow), probes, warm-up requests and redirects.
    var requests: Int
    var switches: Int
    /// The number of failures by kind.
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
        // The nearest rank: the smallest waiting time that at least this fraction of the calls does not exceed.
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
