import Foundation
import Switchyard
import SwitchyardInspector

/// What an inspector costs a client whose page is not open.
struct InspectorBenchmark {
    private static let without = "without an inspector"
    private static let with = "with one, no page open"

    let isJSON: Bool
    /// How many requests are under way at a time.
    var levels = [1, 32, 256]

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
            let contest = Contest(
                contenders: contenders,
                concurrency: level,
                rounds: 40,
                secondsPerTurn: 0.3,
                secondsToWarmUp: 0.1
            )
            let ratio = ratio(of: try await contest.run())
            ratios["\(level)"] = ratio
            if !isJSON { print(text(of: ratio, at: level)) }
        }
        if isJSON { print(String(decoding: try JSONEncoder().encode(ratios), as: UTF8.self)) }
        withExtendedLifetime(child) {}
    }

    /// Requests per second of one relative to the other, round by round.
    private func ratio(of scores: [String: [Score]]) -> Spread {
        Spread(zip(scores[Self.with] ?? [], scores[Self.without] ?? []).map { $0.perSecond / $1.perSecond })
    }

    private func text(of ratio: Spread, at level: Int) -> String {
        let name = "\(level) concurrent: \(Self.with) / \(Self.without)"
        let spread = String(format: "%6.3f  (%.2f ... %.2f)", ratio.median, ratio.minimum, ratio.maximum)
        return name.padding(toLength: 72, withPad: " ", startingAt: 0) + spread
    }
}
