/// What is counted during a simulation.
struct FleetTally: Sendable {
    /// The requests that arrived.
    private(set) var requests = 0
    /// The requests that have ended.
    var ended = 0
    /// The requests that ended without an answer.
    private(set) var failures = 0
    /// The requests of each second that ended without an answer, by the time of their arrival.
    private(set) var failuresBySecond: [Int]
    /// The requests that arrived in each second.
    private(set) var requestsBySecond: [Int]
    /// The attempts and probes that were sent.
    var attempts = 0
    /// The work that was asked of each server in each second, in units of one request.
    private(set) var load: [[Double]]

    /// Creates empty counters.
    init() {
        let seconds = Int(FleetScenario.duration) + 3
        load = Array(repeating: Array(repeating: 0, count: seconds), count: FleetClients.servers.count)
        failuresBySecond = Array(repeating: 0, count: seconds)
        requestsBySecond = failuresBySecond
    }

    /// Counts a request that arrives.
    mutating func addRequest(at time: Double) {
        requests += 1
        requestsBySecond[Int(time)] += 1
    }

    /// Counts a request that ended without an answer.
    mutating func addFailure(ofRequestFrom time: Double) {
        failures += 1
        failuresBySecond[Int(time)] += 1
    }

    /// Counts work that is asked of a server.
    mutating func addLoad(_ work: Double, to server: Int, at time: Double) {
        load[server][Int(time)] += work
    }
}
