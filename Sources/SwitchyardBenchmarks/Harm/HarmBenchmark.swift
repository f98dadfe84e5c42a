import Foundation
import Switchyard

/// Whether callers ever fare worse with switching than without it: a matrix of worlds, each played by a client without
/// switching and by others in the same seconds.
///
/// Every client is in a process of its own, with three servers and all callers: a server in a further process would
/// compete with the client for the same two cores, while servers in here cost a client as much as any other, since what
/// they answer is made without a task wherever nothing is delayed. The clients of a world run side by side and not in
/// turn, so that the machine's noise and whatever a world does at a time meet all of them alike, and no timer of theirs
/// runs on while it is another's turn.
///
/// What is judged, and with which allowances, is in ``HarmJudgement`` and ``HarmLimits``.
struct HarmBenchmark {
    var isJSON = false
    /// How long each client plays each world, unless the world takes longer.
    var seconds = 8
    /// Who is judged; `off` shows what chance alone would mark.
    var policies = ["recommended", "single"]
    var worlds = HarmWorld.all

    func run() async throws {
        for name in policies where HarmPlayer.policy(named: name) == nil {
            throw BenchmarkError("no policy is called \(name)")
        }
        var (rows, marked) = (0, 0)
        if !isJSON { write(HarmRow.header) }
        for world in worlds {
            let figures = try await play(world)
            let judgement = HarmJudgement(limits: world.limits, off: figures[0])
            for (index, figures) in figures.enumerated() {
                let marks = index == 0 ? [] : judgement.marks(of: figures)
                let name = index == 0 ? "off" : policies[index - 1]
                let row = HarmRow(world: world.name, client: name, figures: figures, marks: marks)
                write(isJSON ? try row.json : row.text(isFirst: index == 0))
                rows += index == 0 ? 0 : 1
                marked += marks.isEmpty ? 0 : 1
            }
        }
        write(isJSON ? #"{"rows":\#(rows),"marked":\#(marked)}"# : "\(marked) of \(rows) rows are marked")
    }

    /// The figures of the client without switching, and then of the others.
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

    /// Runs a client on a thread of its own, since a child process is waited for.
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

    /// Writes a line at once, since a run takes long.
    private func write(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }
}

/// What one client did in one world.
struct HarmRow: Encodable {
    var world: String
    var client: String
    var figures: HarmFigures
    /// Why it is marked.
    var marks: [String]

    static let header = """
        client          calls  failed  unsent      p50      p99      max  per call  switches  \
        |  well failed      p99  |   odd calls  failed      p99
        """

    var json: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys]
            return String(decoding: try encoder.encode(self), as: UTF8.self)
        }
    }

    /// The figures in a line, below the world's name if it is its first, with the reasons below; times in milliseconds.
    func text(isFirst: Bool) -> String {
        let (all, well, odd) = (figures.all, figures.well, figures.odd)
        var line = "  " + client.padding(toLength: 11, withPad: " ", startingAt: 0)
        line += String(format: "%8d %7d %7d", all.count, all.failed, figures.unsent)
        line += String(format: " %8.1f %8.1f %8.1f", all.p50, all.p99, all.maximum)
        line += String(format: "  %8.3f  %8d", figures.requestsPerCall, figures.switches)
        line += String(format: "  |     %8d %8.1f", well.failed, well.p99)
        if odd.count > 0 { line += String(format: "  |    %8d %7d %8.1f", odd.count, odd.failed, odd.p99) }
        let kinds = figures.failures.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.value) \($0.key)" }
        if !kinds.isEmpty { line += "  (\(kinds.joined(separator: ", ")))" }
        return ((isFirst ? [world] : []) + [line] + marks.map { "    ! \($0)" }).joined(separator: "\n")
    }
}
