import Foundation
import Switchyard
import SwitchyardStreams

/// The output of `yard load` while it runs.
protocol LoadOutput: Sendable {
    /// Records that a call starts.
    func begin()
    /// Records that a call has ended.
    func write(_ record: LoadRecord)
    /// Records a change of the preferred server.
    func write(_ record: SwitchRecord)
}

/// An output for JSON lines.
///
/// Any thread can write, and lines of different threads do not mix. By default, the lines go to standard output.
final class LineOutput: LoadOutput {
    private let encoder: JSONEncoder
    private let lock = NSLock()
    private let terminal: Terminal

    init(_ terminal: Terminal = .standardOutput) {
        self.terminal = terminal
        encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
    }

    func begin() {}

    func write(_ record: LoadRecord) { writeLine(record) }

    func write(_ record: SwitchRecord) { writeLine(record) }

    private func writeLine(_ line: some Encodable) {
        do {
            let text = String(decoding: try encoder.encode(line), as: UTF8.self) + "\n"
            lock.withLock { terminal.write(text) }
        } catch {
            Terminal.complain("yard load: the record of a call cannot be written: \(error)")
        }
    }
}

/// An output for a person: one line that is redrawn while the calls run.
final class LoadScreen: LoadOutput {
    private struct State {
        var started = 0
        var ended = 0
        var failed = 0
        var slowest = 0.0
        var server: String
    }

    private let region: LiveRegion
    private let columns: @Sendable () -> Int
    private let duration: Double
    private let start = SystemTime.shared.now
    private let state: Locked<State>

    /// Creates an output on a terminal.
    ///
    /// - Parameters:
    ///   - terminal: The terminal.
    ///   - plan: The plan of the run.
    init(_ terminal: Terminal, _ plan: LoadPlan) {
        region = LiveRegion(terminal)
        // `LiveRegion` leaves the last column free.
        columns = { terminal.size().columns - 1 }
        duration = plan.duration
        state = Locked(State(server: plan.service.servers(in: plan.environment).first?.name ?? ""))
    }

    func begin() { state.withLock { $0.started += 1 } }

    func write(_ record: LoadRecord) {
        state.withLock { state in
            state.ended += 1
            state.failed += record.ok ? 0 : 1
            state.slowest = max(state.slowest, record.waited)
        }
    }

    func write(_ record: SwitchRecord) { state.withLock { $0.server = record.to } }

    /// Draws the line five times a second until the task is cancelled, and then removes it.
    func redraw() async {
        while !Task.isCancelled {
            region.show(lines)
            // After the last call, the task is cancelled. The sleep then ends early, and the loop ends too.
            try? await Task.sleep(for: .milliseconds(200))
        }
        region.clear()
    }

    /// The line, wrapped between words to the width of the terminal.
    var lines: [String] { line.wrapped(to: columns(), indent: 2) }

    /// The line: `12 s of 27 s: 720 calls, 0 failed, 4 active, slowest 34 ms, calls go to secondary`.
    var line: String {
        let state = state.withLock { $0 }
        let seconds = start.duration(to: SystemTime.shared.now) / .seconds(1)
        let parts = [
            state.ended.figure("call", "calls"), "\(state.failed.figure) failed",
            "\((state.started - state.ended).figure) active", "slowest \((state.slowest * 1_000).wait)",
            "calls go to \(state.server)",
        ]
        return "\(Int(seconds)) s of \(Int(duration.rounded(.up))) s: " + parts.joined(separator: ", ")
    }
}
