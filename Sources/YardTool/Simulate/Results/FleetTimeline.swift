import Foundation
import Switchyard

/// The timeline of a simulation in steps of 10 s.
struct FleetTimeline: Sendable {
    /// The results of 10 s of the simulation.
    struct Step: Codable, Sendable, Equatable {
        /// The first of the 10 seconds.
        var second: Int
        var failPercent: Double
        /// The load of each server relative to its capacity, in the order of the servers, or `nil` while the server is
        /// down.
        var loads: [Double?]
    }

    private static let length = 10

    /// The steps in order.
    let steps: [Step]

    /// Summarizes a completed simulation.
    init(of simulation: FleetSimulation) {
        let starts = stride(from: 0, to: Int(FleetScenario.duration), by: Self.length)
        steps = starts.map { Step($0..<$0 + Self.length, of: simulation) }
    }

    /// The timeline as a text table.
    ///
    /// Each line has the second, the failures in percent, and the load of each server.
    var table: String {
        let names = FleetClients.servers.map { "load \($0)".leftPadded(to: 9) }.joined()
        let rows = steps.map { step in
            let cells = ([step.failPercent] + step.loads).map { $0.map { String(format: "%.2f", $0) } ?? "down" }
            return "\(step.second)".leftPadded(to: 4) + cells.map { $0.leftPadded(to: 9) }.joined()
        }
        return (["   s failed %" + names] + rows).joined(separator: "\n")
    }
}

extension FleetTimeline.Step {
    fileprivate init(_ seconds: Range<Int>, of simulation: FleetSimulation) {
        let tally = simulation.tally
        let requests = seconds.reduce(0) { $0 + tally.requestsBySecond[$1] }
        let failures = seconds.reduce(0) { $0 + tally.failuresBySecond[$1] }
        second = seconds.lowerBound
        failPercent = Self.rounded(100 * Double(failures) / Double(max(1, requests)))
        loads = zip(simulation.servers, tally.load).map { server, work in
            let capacity = seconds.reduce(0.0) { $0 + server.rate(at: Double($1) + 0.5) }
            guard capacity > 0 else { return nil }
            return Self.rounded(seconds.reduce(0.0) { $0 + work[$1] } / capacity)
        }
    }

    private static func rounded(_ value: Double) -> Double { (value * 10_000).rounded() / 10_000 }
}

extension String {
    fileprivate func leftPadded(to width: Int) -> String {
        String(repeating: " ", count: max(0, width - count)) + self
    }
}
