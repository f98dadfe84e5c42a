/// How a call came to its end.
enum CallWay: Int, Codable, Sendable, CaseIterable {
    /// One server was asked.
    case direct
    /// A second server was asked beside a slow one.
    case hedged
    /// Another server was asked after the first had failed.
    case failedOver
}

/// Every call, in columns of the same length, by the time when it began.
struct ReportCalls: Codable, Sendable, Equatable {
    /// When the call was due.
    var start: [Double] = []
    /// How long its caller waited.
    var wait: [Double] = []
    /// The server that answered, or that failed last; -1 when none did.
    var server: [Int] = []
    /// How it came to its end: 0 one server was asked, 1 hedged, 2 failed over.
    var way: [Int] = []
    /// 0 for an answer; else the place in ``failures``, counted from 1.
    var failure: [Int] = []
    /// The kinds of failure, such as `timeout` and `http503`.
    var failures: [String] = []
}

/// The calls of each step of time, by when they were due.
struct ReportRates: Codable, Sendable, Equatable {
    /// How long a step is.
    var step: Double
    /// How many calls each server answered in each step.
    var answered: [[Int]]
    /// How many calls failed in each step.
    var failed: [Int]
}

/// How long callers waited in one part of a run.
struct ReportPhase: Codable, Sendable, Equatable {
    /// Which part.
    enum Name: String, Codable, Sendable, CaseIterable {
        case before, during, after, all
    }

    var name: Name
    var calls: Int
    var failures: Int
    /// The calls that asked a second server beside a slow one, and after a failed one; `nil` for a fleet.
    var hedged: Int?
    var failedOver: Int?
    /// The waits that a half, 90 % and 99 % of the calls did not exceed, by the nearest rank, and the longest one.
    var p50: Double?
    var p90: Double?
    var p99: Double?
    var max: Double?
}

/// What a server did for the callers.
struct ReportTotal: Codable, Sendable, Equatable {
    var server: Int
    var answered: Int
    /// Its share of all answers, 0 to 1.
    var share: Double
    /// The answers among them to calls that were hedged, and to calls that another server had failed.
    var hedged: Int
    var failedOver: Int
    var p50: Double?
    var p99: Double?
}
