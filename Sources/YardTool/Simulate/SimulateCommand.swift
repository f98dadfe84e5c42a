import Switchyard
import SwitchyardInspector

/// A command that simulates a fleet of clients in virtual time.
///
/// Each client uses the real switching core.
struct SimulateCommand: Command {
    static let name = "simulate"
    static let summary = "Simulates a fleet of clients, each with a real switching core, while servers fail."
    static var subcommands: [CommandEntry] { [CommandEntry(WorldsCommand.self, of: name)] }
    static let options: [Arguments.Option] = [
        .value("clients", "N", "The number of clients, with 0.1 requests per second each (default: 20000)."),
        .value(
            "scenario",
            "NAME",
            "The scenario: " + FleetScenario.allCases.map(\.rawValue).joined(separator: ", ")
                + " (default: death-ample)."
        ),
        .value(
            "policy",
            "NAME",
            "The switching policy: " + SwitchPolicy.names.joined(separator: ", ") + " (default: recommended)."
        ),
        .value(
            "selection",
            "NAME",
            "The selection of servers: " + SelectionStrategy.allCases.map(\.rawValue).joined(separator: ", ")
                + " (default: that of the policy)."
        ),
        .value(
            "latency-window",
            "S",
            "The latency window of the selection lowestLatency, in seconds (default: 0.015)."
        ),
        .value(
            "server-model",
            "NAME",
            "The servers: deep (they execute abandoned requests, the default) or aware (they drop them)."
        ),
        .flag("warm", "Keeps every client connected to its first fallback server."),
        .flag("shed", "Allows the rejection of requests of normal priority while every server is overloaded."),
        .value("seed", "K", "The seed of all random numbers (default: 1)."),
        .flag("timeline", "Also prints a line for every 10 s of the simulated time."),
        .flag("json", "Prints one JSON object."),
        ReportFile.option,
    ]

    /// The maximum number of clients: 5 million, which need about 10 GiB.
    static let mostClients = 5_000_000

    let plan: FleetPlan
    let printsJSON: Bool
    let printsTimeline: Bool
    private let page: ReportFile?

    init(_ arguments: Arguments) throws(UsageError) {
        var plan = FleetPlan()
        plan.clients = try arguments.integer("clients", in: 1...Self.mostClients) ?? plan.clients
        plan.scenario = try Self.choice("scenario", arguments) ?? plan.scenario
        plan.model = try Self.choice("server-model", arguments) ?? plan.model
        plan.policy = try arguments.policy() ?? plan.policy
        plan.policy.selection = try Self.choice("selection", arguments) ?? plan.policy.selection
        if let window = try arguments.number("latency-window", in: 0...60) {
            plan.policy.latencyWindow = .seconds(window)
        }
        plan.seed = try arguments.integer("seed", in: 0...Int.max).map { UInt64($0) } ?? plan.seed
        plan.isWarm = arguments.has("warm")
        if arguments.has("shed") { plan.policy.admission?.sheds = .normal }
        self.plan = plan
        printsJSON = arguments.has("json")
        printsTimeline = arguments.has("timeline")
        page = try ReportFile(arguments)
    }

    func run() async throws -> Int32 {
        let clock = ContinuousClock()
        let start = clock.now
        var simulation = try FleetSimulation(plan)
        simulation.run()
        let wallSeconds = (clock.now - start) / .seconds(1)
        let off = try Self.withoutSwitching(plan)
        let output = Terminal.standardOutput
        let text = try text(of: simulation, withoutSwitching: off, wallSeconds: wallSeconds)
        output.write(output.isInteractive && !printsJSON ? text.wrappedLines(to: output.size().columns) : text)
        if let page {
            try page.write(Report(of: simulation, withoutSwitching: off))
            Terminal.complain("report: \(page.path)")
        }
        return 0
    }

    /// Returns the output for a completed simulation: tables, or one line with a JSON object.
    func text(
        of simulation: FleetSimulation,
        withoutSwitching off: FleetReport,
        wallSeconds: Double
    ) throws -> String {
        var report = FleetReport(of: simulation, withoutSwitching: off, wallSeconds: wallSeconds)
        let timeline = printsTimeline ? FleetTimeline(of: simulation) : nil
        report.timeline = timeline?.steps
        if printsJSON { return try report.json() + "\n" }
        let lines = [report.table, timeline?.table, FleetSummary(simulation, withoutSwitching: off).verdict.text]
        return lines.compactMap(\.self).map { $0 + "\n" }.joined()
    }

    /// Simulates the same clients and failures without switching, with the same selection of the first server.
    static func withoutSwitching(_ plan: FleetPlan) throws -> FleetReport {
        var plan = plan
        let (selection, window) = (plan.policy.selection, plan.policy.latencyWindow)
        plan.policy = .off
        (plan.policy.selection, plan.policy.latencyWindow) = (selection, window)
        var simulation = try FleetSimulation(plan)
        simulation.run()
        return FleetReport(of: simulation, wallSeconds: 0)
    }

    private static func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String,
        _ arguments: Arguments
    ) throws(UsageError) -> Choice? {
        guard let text = arguments.text(name) else { return nil }
        guard let choice = Choice(rawValue: text) else {
            throw UsageError.unknown(text, for: name, known: Choice.allCases.map(\.rawValue))
        }
        return choice
    }
}
