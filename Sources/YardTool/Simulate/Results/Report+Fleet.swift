import Switchyard
import SwitchyardInspector

extension Report {
    /// Creates the report of a completed simulation.
    ///
    /// `off` is the result of the same simulation without switching, or `nil` if it was not simulated.
    init(of simulation: FleetSimulation, withoutSwitching off: FleetReport? = nil) {
        let plan = simulation.plan
        self.init(
            kind: .fleet,
            title: "yard simulate",
            facts: plan.facts,
            duration: FleetScenario.duration,
            servers: FleetClients.servers.map { "server \($0)" }
        )
        faults = [plan.scenario.fault].compactMap(\.self)
        phases = ReportPhase.all(of: simulation)
        marks = plan.scenario.marks
        fleet = ReportFleet(of: simulation)
        let words = FleetSummary(simulation, withoutSwitching: off)
        (summary, verdict) = (words.text, words.verdict)
    }
}

extension FleetPlan {
    /// The settings of the simulation, for the heading of a report.
    fileprivate var facts: [Report.Fact] {
        [
            Report.Fact(name: "scenario", value: scenario.rawValue),
            Report.Fact(name: "policy", value: policy.name),
            Report.Fact(name: "servers", value: "\(model.rawValue)\(isWarm ? ", warm fallback" : "")"),
            Report.Fact(name: "clients", value: "\(clients.figure), \(FleetPlan.rate) requests per second each"),
            Report.Fact(name: "seed", value: "\(seed)"),
            Report.Fact(
                name: "load",
                value: "all requests that reach a server, including probes and warm-ups; "
                    + "a request on a new connection counts as \(Int(FleetPlan.connectionCost)) requests"
            ),
        ]
    }
}

extension FleetScenario {
    /// A description of the failure, or `nil` if there is none.
    private var deed: String? {
        switch self {
        case .deathAmple, .deathTight, .deathShort: "was dead"
        case .brownout: "had 40 % of its capacity"
        case .hang: "hung"
        case .network30: "was unreachable for 30 % of the clients because their network was down,"
        case .herd: nil
        }
    }

    /// Returns the beginning of a sentence that describes the failure with its time.
    func story(_ time: String) -> String {
        guard let deed else { return "No server failed, and each server can handle half of the load" }
        return "\(hasTroubledServer ? "Server 1" : "Every server") \(deed) \(time)"
    }

    /// The fault of the first server, or `nil` if no server is at fault.
    fileprivate var fault: ReportFault? {
        guard hasTroubledServer, let deed else { return nil }
        return ReportFault(server: 0, from: Self.troubleStart, until: troubleEnd, what: deed, isKnown: true)
    }

    /// The marks for the start and the end of the failure.
    fileprivate var marks: [ReportMark] {
        let server = hasTroubledServer ? 0 : nil
        let words: (begins: String, ends: String)
        switch self {
        case .deathAmple, .deathTight, .deathShort: words = ("server 1 dies", "server 1 restarts cold")
        case .brownout: words = ("server 1 drops to 40 % of its capacity", "server 1 has its full capacity again")
        case .hang: words = ("server 1 hangs", "server 1 restarts cold")
        case .network30: words = ("the networks of 30 % of the clients fail", "all networks work again")
        case .herd: return []
        }
        return [
            ReportMark(at: Self.troubleStart, kind: .fault, server: server, text: words.begins),
            ReportMark(at: troubleEnd, kind: .faultEnd, server: server, text: words.ends),
        ]
    }
}

extension ReportPhase {
    /// Returns the statistics before, during and after the failure if there is one, and of all requests.
    fileprivate static func all(of simulation: FleetSimulation) -> [ReportPhase] {
        let (start, end) = (Int(FleetScenario.troubleStart), Int(simulation.plan.scenario.troubleEnd))
        let last = simulation.tally.requestsBySecond.count
        guard simulation.plan.scenario.hasFailure else { return [ReportPhase(.all, of: simulation.tally, 0..<last)] }
        let parts: [(Name, Range<Int>)] = [
            (.before, 0..<start), (.during, start..<end), (.after, end..<last), (.all, 0..<last),
        ]
        return parts.map { ReportPhase($0, of: simulation.tally, $1) }
    }

    private init(_ name: Name, of tally: FleetTally, _ seconds: Range<Int>) {
        let waits = tally.waits.quantiles([0.5, 0.9, 0.99, 1], of: seconds)
        self.init(
            name: name,
            calls: tally.requestsBySecond[seconds].reduce(0, +),
            failures: tally.failuresBySecond[seconds].reduce(0, +),
            p50: waits[0],
            p90: waits[1],
            p99: waits[2],
            max: waits[3]
        )
    }
}

extension ReportFleet {
    /// Creates the part of a report about a fleet of clients from a completed simulation, with one value per second.
    fileprivate init(of simulation: FleetSimulation) {
        let tally = simulation.tally
        let seconds = 0..<Int(FleetScenario.duration)
        let waits = seconds.map { tally.waits.quantiles([0.5, 0.99], of: $0..<$0 + 1) }
        let loads = FleetReport(of: simulation, wallSeconds: 0).servers
        // After the last request has arrived, the requests in progress can still cause switches. These switches are
        // counted in the last second.
        let late = tally.switchesBySecond[seconds.upperBound...].reduce(0, +)
        var switches = Array(tally.switchesBySecond[seconds])
        switches[seconds.upperBound - 1] += late
        self.init(
            step: 1,
            requests: Array(tally.requestsBySecond[seconds]),
            failures: Array(tally.failuresBySecond[seconds]),
            switches: switches,
            causes: tally.causes,
            p50: waits.map { $0[0] },
            p99: waits.map { $0[1] },
            servers: loads.indices.map { Server($0, of: simulation, loads[$0], seconds) }
        )
    }
}

extension FleetTally {
    /// The causes of switches, the most frequent first.
    var causes: [ReportFleet.Cause] {
        let counts = switchesByCause.sorted { ($1.value, $0.key.rawValue) < ($0.value, $1.key.rawValue) }
        return counts.map { cause, count in
            ReportFleet.Cause(text: cause.why(from: "the old server", to: "the new server"), count: count)
        }
    }
}

extension ReportFleet.Server {
    fileprivate init(
        _ place: Int,
        of simulation: FleetSimulation,
        _ figures: FleetReport.ServerLoad,
        _ seconds: Range<Int>
    ) {
        let server = simulation.servers[place]
        var clients = place == 0 ? simulation.plan.clients : 0
        let shares = seconds.map { second in
            clients += simulation.tally.arrivals[place][second]
            return (Double(clients) / Double(simulation.plan.clients)).rounded(places: 4)
        }
        self.init(
            load: seconds.map { simulation.tally.load[place][$0].rounded(places: 1) },
            capacity: seconds.map { server.rate(at: Double($0) + 0.5).rounded(places: 1) },
            clients: shares,
            peakLoad: figures.peakLoad,
            secondsOverCapacity: figures.secondsOverCapacity
        )
    }
}
