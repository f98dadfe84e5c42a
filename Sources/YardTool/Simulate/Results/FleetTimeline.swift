import Foundation
import Switchyard

/// How a simulation went, in steps of 10 s.
struct FleetTimeline: Sendable {
    private static let step = 10

    private var rows: [String] = []

    /// Sums up a simulation that has run.
    init(of simulation: FleetSimulation) {
        let tally = simulation.tally
        for start in stride(from: 0, to: Int(FleetScenario.duration), by: Self.step) {
            let seconds = start..<start + Self.step
            let requests = seconds.reduce(0) { $0 + tally.requestsBySecond[$1] }
            let failures = seconds.reduce(0) { $0 + tally.failuresBySecond[$1] }
            let percent = 100 * Double(failures) / Double(max(1, requests))
            let loads = zip(simulation.servers, tally.load).map { server, work in
                let capacity = seconds.reduce(0.0) { $0 + server.capacity.rate(at: Double($1) + 0.5) }
                return seconds.reduce(0.0) { $0 + work[$1] } / capacity
            }
            let cells = [percent] + loads
            rows.append("\(start)".leftPadded(to: 4) + cells.map { String(format: "%9.2f", $0) }.joined())
        }
    }

    /// One line per step: the second, the failures in percent, and the load of each server relative to its capacity.
    var table: String {
        let names = FleetClients.servers.map { "load \($0)".leftPadded(to: 9) }.joined()
        return (["   s   failed" + names] + rows).joined(separator: "\n")
    }
}

extension String {
    fileprivate func leftPadded(to width: Int) -> String {
        String(repeating: " ", count: max(0, width - count)) + self
    }
}
