import Foundation

/// A comparison of contenders with a baseline: the ratios of their numbers in the same measurements.
struct RatioContest {
    /// The quantities whose ratios are reported.
    private enum Figure: String, CaseIterable {
        case requests = "requests per second"
        case processor = "CPU time per request"

        func ratio(of one: Score, to other: Score) -> Double {
            switch self {
            case .requests: one.perSecond / other.perSecond
            case .processor: one.cpuMicroseconds / other.cpuMicroseconds
            }
        }
    }

    let baseline: String
    /// The contenders, including the baseline.
    let contenders: [Contender]
    let levels: [Int]
    let isJSON: Bool

    /// Measures the contenders at each number of concurrent requests, and prints the ratios.
    func run() async throws {
        var ratios: [String: Spread] = [:]
        for level in levels {
            // Each measurement is short, so that a disturbance of the machine affects all contenders. There are many
            // measurements, because a single measurement is inaccurate.
            let contest = Contest(
                contenders: contenders,
                concurrency: level,
                rounds: 400,
                secondsPerTurn: 0.05,
                secondsToWarmUp: 0.01
            )
            let scores = try await contest.run()
            for contender in contenders where contender.name != baseline {
                for figure in Figure.allCases {
                    let pairs = zip(scores[contender.name] ?? [], scores[baseline] ?? [])
                    let ratio = Spread(pairs.map { figure.ratio(of: $0, to: $1) })
                    let name = "\(level) concurrent, \(figure.rawValue): \(contender.name) / \(baseline)"
                    ratios[name] = ratio
                    if !isJSON { print(Self.text(of: ratio, name)) }
                }
            }
        }
        if isJSON { print(String(decoding: try JSONEncoder().encode(ratios), as: UTF8.self)) }
    }

    private static func text(of ratio: Spread, _ name: String) -> String {
        let spread = String(format: "%6.3f  (%.3f ... %.3f)", ratio.median, ratio.lower, ratio.upper)
        return name.padding(toLength: 100, withPad: " ", startingAt: 0) + spread
    }
}
