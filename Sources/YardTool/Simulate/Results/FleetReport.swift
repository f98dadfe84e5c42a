import Foundation
import Switchyard

/// The results of a simulation.
struct FleetReport: Codable, Sendable, Equatable {
    /// The mean and the maximum of a number over all clients.
    struct Count: Codable, Sendable, Equatable {
        var mean: Double
        var max: Int
    }

    /// Times in seconds, or `nil` if no client has a time.
    struct Times: Codable, Sendable, Equatable {
        var median: Double?
        var p95: Double?
    }

    /// The numbers of failed requests that arrived before, during and after the failure of a server or the network.
    struct FailuresByTime: Codable, Sendable, Equatable {
        var before: Int
        var during: Int
        var after: Int

        /// The number of failed requests that arrived before or after the failure.
        var others: Int { before + after }

        /// The time of ``others`` as a part of a sentence.
        var otherTimes: String { before == 0 ? "afterwards" : "at other times" }
    }

    /// The load of a server after the failure has started, not counting the time in which the server is down.
    struct ServerLoad: Codable, Sendable, Equatable {
        var name: String
        /// The maximum load in any second, relative to the server's capacity in that second.
        var peakLoad: Double
        /// The number of seconds in which the load exceeded the capacity.
        var secondsOverCapacity: Int

        /// The load in words, such as `received at most 1.5 times what it could serve, and too much for 15 s`.
        var words: String {
            let tail = secondsOverCapacity > 0 ? ", and more than it could serve for \(secondsOverCapacity) s" : ""
            return "received at most \(peakLoad.rounded(places: 2)) times what it could serve\(tail)"
        }
    }

    var scenario: String
    var policy: String
    var serverModel: String
    var warm: Bool
    var clients: Int
    var seed: UInt64
    var requests: Int
    var failures: Int
    /// The failed requests by the time of their arrival, or `nil` if neither a server nor the network fails.
    var failuresByTime: FailuresByTime?
    var failPercent: Double
    /// The share of the requests that fail for the same clients without switching, in percent, or `nil` if these
    /// clients were not simulated.
    ///
    /// These clients select the first server of a request in the same way, and send the request only once.
    /// `failuresWithoutSwitching` is the number of their failed requests. `failuresByTimeWithoutSwitching` counts these
    /// requests by the time of their arrival.
    var failPercentWithoutSwitching: Double?
    var failuresWithoutSwitching: Int?
    var failuresByTimeWithoutSwitching: FailuresByTime?
    /// The number of attempts and probes per request.
    var attemptsPerRequest: Double
    var servers: [ServerLoad]
    var switchesPerClient: Count
    /// The times from the recovery of the preferred server until this server first responds to a client again, such as
    /// to a trial call.
    var failBackSeconds: Times
    /// The share of the clients that prefer the first server at the end, from 0 to 1.
    var shareBackAtEnd: Double
    var wallSeconds: Double
    /// The timeline, if it was requested.
    var timeline: [FleetTimeline.Step]?

    /// Summarizes a completed simulation.
    ///
    /// `off` is the result of the same simulation without switching, or `nil` if it was not simulated.
    init(of simulation: FleetSimulation, withoutSwitching off: FleetReport? = nil, wallSeconds: Double) {
        let plan = simulation.plan
        let tally = simulation.tally
        scenario = plan.scenario.rawValue
        policy = plan.policy.name
        serverModel = plan.model.rawValue
        warm = plan.isWarm
        clients = plan.clients
        seed = plan.seed
        requests = tally.requests
        failures = tally.failures
        failuresByTime = tally.failuresByTime(plan.scenario)
        failPercent = Self.rounded(100 * Double(tally.failures) / Double(max(1, tally.requests)), to: 4)
        (failPercentWithoutSwitching, failuresWithoutSwitching) = (off?.failPercent, off?.failures)
        failuresByTimeWithoutSwitching = off?.failuresByTime
        attemptsPerRequest = Self.rounded(Double(tally.attempts) / Double(max(1, tally.requests)), to: 4)
        servers = zip(FleetClients.servers, zip(simulation.servers, tally.load)).map { name, pair in
            Self.load(of: name, pair.0, pair.1)
        }
        let switches = simulation.clients.switches
        let total = switches.reduce(0) { $0 + Int($1) }
        switchesPerClient = Count(
            mean: Self.rounded(Double(total) / Double(max(1, switches.count)), to: 4),
            max: Int(switches.max() ?? 0)
        )
        failBackSeconds = Self.times(simulation.clients.returnTimes)
        let back = tally.arrivals[0].reduce(plan.clients, +)
        shareBackAtEnd = (Double(back) / Double(max(1, plan.clients))).rounded(places: 4)
        self.wallSeconds = Self.rounded(wallSeconds, to: 2)
    }

