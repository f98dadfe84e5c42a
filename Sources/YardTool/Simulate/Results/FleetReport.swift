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

    /// The load of a server after the failure has started, not counting the time in which the server is down.
    struct ServerLoad: Codable, Sendable, Equatable {
        var name: String
        /// The maximum load in any second, relative to the server's capacity in that second.
        var peakLoad: Double
        /// The number of seconds in which the load exceeded the capacity.
        var secondsOverCapacity: Int
    }

    var scenario: String
    var policy: String
    var serverModel: String
    var warm: Bool
    var clients: Int
    var seed: UInt64
    var requests: Int
    var failures: Int
    var failPercent: Double
    /// The failed requests of the same clients without switching, in percent, or `nil` if they were not simulated.
    ///
    /// These clients select the first server of a request in the same way, and send the request only once.
    var failPercentWithoutSwitching: Double?
    /// The number of attempts and probes per request.
    var attemptsPerRequest: Double
    var servers: [ServerLoad]
    var switchesPerClient: Count
    /// The times from the recovery of the preferred server until this server responds to a client again.
    var failBackSeconds: Times
    var wallSeconds: Double
    /// The timeline, if it was requested.
    var timeline: [FleetTimeline.Step]?

    /// Summarizes a completed simulation.
    init(of simulation: FleetSimulation, wallSeconds: Double) {
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
        failPercent = Self.rounded(100 * Double(tally.failures) / Double(max(1, tally.requests)), to: 4)
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
        self.wallSeconds = Self.rounded(wallSeconds, to: 2)
    }

    private static func load(of name: String, _ server: SimulatedServer, _ work: [Double]) -> ServerLoad {
        let seconds = Int(FleetScenario.troubleStart)..<Int(FleetScenario.duration)
        let loads = seconds.compactMap { second -> Double? in
            let middle = Double(second) + 0.5
            if let outage = server.outage, outage.span.contains(middle) { return nil }
            return work[second] / server.capacity.rate(at: middle)
        }
        return ServerLoad(
            name: name,
            peakLoad: rounded(loads.max() ?? 0, to: 3),
            secondsOverCapacity: loads.count { $0 > 1 }
        )
    }

    private static func times(_ values: ContiguousArray<Float>) -> Times {
        let sorted = values.filter { !$0.isNaN }.sorted()
        guard let last = sorted.indices.last else { return Times(median: nil, p95: nil) }
        return Times(
            median: rounded(Double(sorted[last / 2]), to: 1),
            p95: rounded(Double(sorted[last * 95 / 100]), to: 1)
        )
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

    private var comparison: String {
        failPercentWithoutSwitching.map { " (without switching: \($0) %)" } ?? ""
    }

    /// The report as a readable table.
    var table: String {
        var rows = [
            ("scenario", "\(scenario), \(serverModel) servers\(warm ? ", warm fallback" : "")"),
            ("policy", policy),
            ("clients", "\(clients) at \(FleetPlan.rate) requests/s, seed \(seed)"),
            ("requests", "\(requests), \(attemptsPerRequest) attempts each"),
            ("failures", "\(failures), \(failPercent) %\(comparison)"),
            ("switches", "\(switchesPerClient.mean) per client, at most \(switchesPerClient.max)"),
        ]
        if let median = failBackSeconds.median, let p95 = failBackSeconds.p95 {
            rows.append(("server 1", "responds again: 50 % of the clients within \(median) s, 95 % within \(p95) s"))
        }
        for server in servers {
            let load = "at most \(server.peakLoad) of its capacity, \(server.secondsOverCapacity) s above it"
            rows.append(("server \(server.name)", load))
        }
        rows.append(("run time", "\(wallSeconds) s"))
        return rows.map { $0.0.padding(toLength: 12, withPad: " ", startingAt: 0) + $0.1 }.joined(separator: "\n")
    }
}
