import Foundation
import Switchyard
import SwitchyardInspector

/// A benchmark of the cost of an inspector whose page is not open.
struct InspectorBenchmark {
    private static let without = "without an inspector"
    private static let with = "with an inspector, no page open"

    let isJSON: Bool
    /// The numbers of concurrent requests.
    var levels = [1, 32, 256]

    /// The quantities whose ratios are reported.
    private enum Figure: String, CaseIterable {
        case requests = "requests per second"
        case processor = "CPU time per request"
    }

    func run() async throws {
        let child = try ChildServer()
        let overhead = OverheadBenchmark(url: child.url, isJSON: isJSON)
        let inspected = try overhead.client(of: child.url)
        var options = TrafficInspector.Options()
        options.printsAddress = false
        let inspector = try TrafficInspector(inspected, options: options)
        defer { inspector.stop() }
        let contenders = [
            try overhead.manager(Self.without, over: overhead.client(of: child.url), child.url),
            try overhead.manager(Self.with, over: inspected, child.url),
        ]
        var ratios: [String: Spread] = [:]
        for level in levels {
            // Each measurement is short, so that a disturbance of the machine affects both contenders. There are many
            // measurements because a single one is inaccurate.
            let contest = Contest(
                contenders: contenders,
                concurrency: level,
                rounds: 400,
                secondsPerTurn: 0.05,
                secondsToWarmUp: 0.01
            )
            let scores = try await contest.run()
            for figure in Figure.allCases {
                let ratio = ratio(of: figure, in: scores)
                ratios["\(level), \(figure.rawValue)"] = ratio
                if !isJSON { print(text(of: ratio, figure, at: level)) }
            }
        }
        if isJSON { print(String(decoding: try JSONEncoder().encode(ratios), as: UTF8.self)) }
        withExtendedLifetime(child) {}
    }

    /// Returns the ratio of a quantity with the inspector to the quantity without the inspector, computed for each
    /// measurement.
    private func ratio(of figure: Figure, in scores: [String: [Score]]) -> Spread {
        Spread(
            zip(scores[Self.with] ?? [], scores[Self.without] ?? []).map { one, other in
                switch figure {
                case .requests: one.perSecond / other.perSecond
                case .processor: one.cpuMicroseconds / other.cpuMicroseconds
                }
            }
        )
    }

    private func text(of ratio: Spread, _ figure: Figure, at level: Int) -> String {
        let name = "\(level) concurrent, \(figure.rawValue): \(Self.with) / \(Self.without)"
        let spread = String(format: "%6.3f  (%.3f ... %.3f)", ratio.median, ratio.lower, ratio.upper)
        return name.padding(toLength: 100, withPad: " ", startingAt: 0) + spread
    }
}
