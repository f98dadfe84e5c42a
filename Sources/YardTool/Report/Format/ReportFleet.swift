/// A fleet of clients in time steps.
struct ReportFleet: Codable, Sendable, Equatable {
    /// A server of the fleet.
    struct Server: Codable, Sendable, Equatable {
        /// The work that was requested per second, in units of one request.
        var load: [Double]
        /// The work that the server could do per second, or 0 during an outage.
        var capacity: [Double]
        /// The share of the clients that preferred the server, from 0 to 1.
        var clients: [Double]
        /// The maximum load relative to the capacity, except during an outage.
        var peakLoad: Double
        /// The number of seconds in which the load exceeded the capacity.
        var secondsOverCapacity: Int
    }

    /// A cause of switches and its frequency.
    struct Cause: Codable, Sendable, Equatable {
        /// The end of a sentence that starts with "because".
        var text: String
        var count: Int
    }

    /// The length of a step.
    var step: Double
    /// The number of requests by arrival time.
    var requests: [Int]
    /// The number of requests that ended without a response, by arrival time.
    var failures: [Int]
    /// The number of switches in each step.
    var switches: [Int]
    /// The causes of switches, the most frequent first.
    var causes: [Cause]
    /// The median wait in each step; `p50` and `p99` are `nil` for a step without requests.
    var p50: [Double?]
    var p99: [Double?]
    var servers: [Server]
}
