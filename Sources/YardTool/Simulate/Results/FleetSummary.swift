import Switchyard
import SwitchyardInspector

/// A one-sentence summary of a simulation: the failure, the failed requests, the load of the other servers, and the
/// recovery.
struct FleetSummary {
    let text: String
    let verdict: Verdict

    init(_ simulation: FleetSimulation, withoutSwitching off: FleetReport? = nil) {
        let report = FleetReport(of: simulation, withoutSwitching: off, wallSeconds: 0)
        verdict = Self.verdict(report, simulation)
        let scenario = simulation.plan.scenario
        let trouble = scenario.story("from \(Int(FleetScenario.troubleStart)) s to \(Int(scenario.troubleEnd)) s")
        let moves = Self.moves(report, simulation.tally.causes)
        let loads = report.servers.map { Self.load($0, scenario) }
        let parts = [trouble, Self.callers(report)] + loads + [moves, report.comeback]
        text = parts.compactMap(\.self).joined(separator: "; ") + "."
    }

    private static func callers(_ report: FleetReport) -> String {
        let requests = "\(report.requests.figure) requests from \(report.clients.figure) clients"
        guard report.failures > 0 else { return "\(requests), none failed" }
        return "\(requests), \(report.failures.figure) failed (\(report.failPercent.rounded(places: 2)) %)"
    }

    private static func moves(_ report: FleetReport, _ causes: [ReportFleet.Cause]) -> String {
        let mean = report.switchesPerClient.mean.rounded(places: 1)
        let most = report.switchesPerClient.max
        guard most > 0 else { return "no client switched" }
        let total = causes.reduce(0) { $0 + $1.count }
        let shares = causes.map { (text: $0.text, percent: Int((100 * Double($0.count) / Double(total)).rounded())) }
        let why = shares.prefix(3).filter { $0.percent > 0 }.map { cause in
            "\(cause.percent) % happened because \(cause.text)"
        }
        return "a client switched \(mean) times on average, \(most) times at most; of the switches, "
            + why.joined(separator: ", ")
    }

    /// Returns the failure, its effect on the clients, and what would have happened without switching.
    ///
    /// The verdict is good only if no request failed.
    private static func verdict(_ report: FleetReport, _ simulation: FleetSimulation) -> Verdict {
        let scenario = simulation.plan.scenario
        let seconds = Int(FleetScenario.troubleStart)..<Int(scenario.troubleEnd)
        let callers =
            report.failures == 0
            ? "None of \(report.requests.figure) requests failed."
            : "\(report.failures.figure) of \(report.requests.figure) requests failed "
                + "(\(report.failPercent.rounded(places: 2)) %)\(moment(report))."
        return Verdict(
            level: report.failures == 0 ? .good : .bad,
            headline: "\(scenario.story("for \(seconds.count) s")). \(callers)",
            details: [errors(simulation)].compactMap(\.self)
                + (report.failures > 0 ? overloads(report, scenario) : []) + [report.comparison].compactMap(\.self)
        )
    }

    /// Returns the reasons why requests failed as a sentence, or `nil` if none failed.
    private static func errors(_ simulation: FleetSimulation) -> String? {
        let kinds = simulation.tally.failuresByKind
        guard !kinds.isEmpty else { return nil }
        return "Errors: \(VerdictText.list(of: kinds, deadline: FleetPlan.deadline / .seconds(1)))."
    }

    /// Returns when the requests failed, as the end of a sentence: in the time of the failure or afterwards.
    private static func moment(_ report: FleetReport) -> String {
        guard let failures = report.failuresByTime else { return "" }
        switch (failures.during, failures.others) {
        case (_, 0): return ", all during the failure"
        case (0, _): return ", all \(failures.otherTimes)"
        default:
            return ", \(failures.during.figure) during the failure and \(failures.others.figure) \(failures.otherTimes)"
        }
    }

    /// Returns a sentence for each server that received more load than it can handle.
    private static func overloads(_ report: FleetReport, _ scenario: FleetScenario) -> [String] {
        report.servers.filter { $0.secondsOverCapacity > 0 }.map { server in
            let text = load(server, scenario)
            return "\(text.prefix(1).uppercased())\(text.dropFirst())."
        }
    }

    /// Returns a clause about the load of a server.
    ///
    /// While a server is down, it can serve nothing, so this time is left out.
    private static func load(_ server: FleetReport.ServerLoad, _ scenario: FleetScenario) -> String {
        let hasRestarted = scenario.hasOutage && server.name == FleetClients.servers.first
        return "\(hasRestarted ? "after its restart, " : "")server \(server.name) \(server.words)"
    }
}
