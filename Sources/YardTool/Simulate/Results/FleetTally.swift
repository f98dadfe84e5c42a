/// What is counted during a simulation.
struct FleetTally: Sendable {
    /// The requests that arrived.
    var requests = 0
    /// The requests that have ended.
    var ended = 0
    /// The requests that ended without an answer.
    var failures = 0
    /// The attempts and probes that were sent.
    var attempts = 0
    /// The work that was asked of each server in each second, in units of one request.
    private(set) var load: [[Double]]

    init(_ plan: FleetPlan) {
        let seconds = Int(FleetScenario.duration) + 3
        load = Array(repeating: Array(repeating: 0, count: seconds), count: FleetClients.servers.count)
    }

    /// Counts work that is asked of a server.
    mutating func addLoad(_ work: Double, to server: Int, at time: Double) {
        load[server][Int(time)] += work
    }
}
