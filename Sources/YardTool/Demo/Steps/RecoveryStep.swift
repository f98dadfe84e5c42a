import Switchyard
import SwitchyardTesting

/// A step of the demo that restarts the servers one after another.
///
/// After each restart, the calls return to the available server that comes first in the order of preference.
struct RecoveryStep: DemoStep {
    let title = "The servers recover, and the calls return to the primary"
    let needsTraffic = true

    func run(on stage: DemoStage) async throws {
        stage.traffic.beginPhase()
        for machine in stage.forum.live.reversed() where machine.server.fault != nil {
            let events = stage.events.listen()
            let start = ContinuousClock.now
            machine.server.fault = nil
            stage.notes.endFault(of: machine.name)
            stage.screen.say("\(machine.name) works again")
            let isBack = await stage.wait(for: events) { event in
                if case .switched(_, machine.name, .recovered) = event { true } else { false }
            }
            let duration = ContinuousClock.now - start
            guard isBack, await stage.waitForTraffic(at: machine) else {
                throw BrokenClaim("the calls return to \(machine.name)")
            }
            try stage.claim(
                stage.machineInUse === machine,
                "the calls returned to \(machine.name) after \(duration.figure)"
            )
        }
        try await stage.watch()
        try stage.claimNoVisibleFailure()
    }
}
