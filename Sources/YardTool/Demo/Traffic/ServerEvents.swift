import Switchyard

/// Tells what happens to the servers, and counts it.
struct ServerEvents: Sendable {
    let screen: DemoScreen

    /// How often what happened.
    struct Count: Sendable {
        var switches = 0
        var failBacks = 0
        var environmentSwitches = 0

        /// Takes note of the counts.
        func add(to stage: DemoStage) {
            stage.record { report in
                report.switches += switches
                report.failBacks += failBacks
                report.environmentSwitches += environmentSwitches
            }
        }
    }

    /// Follows the events to their end, which is the client's.
    func follow(_ events: AsyncStream<ClientEvent>) async -> Count {
        var count = Count()
        for await event in events {
            switch event.event.kind {
            case .switched(let from, let to, let cause):
                if cause == .recovered { count.failBacks += 1 } else { count.switches += 1 }
                tell("switched from \(from) to \(to): \(cause)")
            case .ejected(let server, _, let cause):
                let figures = event.event.statistics
                let last = figures.lastFailure.map { ", the last one \($0)" } ?? ""
                tell("ejected \(server): \(cause), \(figures.consecutiveFailures) failures in a row\(last)")
            case .recovered(let server, let outage):
                tell("recovered \(server) after \(outage.figure)")
            case .environmentChanged(let from, let to):
                count.environmentSwitches += 1
                tell("environment changed from \(from) to \(to)")
            case .probed, .trialStarted, .pushed:
                break
            }
        }
        return count
    }

    private func tell(_ text: String) {
        screen.say(screen.styled("event: \(text)", .dim))
    }
}
