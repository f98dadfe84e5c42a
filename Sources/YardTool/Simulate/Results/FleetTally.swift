import Switchyard

/// The totals of a simulated fleet (``FleetSimulation``): requests, failures, attempts, load and switches.
struct FleetTally: Sendable {
    /// The number of requests that arrived.
    private(set) var requests = 0
    /// The number of requests that have ended.
    var ended = 0
    /// The number of requests that ended without a response.
    private(set) var failures = 0
    /// The number of requests that ended without a response, by second of arrival.
    private(set) var failuresBySecond: [Int]
    /// The number of requests that ended without a response, by the kind of failure, such as `timeout`.
    private(set) var failuresByKind: [String: Int] = [:]
    /// The number of requests by second of arrival.
    private(set) var requestsBySecond: [Int]
    /// The number of attempts and probes that were sent.
    var attempts = 0
    /// The work that clients requested of each server in each second.
    ///
    /// The unit is the work for one request.
    private(set) var load: [[Double]]
    /// The number of switches in each second.
    private(set) var switchesBySecond: [Int]
    /// The number of switches by cause.
    private(set) var switchesByCause: [SwitchCause: Int] = [:]
    /// The change in the number of clients that prefer each server, in each second.
    private(set) var arrivals: [[Int]]
    /// The durations of the requests that were sent.
    private(set) var waits: FleetWaits

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

    /// Counts a request that ended without a response.
    mutating func addFailure(_ kind: String, ofRequestFrom time: Double) {
        failures += 1
        failuresByKind[kind, default: 0] += 1
        failuresBySecond[Int(time)] += 1
    }

    /// Counts a request that was sent and has ended.
    mutating func addEnd(ofRequestFrom start: Double, at time: Double) {
        ended += 1
        waits.add(time - start, from: start)
    }

    /// Counts a switch of a client from one server to another; `nil` means no server.
    mutating func addSwitch(from: Int?, to: Int?, _ cause: SwitchCause, at time: Double) {
        let second = Int(time)
        switchesByCause[cause, default: 0] += 1
        switchesBySecond[second] += 1
        if let from { arrivals[from][second] -= 1 }
        if let to { arrivals[to][second] += 1 }
    }

    /// Counts work that is requested of a server.
    mutating func addLoad(_ work: Double, to server: Int, at time: Double) {
        load[server][Int(time)] += work
    }
}
