import Foundation
import Switchyard

/// A command that sends real requests through the library to the servers in a service file.
struct LoadCommand: Command {
    static let name = "load"
    static let summary = "Sends requests through the library and prints a JSON line for each (ok: status below 500)."
    static let options: [Arguments.Option] = [
        .value("service", "FILE", "The service file (required)."),
        .value("environment", "E", "The environment (default: the default environment of the file)."),
        .value("path", "P", "The path, in which {n} is replaced by the number of the request, from 1 (required)."),
        .value("method", "M", "The HTTP method (default: GET)."),
        .value("rate", "R", "Open loop: requests per second. Request n is due at start + (n - 1) / R."),
        .value("concurrency", "N", "Closed loop: the number of workers. Give this, --rate or both."),
        .value("think", "S", "Closed loop: the pause of a worker between two requests, in seconds (default: 0)."),
        .value("start", "EPOCH", "The start time, in seconds since 1970 (default: now)."),
        .value("duration", "S", "The period in which requests become due, in seconds (required)."),
        .value("timeout", "S", "The deadline of a call, in seconds (default: 60)."),
        .value("policy", "NAME", SwitchPolicy.names.joined(separator: ", ") + " (default: the policy of the file)."),
        .value("transport", "NAME", "curl (only on Linux) or urlsession (default: the default of the system)."),
        ReportFile.option,
    ]

    private let plan: LoadPlan
    private let transport: any Transport
    private let page: ReportFile?

    init(_ arguments: Arguments) throws(UsageError) {
        plan = try LoadPlan(arguments)
        transport = try TransportChoice.make(arguments.text("transport"))
        page = try ReportFile(arguments)
    }

    func run() async throws -> Int32 {
        let client = try NetworkClient(service: plan.service, environment: plan.environment, transport: transport)
        let output = LineOutput()
        let events = client.events(bufferingNewest: 10_000)
        let notes = TrafficRecorder()
        async let switches = report(events, to: output, notes)
        let runner = LoadRunner(plan: plan, client: client, output: output)
        let (records, signal) = try await Interruption.watch { await runner.run() }
        client.shutdown()
        let summary = LoadSummary(records, switches: await switches)
        Terminal.complain(summary.text)
        if let page {
            try page.write(Report(of: runner.story(records, notes.content.events)))
            Terminal.complain("report: \(page.path)")
        }
        return signal.map { 128 + $0 } ?? 0
    }

    /// Prints a line for each switch of the preferred server and returns the number of switches.
    ///
    /// Also records every event for the report.
    private func report(
        _ events: AsyncStream<ClientEvent>,
        to output: LineOutput,
        _ notes: TrafficRecorder
    ) async -> Int {
        var count = 0
        for await event in events {
            notes.add(event.event)
            guard case .switched(let from, let to, let cause) = event.event.kind else { continue }
            count += 1
            output.write(SwitchRecord(at: Date().timeIntervalSince1970, from: from, to: to, cause: cause.rawValue))
        }
        return count
    }
}

/// An output for JSON lines.
///
/// Any thread can write, and lines of different threads do not mix. By default, the lines go to standard output.
final class LineOutput: Sendable {
    private let encoder: JSONEncoder
    private let lock = NSLock()
    private let terminal: Terminal

    init(_ terminal: Terminal = .standardOutput) {
        self.terminal = terminal
        encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
    }

    func write(_ line: some Encodable) {
        do {
            let text = String(decoding: try encoder.encode(line), as: UTF8.self) + "\n"
            lock.withLock { terminal.write(text) }
        } catch {
            Terminal.complain("yard load: a record cannot be written: \(error)")
        }
    }
}
