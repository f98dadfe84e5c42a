import Switchyard

/// A command that runs worlds (random scenarios) through a real client in virtual time.
///
/// A world consists of servers, endpoints, quotas, outages, calls and deadlines (``World``).
///
/// The command compares each call with the same call of a client that sends it only once, without switching. If the
/// call succeeds without switching, it must succeed with switching too.
struct WorldsCommand: Command {
    static let name = "worlds"
    static let summary =
        "Plays worlds (random scenarios) through a real client, and finds calls that fare worse than without switching."
    static let options: [Arguments.Option] = [
        .value("worlds", "N", "The number of worlds (default: 100000)."),
        .value("seed", "K", "The seed of the first world (default: 1). With --worlds 1, only this world is played."),
        .value(
            "policy",
            "NAME",
            "The switching policy: " + SwitchPolicy.names.joined(separator: ", ") + " (default: recommended)."
        ),
        .value("examples", "N", "The number of worlds that are minimized and printed for each fault (default: 1)."),
        .flag("roles", "Gives the servers of each world roles, groups of equal priority, weights and zones."),
        .flag("json", "Prints one JSON object."),
        ReportFile.option,
    ]

    let campaign: WorldsCampaign
    let examples: Int
    let printsJSON: Bool
    private let page: ReportFile?

    init(_ arguments: Arguments) throws(UsageError) {
        let count = try arguments.integer("worlds", in: 1...100_000_000) ?? 100_000
        let first = try arguments.integer("seed", in: 0...(Int.max - 100_000_000)) ?? 1
        campaign = WorldsCampaign(
            numbers: UInt64(first)...UInt64(first + count - 1),
            policy: try arguments.policy() ?? .recommended,
            hasRoles: arguments.has("roles")
        )
        examples = try arguments.integer("examples", in: 0...1000) ?? 1
        printsJSON = arguments.has("json")
        page = try ReportFile(arguments)
    }

    func run() async throws -> Int32 {
        let report = try await report()
        try page?.write(report)
        let output = Terminal.standardOutput
        let text = report.text(columns: output.isInteractive ? output.size().columns : .max)
        output.write((printsJSON ? try report.json() : text) + "\n")
        return report.holds ? 0 : 1
    }

    /// Runs the worlds and returns a summary.
    func report() async throws -> WorldsReport {
        let clock = ContinuousClock()
        let start = clock.now
        let tally = try await campaign.run()
        let wallSeconds = (clock.now - start) / .seconds(1)
        let found = try campaign.examples(of: tally, perGroup: examples)
        return WorldsReport(of: campaign, tally, examples: found, wallSeconds: wallSeconds)
    }
}
