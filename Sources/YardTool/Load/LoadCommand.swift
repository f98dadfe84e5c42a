import Foundation
import Switchyard

/// A command that sends real requests through the library to the servers of a service file.
struct LoadCommand: Command {
    static let name = "load"
    static let summary = "Sends requests through the library and prints one JSON line for each; ok: a status below 500."
    static let options: [Arguments.Option] = [
        .value("service", "FILE", "the service file; required"),
        .value("environment", "E", "the environment; the file's default unless given"),
        .value("path", "P", "the path, required; {n} is replaced by a running number, from 1"),
        .value("method", "M", "the method; GET unless given"),
        .value("rate", "R", "open loop: requests per second, the n-th due at start + (n - 1) / R"),
        .value("concurrency", "N", "closed loop: workers; this or --rate, or both"),
        .value("think", "S", "closed loop: seconds between two requests of a worker"),
        .value("start", "EPOCH", "when to start, in seconds since 1970; now unless given"),
        .value("duration", "S", "for how many seconds requests become due; required"),
        .value("timeout", "S", "the caller's whole deadline in seconds; 60 unless given"),
        .value("policy", "NAME", SwitchPolicy.names.joined(separator: ", ")),
        .value("transport", "NAME", "curl (Linux) or urlsession"),
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

    /// Prints a line for each switch and returns their number; also records every event.
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

/// An output of JSON lines that writes each line atomically from any thread, by default to standard output.
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
            Terminal.complain("yard load: a record is missing: \(error)")
        }
    }
}
