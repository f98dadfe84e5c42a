import Switchyard
import SwitchyardTesting

/// A step in which the current server fails.
///
/// It verifies that every call succeeds nevertheless.
struct OutageStep: DemoStep {
    let title: String
    let needsTraffic = true
    private let fault: Fault
    private let deed: String

    /// The process dies: connections break, and new connections are refused.
    static let death = OutageStep(
        title: "The current server dies, and no call fails",
        fault: .refuse,
        deed: "killed"
    )

    /// The process stops: connections stay open, and no response is sent.
    static let hang = OutageStep(
        title: "The next server hangs, and again no call fails",
        fault: .hang,
        deed: "stopped"
    )

    func run(on stage: DemoStage) async throws {
        guard let victim = stage.machineInUse else {
            throw BrokenClaim("the current server is one of the live servers")
        }
        guard await stage.waitForTraffic(at: victim) else {
            throw BrokenClaim("\(victim.name) receives the callers' requests")
        }
        try await stage.watch()

        let events = stage.events.listen()
        stage.traffic.beginPhase()
        let start = ContinuousClock.now
        // The start is recorded first, so that no effect of the fault is earlier than its start.
        stage.notes.beginFault(of: victim.name, "was \(deed)")
        victim.server.fault = fault
        stage.screen.say("\(victim.name) is \(deed)")
        let isSwitched = await stage.wait(for: events) { event in
            if case .switched(victim.name, _, _) = event { true } else { false }
        }
        let duration = ContinuousClock.now - start
        guard isSwitched, let heir = stage.machineInUse, await stage.waitForTraffic(at: heir) else {
            throw BrokenClaim("another server takes over from \(victim.name)")
        }
        try stage.claim(heir !== victim, "\(heir.name) took over after \(duration.figure)")
        try await stage.watch()
        try stage.claimNoVisibleFailure()
    }
}

extension DemoStage {
    /// The live server (a server of the default environment) that the client currently prefers.
    var machineInUse: ForumServer? { forum.machine(named: client.currentServer) }

    /// Verifies that no call has failed since the traffic's `beginPhase()`.
    func claimNoVisibleFailure() throws(BrokenClaim) {
        let tally = traffic.phase
        let cause = tally.lastError.map { " (\($0))" } ?? ""
        try claim(
            tally.failures == 0,
            "\(tally.calls.figure) calls in this step, \(tally.failures) failed\(cause), the slowest took \(tally.slowest.figure)"
        )
    }
}