    private static func load(of name: String, _ server: SimulatedServer, _ work: [Double]) -> ServerLoad {
        let seconds = Int(FleetScenario.troubleStart)..<Int(FleetScenario.duration)
        let loads = seconds.compactMap { second -> Double? in
            let middle = Double(second) + 0.5
            let capacity = server.rate(at: middle)
            return capacity > 0 ? work[second] / capacity : nil
        }
        return ServerLoad(
            name: name,
            peakLoad: rounded(loads.max() ?? 0, to: 3),
            secondsOverCapacity: loads.count { $0 > 1 }
        )
    }

    private static func times(_ values: ContiguousArray<Float>) -> Times {
        let sorted = values.filter { !$0.isNaN }.sorted()
        // Clients whose time is NaN count as the slowest clients.
        func time(_ percent: Int) -> Double? {
            let place = (values.count - 1) * percent / 100
            return sorted.indices.contains(place) ? rounded(Double(sorted[place]), to: 1) : nil
        }
        return Times(median: time(50), p95: time(95))
    }

    private static func rounded(_ value: Double, to places: Int) -> Double {
        let scale = pow(10, Double(places))
        return (value * scale).rounded() / scale
    }
}

extension FleetReport {
    /// Returns the report as one line of JSON with the keys in a fixed order.
    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }

    /// The failed requests of the same clients without switching, as a sentence, or `nil` if they were not simulated.
    ///
    /// The sentence says why more requests can fail than arrived during the failure: afterwards, all clients use a
    /// server that has restarted with a part of its capacity.
    var comparison: String? {
        failuresWithoutSwitching.map { failures in
            let share = (Double(failures) / Double(max(1, requests))).percent
            let parts = comparisonParts.map { ": \($0)" } ?? ""
            return "Without switching, \(failures.figure) of these requests would have failed (\(share))\(parts)."
        }
    }

    /// The numbers of requests that fail without switching until the end of the failure and afterwards, with the cause
    /// of the later failures, or `nil` if no request fails afterwards.
    private var comparisonParts: String? {
        guard let failures = failuresByTimeWithoutSwitching, failures.after > 0 else { return nil }
        let restarts = FleetScenario(rawValue: scenario)?.hasOutage ?? false
        let cause = restarts ? ", because server 1 restarted with a third of its capacity" : ""
        let early = (failures.before + failures.during).figure
        return "\(early) until the failure ended, and \(failures.after.figure) afterwards\(cause)"
    }

    /// The return of the clients to the first server in words, or `nil` if it did not fail.
    var comeback: String? {
        guard let median = failBackSeconds.median else { return nil }
        let most = failBackSeconds.p95.map { ", and 95 % within \($0) s" } ?? ""
        return "half of the clients got a response from server 1 again within \(median) s after the failure ended"
            + "\(most); at the end, \(shareBackAtEnd.percent) of the clients preferred server 1"
    }

    /// The report as a readable table.
    var table: String {
        var rows = [
            ("scenario", "\(scenario), \(serverModel) servers\(warm ? ", warm fallback" : "")"),
            ("policy", policy),
            ("clients", "\(clients), each with \(FleetPlan.rate) requests per second, seed \(seed)"),
            ("requests", "\(requests), with \(attemptsPerRequest) attempts and probes each"),
            ("failures", "\(failures), \(failPercent) % of the requests"),
            ("switches", "\(switchesPerClient.mean) per client on average, at most \(switchesPerClient.max)"),
        ]
        if let comeback { rows.append(("return", comeback)) }
        for server in servers { rows.append(("server \(server.name)", server.words)) }
        rows.append(("run time", "\(wallSeconds) s"))
        return rows.map { $0.0.padding(toLength: 12, withPad: " ", startingAt: 0) + $0.1 }.joined(separator: "\n")
    }
}

extension FleetTally {
    /// Returns the failed requests by the time of their arrival, or `nil` if neither a server nor the network fails.
    func failuresByTime(_ scenario: FleetScenario) -> FleetReport.FailuresByTime? {
        guard scenario.hasFailure else { return nil }
        let seconds = Int(FleetScenario.troubleStart)..<Int(scenario.troubleEnd)
        return FleetReport.FailuresByTime(
            before: failuresBySecond[..<seconds.lowerBound].reduce(0, +),
            during: failuresBySecond[seconds].reduce(0, +),
            after: failuresBySecond[seconds.upperBound...].reduce(0, +)
        )
    }
}
