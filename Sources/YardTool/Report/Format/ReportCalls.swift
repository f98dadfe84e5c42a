import SwitchyardInspector

/// Whether one server received the request of a call, or the call was hedged (sent to a second server because the first
/// was slow) or failed over.
enum CallWay: Int, Codable, Sendable, CaseIterable {
    /// One server received the request.
    case direct
    /// A second server received the request while the first, slow server was still working on it.
    case hedged
    /// Another server received the request after the first server had failed.
    case failedOver
}

/// All calls, as arrays of equal length with one element per call, sorted by start time.
struct ReportCalls: Codable, Sendable, Equatable {
    /// The times at which the calls were due.
    var start: [Double] = []
    /// The times from the moment at which each call was due until it ended, in milliseconds.
    var wait: [Double] = []
    /// The index of the server that responded or, for a failed call, failed last; -1 if there was no such server.
    var server: [Int] = []
    /// The raw values of ``CallWay``: 0 if one server received the request, 1 if the call was hedged, 2 if it failed
    /// over.
    var way: [Int] = []
    /// For each call that was hedged or failed over, the index of the server that received the first attempt; -1 for
    /// other calls.
    ///
    /// The property is `nil` if the attempts are unknown.
    var first: [Int]?
    /// The failure of each call: 0 if the call succeeded, otherwise the position in ``failures``, counted from 1.
    var failure: [Int] = []
    /// The kinds of failure, such as `timeout` and `http503`.
    var failures: [String] = []
    /// The description of each kind of failure, such as `no response within 2 s`, or `nil` in an older report.
    var reasons: [String]?
    /// The indexes of the calls that succeeded although their first server had failed, or `nil` if there are none.
    var saved: [Int]?
}

extension ReportCalls {
    /// Returns whether a call succeeded in this way.
    func succeeded(_ call: Int, _ way: CallWay) -> Bool { failure[call] == 0 && self.way[call] == way.rawValue }
}

/// The number of calls in each time step.
///
/// A call belongs to the time step in which it was due.
struct ReportRates: Codable, Sendable, Equatable {
    /// The length of a time step in seconds.
    var step: Double
    /// For each server, the number of calls to which it responded successfully in each step.
    var answered: [[Int]]
    /// The number of failed calls in each step.
    var failed: [Int]
    /// For each server, the number of attempts that were sent to it in each step, or `nil` if they are unknown.
    ///
    /// Unlike a call, an attempt belongs to the time step in which it was sent.
    var sent: [[Int]]?
}

/// A wait that the page marks with a line.
struct ReportLimit: Codable, Sendable, Equatable {
    /// The name of the line that marks the deadline of the calls.
    static let deadline = "deadline"

    /// The name of the line, such as `deadline`.
    var name: String
    /// The wait in milliseconds.
    var wait: Double
}

/// The statistics of one phase of a run: before, during or after the faults, or all calls.
struct ReportPhase: Codable, Sendable, Equatable {
    /// The name of a phase.
    enum Name: String, Codable, Sendable, CaseIterable {
        case before, during, after, all
    }

    var name: Name
    var calls: Int
    var failures: Int
    /// The number of the failures that are not the fault of a server, such as a response with status 404, or `nil` if
    /// there are none.
    var requestErrors: Int?
    /// The number of hedged calls that succeeded.
    ///
    /// `failedOver` is the number of calls that failed over and succeeded. Both are `nil` for a fleet.
    var hedged: Int?
    var failedOver: Int?
    /// The median wait in milliseconds.
    ///
    /// `p50`, `p90` and `p99` are determined by the nearest rank.
    var p50: Double?
    var p90: Double?
    var p99: Double?
    var max: Double?

    /// The median and the 90th and 99th percentiles, or `nil` values if there are too few calls for percentiles.
    var percentiles: [Double?] { calls < VerdictText.leastForPercentiles ? [nil, nil, nil] : [p50, p90, p99] }

    /// The number of failures as a part of a sentence, such as `3 failed, 1 of them with a request error`.
    var failureWords: String {
        guard failures > 0 else { return "none failed" }
        let total = "\(failures.figure) failed"
        guard let requestErrors else { return total }
        return requestErrors == failures
            ? "\(total) with a request error" : "\(total), \(requestErrors.figure) of them with a request error"
    }
}

/// The totals of one server.
struct ReportTotal: Codable, Sendable, Equatable {
    var server: Int
    var answered: Int
    /// The server's share of all successful calls, from 0 to 1.
    var share: Double
    /// The number of hedged calls to which this server responded.
    ///
    /// A hedged call was sent to a second server because the first was slow. `failedOver` is the number of calls to
    /// which it responded after another server had failed.
    var hedged: Int
    var failedOver: Int
    var p50: Double?
    var p99: Double?
}
