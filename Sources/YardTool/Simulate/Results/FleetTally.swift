import Switchyard

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
    /// How often clients switched in each second.
    private(set) var switchesBySecond: [Int]
    /// How often they switched for which reason.
    private(set) var switchesByCause: [SwitchCause: Int] = [:]
    /// How many clients began or ceased to prefer each server in each second.
    private(set) var arrivals: [[Int]]
    /// How long the requests that were sent took.
    private(set) var waits: FleetWaits

    /// Creates empty counters.
    init() {
        let seconds = Int(FleetScenario.duration) + 3
        load = Array(repeating: Array(repeating: 0, count: seconds), count: FleetClients.servers.count)
        failuresBySecond = Array(repeating: 0, count: seconds)
        requestsBySecond = failuresBySecond
        switchesBySecond = failuresBySecond
        arrivals = Array(repeating: failuresBySecond, count: FleetClients.servers.count)
        waits = FleetWaits(seconds: seconds)
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

    /// Counts a request that was sent and has ended.
    mutating func addEnd(ofRequestFrom start: Double, at time: Double) {
        ended += 1
        waits.add(time - start, from: start)
    }

    /// Counts a client that prefers another server; `nil` for one that is none of the fleet's.
    mutating func addSwitch(from: Int?, to: Int?, _ cause: SwitchCause, at time: Double) {
        let second = Int(time)
        switchesByCause[cause, default: 0] += 1
        switchesBySecond[second] += 1
        if let from { arrivals[from][second] -= 1 }
        if let to { arrivals[to][second] += 1 }
    }

    /// Counts work that is asked of a server.
    mutating func addLoad(_ work: Double, to server: Int, at time: Double) {
        load[server][Int(time)] += work
    }
}
