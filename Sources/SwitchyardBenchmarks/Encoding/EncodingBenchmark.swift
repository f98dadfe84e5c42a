import Foundation
import Switchyard

/// A benchmark of building queries, forms, JSON bodies and multipart forms, each compared with the simplest code that
/// produces the same bytes.
struct EncodingBenchmark {
    let isJSON: Bool
    /// The size of the sent file in mebibytes; the default is 1,024.
    var fileSize = 1024
    /// The parts to measure, or an empty set for all parts.
    var only: Set<String> = []

    func run() async throws {
        try BenchmarkError.refuse(only, unlessAmong: parts.map(\.0))
        var reports: [EncodingReport] = []
        for (name, measure) in parts where only.isEmpty || only.contains(name) {
            let report = try await measure()
            if !isJSON { print(report.text) }
            reports.append(report)
        }
        if isJSON { print(String(decoding: try JSONEncoder().encode(reports), as: UTF8.self)) }
    }

    private var parts: [(String, () async throws -> EncodingReport)] {
        [
            ("query", { try await duel("query of 20 parameters", TextContenders.query(), perTurn: 200) }),
            ("form", { try await duel("form of 20 fields", TextContenders.form(), perTurn: 200) }),
            ("json", { try await duel("JSON body of 20 topics", TextContenders.json(), perTurn: 20) }),
            ("multipart", { try await MultipartContest(fileSize: fileSize << 20).run() }),
        ]
    }

    /// Measures two implementations of the same work alternately, first the baseline.
    private func duel(_ title: String, _ contenders: [Contender], perTurn: Int) async throws -> EncodingReport {
        let scores = try await Contest(contenders: contenders, concurrency: 1, secondsPerTurn: 0.25).run()
        return EncodingReport(title: title, contenders: contenders.map(\.name), scores: scores, workPerTurn: perTurn)
    }
}

/// The results for one kind of body.
struct EncodingReport: Encodable {
    struct Row: Encodable {
        var name: String
        var microseconds: Spread
        var processorMicroseconds: Spread
    }

    var title: String
    var rows: [Row]
    /// The ratio of the time to the baseline's time in the same measurement of the ``Contest``.
    ///
    /// A value below 1 is faster than the baseline.
    var time: Spread
    /// The ratio of the processor time to the baseline's processor time.
    ///
    /// Other processes affect processor time less than elapsed time.
    var processorTime: Spread
    /// The maximum memory growth of the process in bytes, or `nil` if no large body is sent.
    var peakGrowth: Int?

    init(title: String, contenders: [String], scores: [String: [Score]], workPerTurn: Int) {
        self.title = title
        rows = contenders.map { name in
            let own = scores[name] ?? []
            return Row(
                name: name,
                microseconds: Spread(own.map { 1e6 / $0.perSecond / Double(workPerTurn) }),
                processorMicroseconds: Spread(own.map { $0.cpuMicroseconds / Double(workPerTurn) })
            )
        }
        let rounds = contenders.map { scores[$0] ?? [] }
        let pairs = zip(rounds.first ?? [], rounds.last ?? [])
        time = Spread(pairs.map { $0.perSecond / $1.perSecond })
        processorTime = Spread(pairs.map { $1.cpuMicroseconds / $0.cpuMicroseconds })
    }

    var text: String {
        let lines = rows.map { row in
            "  \(row.name.padding(toLength: 36, withPad: " ", startingAt: 0))"
                + String(format: "%12.2f us  ", row.microseconds.median)
                + String(format: "(%.2f ... %.2f)  ", row.microseconds.minimum, row.microseconds.maximum)
                + String(format: "%.2f us CPU", row.processorMicroseconds.median)
        }
        let memory = peakGrowth.map { String(format: "  memory grew by %.1f MiB", Double($0) / 1_048_576) }
        let relations = ["  time, baseline = 1: \(Self.text(time)), CPU: \(Self.text(processorTime))"]
        return ([title] + lines + relations + [memory].compactMap(\.self)).joined(separator: "\n")
    }

    private static func text(_ spread: Spread) -> String {
        String(format: "%.2f (%.2f ... %.2f)", spread.median, spread.minimum, spread.maximum)
    }
}
