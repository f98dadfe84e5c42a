/// The load, the failures and the switches of a fleet of clients in each time step.
struct ReportFleet: Codable, Sendable, Equatable {
    /// A server of the fleet.
    struct Server: Codable, Sendable, Equatable {
        /// The work that clients requested per second in each step.
        ///
        /// The unit is the work for one request.
        var load: [Double]
        /// The work that the server can do per second in each step, in the same unit as ``load``, or 0 during an
        /// outage.
        var capacity: [Double]
        /// The share of the clients that prefer the server in each step, from 0 to 1.
        var clients: [Double]
        /// The maximum load relative to the capacity, except during an outage.
        var peakLoad: Double
        /// The number of seconds in which the load exceeded the capacity.
        var secondsOverCapacity: Int
    }

    /// A cause of switches and its frequency.
    struct Cause: Codable, Sendable, Equatable {
        /// The cause as the end of a sentence that starts with "because".
        var text: String
        var count: Int
    }

    /// The length of a time step in seconds.
    var step: Double
    /// The number of requests that started in each step.
    var requests: [Int]
    /// The number of requests that started in each step and received no response.
    var failures: [Int]
    /// The number of switches in each step.
    var switches: [Int]
    /// The causes of switches.
    ///
    /// The most frequent cause is the first.
    var causes: [Cause]
    /// The median wait in each step in milliseconds.
    ///
    /// `p50` and `p99` are `nil` for a time step without requests.
    var p50: [Double?]
    var p99: [Double?]
    var servers: [Server]
}
