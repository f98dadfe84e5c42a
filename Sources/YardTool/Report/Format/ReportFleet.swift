/// A fleet of clients, in steps of time.
struct ReportFleet: Codable, Sendable, Equatable {
    /// One of its servers.
    struct Server: Codable, Sendable, Equatable {
        /// The work that was asked of it per second, in units of one request.
        var load: [Double]
        /// The work that it could do per second; 0 while it answered nobody.
        var capacity: [Double]
        /// The share of the clients that preferred it, 0 to 1.
        var clients: [Double]
        /// The greatest load relative to the capacity, without the time in which it answered nobody.
        var peakLoad: Double
        /// The seconds in which it was asked for more than its capacity.
        var secondsOverCapacity: Int
    }

    /// Why clients switched, and how often.
    struct Cause: Codable, Sendable, Equatable {
        /// The end of a sentence that begins with "because".
        var text: String
        var count: Int
    }

    /// How long a step is.
    var step: Double
    /// The requests, by when they arrived.
    var requests: [Int]
    /// Those among them that ended without an answer.
    var failures: [Int]
    /// How often clients switched.
    var switches: [Int]
    /// Why, the most frequent cause first.
    var causes: [Cause]
    /// The waits that a half and 99 % of the requests did not exceed; `nil` for a step without any.
    var p50: [Double?]
    var p99: [Double?]
    var servers: [Server]
}
