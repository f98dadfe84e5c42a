import Foundation
import SwitchyardFixtures
import Testing

@testable import SwitchyardServices

/// The invariants I1 to I17 of the switching rules, checked over random histories.
///
/// Each run uses and prints its own seed; `SWITCHYARD_SEED=n` repeats a run. I12 and I13 concern the client's engine.
@Suite struct InvariantTests {
    private static let base: UInt64 = {
        let given = ProcessInfo.processInfo.environment["SWITCHYARD_SEED"].flatMap { UInt64($0) }
        let seed = given ?? UInt64.random(in: 0...UInt64(UInt32.max))
        print("invariants: SWITCHYARD_SEED=\(seed)")
        return seed
    }()

    private static let histories = Rounds.count(400, thorough: 1_500)

    @Test(arguments: 0..<4)
    func `the invariants of the switching core hold in random histories`(part: Int) throws {
        for index in 0..<Self.histories {
            let seed = InvariantTests.base &+ UInt64(part * Self.histories + index)
            var history = try RandomHistory(seed: seed)
            try history.run(steps: 12 + index % 16, withCommands: index % 3 != 0)
            try history.finish()
        }
    }

    @Test func `the first server is current again at most ten minutes after all servers have recovered`() throws {
        for index in 0..<Rounds.count(60, thorough: 300) {
            let policy = index % 2 == 0 ? SwitchPolicy.recommended : .smallFleet
            var history = try RandomHistory(seed: InvariantTests.base &+ UInt64(index), policy: policy)
            try history.run(steps: 60, withCommands: false)
            try history.finish()
            for _ in 0..<120 {
                history.now = history.now.advanced(by: .seconds(5))
                if let probe = history.core.takeProbe(at: history.now) {
                    _ = history.core.settleProbe(probe, .ok, at: history.now)
                }
                if let attempt = history.core.choose(at: history.now) {
                    _ = history.core.settle(attempt, .ok, at: history.now)
                }
            }
            let isBack = history.core.recovery.servers.first?.state == .healthy && history.core.current == "s0"
            try history.require(isBack, "I10")
        }
    }

    @Test func `if independent requests complete at the same time, their order has no effect`() throws {
        for index in 0..<Rounds.count(100, thorough: 300) {
            var history = try RandomHistory(seed: InvariantTests.base &+ UInt64(index), policy: .recommended)
            try history.run(steps: 20, withCommands: false)
            var attempts: [Attempt] = []
            for position in history.core.serverIDs.indices {
                var others = ServerSet()
                for other in history.core.serverIDs.indices where other != position { others.insert(other) }
                if let attempt = history.core.choose(excluding: others, at: history.now) { attempts.append(attempt) }
            }
            var forward = history.core
            var backward = history.core
            let events = attempts.flatMap { forward.settle($0, .ok, at: history.now) }
            for attempt in attempts.reversed() { _ = backward.settle(attempt, .ok, at: history.now) }
            // A switch starts a fresh window, so the order around it matters.
            guard events.isEmpty else { continue }
            let isSame = forward.recovery.servers.indices.allSatisfy { position in
                let (one, other) = (forward.evidence.servers[position], backward.evidence.servers[position])
                return forward.recovery.state(of: position) == backward.recovery.state(of: position)
                    && forward.recovery.dueAt(of: position) == backward.recovery.dueAt(of: position)
                    && forward.admission.lastShare(of: position) == backward.admission.lastShare(of: position)
                    && one.score.value == other.score.value && one.window.requests == other.window.requests
            }
            try history.require(isSame && forward.current == backward.current, "I15")
        }
    }

    @Test func `the switching core makes the same decisions for the same seed and the same calls`() throws {
        for index in 0..<Rounds.count(50, thorough: 200) {
            let seed = InvariantTests.base &+ UInt64(index)
            var one = try RandomHistory(seed: seed)
            var other = try RandomHistory(seed: seed)
            try one.run(steps: 30)
            try other.run(steps: 30)
            try one.require(one.decisions == other.decisions && one.events == other.events, "I17")
        }
    }
}
