import Switchyard
import SwitchyardInspector

/// A one-sentence summary of a simulation: the failure, the failed requests, the load of the other servers, and the
/// recovery.
struct FleetSummary {
    let text: String
    let verdict: Verdict

    /// The share of failed requests that counts as good.
    private static let tolerance = 0.01

    init(_ simulation: FleetSimulation) {
        let report = FleetReport(of: simulation, wallSeconds: 0)
        verdict = Self.verdict(report, simulation)
        let scenario = simulation.plan.scenario
        let trouble = scenario.story("from \(Int(FleetScenario.troubleStart)) s to \(Int(scenario.troubleEnd)) s")
        let moves = Self.moves(report, simulation.tally.causes)
        let parts = [trouble, Self.callers(report), Self.others(report), moves, Self.back(report)]
        text = parts.compactMap(\.self).joined(separator: "; ") + "."
    }

    private static func callers(_ report: FleetReport) -> String {
        let requests = "\(report.requests.figure) requests from \(report.clients.figure) clients"
        guard report.failures > 0 else { return "\(requests), none failed" }
        return "\(requests), \(report.failures.figure) failed (\(report.failPercent.rounded(places: 2)) %)"
    }

    private static func others(_ report: FleetReport) -> String {
        let loads = report.servers.dropFirst().map { server in
            let over = server.secondsOverCapacity
            let tail = over > 0 ? ", and the server was overloaded for \(over) s" : ""
            let peak = server.peakLoad.rounded(places: 2)
            return "the load of server \(server.name) was at most \(peak) times its capacity\(tail)"
        }
        return loads.joined(separator: ", ")
    }

    private static func moves(_ report: FleetReport, _ causes: [ReportFleet.Cause]) -> String {
        let mean = report.switchesPerClient.mean.rounded(places: 1)
        let most = report.switchesPerClient.max
        guard most > 0 else { return "no client switched" }
        let total = causes.reduce(0) { $0 + $1.count }
        let why = causes.prefix(3).map { cause in
            let share = (100 * Double(cause.count) / Double(total)).rounded()
            return "in \(Int(share)) % of the switches because \(cause.text)"
        }
        return "a client switched \(mean) times on average, \(most) times at most, " + why.joined(separator: ", ")
    }

    private static func back(_ report: FleetReport) -> String? {
        guard let median = report.failBackSeconds.median, let p95 = report.failBackSeconds.p95 else { return nil }
        return "after the trouble, half of the clients had a response from server 1 again within \(median) s, and 95 % "
            + "within \(p95) s"
    }

    /// Returns the failure, its effect on the clients, and the requests that would have gone to the failed server.
    private static func verdict(_ report: FleetReport, _ simulation: FleetSimulation) -> Verdict {
        let scenario = simulation.plan.scenario
        let seconds = Int(FleetScenario.troubleStart)..<Int(scenario.troubleEnd)
        let trouble = scenario.story("for \(seconds.count) s") + "."
        let share = Double(report.failures) / Double(max(1, report.requests))
        let callers =
            report.failures == 0
            ? "None of \(report.requests.figure) requests failed."
            : "\(report.failures.figure) of \(report.requests.figure) requests failed "
                + "(\(report.failPercent.rounded(places: 2)) %)."
        let meanwhile = simulation.tally.requestsBySecond[seconds].reduce(0, +)
        let comparison =
            "Without switching, \(meanwhile.figure) requests would have gone to server 1 in these \(seconds.count) s."
        let details: [String] =
            if scenario.hasTroubledServer { [comparison] } else if scenario.hasFailure { [] } else { overloads(report) }
        return Verdict(
            level: share <= tolerance ? .good : .bad,
            headline: "\(trouble) \(callers)",
            details: details
        )
    }

    /// Returns a sentence for each server that received more load than it can handle.
    private static func overloads(_ report: FleetReport) -> [String] {
        report.servers.filter { $0.secondsOverCapacity > 0 }.map { server in
            "Server \(server.name) received more load than it can handle for \(server.secondsOverCapacity) s, "
                + "at most \(server.peakLoad.rounded(places: 2)) times its capacity."
        }
    }
}
