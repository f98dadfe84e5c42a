import Foundation
import Switchyard

/// A command that sends real requests through the library to the servers in a service file.
struct LoadCommand: Command {
    static let name = "load"
    static let summary =
        "Sends calls through the library, and reports how many failed (a status from 400 is a failure)."
    static let options: [Arguments.Option] =
        [
            .value("service", "FILE", "The service file (required)."),
            .value("environment", "E", "The environment (default: the default environment of the file)."),
            .value("path", "P", "The path. {n} is replaced by the number of the request, counted from 1 (required)."),
            .value("method", "M", "The HTTP method (default: GET)."),
            .value(
                "rate",
                "R",
                "Open loop: the requests per second. Request n is due (n - 1) / R seconds after the start."
            ),
            .value("concurrency", "N", "Closed loop: the number of workers. Give this, --rate or both."),
            .value("think", "S", "Closed loop: the pause of a worker between two requests, in seconds (default: 0)."),
            .value("start", "EPOCH", "The start time, in seconds since 1970 (default: now)."),
            .value("duration", "S", "The period in which requests become due, in seconds (required)."),
            .value("timeout", "S", "The deadline of a call, in seconds (default: 60)."),
            .value(
                "policy",
                "NAME",
                "The switching policy: " + SwitchPolicy.names.joined(separator: ", ")
                    + " (default: the policy of the file)."
            ),
            .value(
                "transport",
                "NAME",
                "The transport: curl (only on Linux) or urlsession (default: curl on Linux, otherwise urlsession)."
            ),
            ReportFile.option,
            .flag("json", "Prints a JSON line for each call, also on a terminal."),
        ] + LoadThresholds.options

    private let plan: LoadPlan
    private let transport: any Transport
    private let page: ReportFile?
    private let thresholds: LoadThresholds
    private let printsJSON: Bool

    init(_ arguments: Arguments) throws(UsageError) {
        plan = try LoadPlan(arguments)
        transport = try TransportChoice.make(arguments.text("transport"))
        page = try ReportFile(arguments)
        thresholds = try LoadThresholds(arguments)
        printsJSON = arguments.has("json") || !Terminal.standardOutput.isInteractive
    }

    func run() async throws -> Int32 {
        let client = try NetworkClient(service: plan.service, environment: plan.environment, transport: transport)
        let screen = printsJSON ? nil : LoadScreen(.standardOutput, plan)
        let output: any LoadOutput = screen ?? LineOutput()
        let events = client.events(bufferingNewest: 10_000)
        let notes = TrafficRecorder()
        async let switches = report(events, to: output, notes)
        let runner = LoadRunner(plan: plan, client: client, output: output)
        let drawing = Task { await screen?.redraw() }
        let (records, signal) = try await Interruption.watch { await runner.run() }
        drawing.cancel()
        await drawing.value
        client.shutdown()
        let summary = LoadSummary(records, switches: await switches)
        let report = Report(of: runner.story(records, notes.content.events, thresholds))
        return try finish(report, summary, signal)
    }

    /// Prints the results and writes the report.
    ///
    /// - Returns: The exit code: 128 plus the signal if the run was interrupted, 1 if a limit was exceeded, otherwise
    ///   0.
    private func finish(_ report: Report, _ summary: LoadSummary, _ signal: Int32?) throws -> Int32 {
        let problems = report.phases.last.map(thresholds.problems) ?? []
        let output = Terminal.standardOutput
        let columns = printsJSON ? .max : output.size().columns
        let verdict = VerdictLines(report, columns: columns) { text, style in
            !printsJSON && output.isColoured ? text.styled(style) : text
        }
        let limits = problems.map { "limit exceeded: \($0)" }
        let path = page.map { ["report: \($0.path)"] } ?? []
        try page?.write(report)
        let lines = ([summary.text] + path + limits).flatMap { $0.wrapped(to: columns, indent: 2) } + verdict.lines
        if printsJSON {
            for line in lines { Terminal.complain(line) }
        } else {
            output.write(lines.map { $0 + "\n" }.joined())
        }
        return signal.map { 128 + $0 } ?? (problems.isEmpty ? 0 : 1)
    }

    /// Prints a line for each change of the preferred server and returns the numbers of changes.
    ///
    /// Also records every event for the report.
    private func report(
        _ events: AsyncStream<ClientEvent>,
        to output: any LoadOutput,
        _ notes: TrafficRecorder
    ) async -> LoadSummary.Switches {
        var count = LoadSummary.Switches()
        for await event in events {
            notes.add(event.event)
            guard case .switched(let from, let to, let cause) = event.event.kind else { continue }
            if cause == .recovered { count.returns += 1 } else { count.away += 1 }
            output.write(SwitchRecord(at: Date().timeIntervalSince1970, from: from, to: to, cause: cause.rawValue))
        }
        return count
    }
}
