import Foundation
import Switchyard

/// A benchmark that checks whether switching ever harms callers.
///
/// A client without switching and clients with switching run in the same scenario at the same time.
///
/// Each client runs in a separate process with its callers and its three servers. The system shares the machine equally
/// among these processes, so a client that needs more processor time mainly slows down its own calls. Separate
/// processes for the servers would use the two cores in the same way, but cause more process switches. The clients run
/// at the same time and not one after the other, so that the noise of the machine and the events of a scenario affect
/// all of them equally. The timers of one client also never run while another client is measured.
///
/// ``HarmJudgement`` and ``HarmLimits`` define the criteria and tolerances. A client gets a mark (``HarmMark``) for
/// each criterion that it does not meet. If all its marks are for 99th percentiles, the scenario is repeated up to
/// twice, and a mark stays only if every run has it. The reason is that a busy machine alone causes such a mark in one
/// of six scenarios.
struct HarmBenchmark {
    var isJSON = false
    /// The time in seconds for which each client runs in each scenario, unless the scenario requires more.
    var seconds = 8
    /// The policies to compare with the client without switching.
    ///
    /// With `off`, the output shows the marks (``HarmMark``) that the noise of the machine alone causes.
    var policies = ["recommended", "single"]
    var worlds = HarmWorld.all

    func run() async throws {
        for name in policies where HarmPlayer.policy(named: name) == nil {
            throw BenchmarkError("unknown policy \(name)")
        }
        var (rows, marked) = (0, 0)
        if !isJSON { write(HarmRow.header) }
        for world in worlds {
            for row in try await self.rows(of: world) {
                write(isJSON ? try row.json : row.text)
                rows += row.isBaseline ? 0 : 1
                marked += row.marks.isEmpty ? 0 : 1
            }
        }
        write(isJSON ? #"{"rows":\#(rows),"marked":\#(marked)}"# : "\(marked) of \(rows) rows have marks")
    }

    /// Returns the row of the client without switching, then the rows of the other clients.
    private func rows(of world: HarmWorld) async throws -> [HarmRow] {
        let first = try await play(world)
        var marks = self.marks(first, in: world)
        for _ in 0..<2 where marks.contains(where: \.mayBeChance) {
            let again = self.marks(try await play(world), in: world)
            marks = zip(marks, again).map { $0.confirmed(by: $1) }
        }
        return (["off"] + policies).enumerated().map { index, client in
            let marks = index == 0 ? [] : marks[index - 1]
            return HarmRow(
                world: world.name,
                client: client,
                isBaseline: index == 0,
                figures: first[index],
                marks: marks
            )
        }
    }

    private func marks(_ figures: [HarmFigures], in world: HarmWorld) -> [[HarmMark]] {
        let judgement = HarmJudgement(limits: world.limits, off: figures[0])
        return figures.dropFirst().map { judgement.marks(of: $0) }
    }

    /// Returns the statistics of the client without switching, then those of the other clients, for a scenario.
    private func play(_ world: HarmWorld) async throws -> [HarmFigures] {
        let start = Date().timeIntervalSince1970 + 0.7
        let seconds = max(Double(seconds), world.leastSeconds)
        return try await withThrowingTaskGroup(of: (Int, HarmFigures).self) { group in
            for (index, policy) in (["off"] + policies).enumerated() {
                group.addTask {
                    let arguments = ["harm-client", world.name, policy, "\(seconds)", "\(start)"]
                    return (index, try await Self.figures(arguments))
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    /// Runs a client in a child process and returns its statistics.
    ///
    /// A separate thread is used, because waiting for a child process blocks the thread.
    private static func figures(_ arguments: [String]) async throws -> HarmFigures {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        try JSONDecoder().decode(HarmFigures.self, from: ChildProcess.run(arguments: arguments))
                    }
                )
            }
        }
    }

    /// Writes a line without buffering, because the benchmark runs for a long time.
    private func write(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }
}

/// The results of one client in one scenario.
struct HarmRow: Encodable {
    var world: String
    var client: String
    /// Whether this client is the baseline, the client without switching.
    var isBaseline: Bool
    var figures: HarmFigures
    /// The criteria that the client does not meet.
    var marks: [HarmMark]

    static let header = """
        client          calls  failed  unsent      p50      p99      max  per call  switches  \
        | other failed      p99  |   odd calls  failed      p99
        """

    var json: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys]
            return String(decoding: try encoder.encode(self), as: UTF8.self)
        }
    }

    /// The statistics on one line, with times in milliseconds.
    ///
    /// For the baseline, the name of the scenario is on the line before. The marks are on the lines after it.
    var text: String {
        let (all, well, odd) = (figures.all, figures.well, figures.odd)
        var line = "  " + client.padding(toLength: 11, withPad: " ", startingAt: 0)
        line += String(format: "%8d %7d %7d", all.count, all.failed, figures.unsent)
        line += String(format: " %8.1f %8.1f %8.1f", all.p50, all.p99, all.maximum)
        line += String(format: "  %8.3f  %8d", figures.requestsPerCall, figures.switches)
        line += String(format: "  |     %8d %8.1f", well.failed, well.p99)
        if odd.count > 0 { line += String(format: "  |    %8d %7d %8.1f", odd.count, odd.failed, odd.p99) }
        let kinds = figures.failures.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.value) \($0.key)" }
        if !kinds.isEmpty { line += "  (\(kinds.joined(separator: ", ")))" }
        return ((isBaseline ? [world] : []) + [line] + marks.map { "    ! \($0.text)" }).joined(separator: "\n")
    }
}
