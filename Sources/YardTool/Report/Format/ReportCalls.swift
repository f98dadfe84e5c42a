/// The way in which a call was completed.
enum CallWay: Int, Codable, Sendable, CaseIterable {
    /// One server received the request.
    case direct
    /// A second server received the request in parallel to a slow server.
    case hedged
    /// Another server received the request after the first server had failed.
    case failedOver
}

/// All calls in columns of equal length, sorted by start time.
struct ReportCalls: Codable, Sendable, Equatable {
    /// The times at which the calls were due.
    var start: [Double] = []
    /// The times that the callers waited.
    var wait: [Double] = []
    /// The servers that responded or failed last, or -1 if there was none.
    var server: [Int] = []
    /// The ways in which the calls were completed: 0 for one server, 1 for hedged, 2 for failed over.
    var way: [Int] = []
    /// The failures: 0 for a response, otherwise the position in ``failures`` counted from 1.
    var failure: [Int] = []
    /// The kinds of failure, such as `timeout` and `http503`.
    var failures: [String] = []
}

/// The numbers of calls in each time step, by the time at which they were due.
struct ReportRates: Codable, Sendable, Equatable {
    /// The length of a step.
    var step: Double
    /// The number of successful calls of each server in each step.
    var answered: [[Int]]
    /// The number of failed calls in each step.
    var failed: [Int]
}

/// The statistics of one phase of a run.
struct ReportPhase: Codable, Sendable, Equatable {
    /// The name of a phase.
    enum Name: String, Codable, Sendable, CaseIterable {
        case before, during, after, all
    }

    var name: Name
    var calls: Int
    var failures: Int
    /// The number of hedged calls; `hedged` and `failedOver` are `nil` for a fleet.
    var hedged: Int?
    var failedOver: Int?
    /// The median wait; `p50`, `p90` and `p99` are determined by the nearest rank.
    var p50: Double?
    var p90: Double?
    var p99: Double?
    var max: Double?
}

/// The totals of one server.
struct ReportTotal: Codable, Sendable, Equatable {
    var server: Int
    var answered: Int
    /// The server's share of all successful calls, from 0 to 1.
    var share: Double
    /// The number of the server's responses to hedged calls; `failedOver` counts its responses to calls that another
    /// server had failed.
    var hedged: Int
    var failedOver: Int
    var p50: Double?
    var p99: Double?
}
