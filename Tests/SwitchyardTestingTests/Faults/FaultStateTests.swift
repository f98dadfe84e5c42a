import SwitchyardServices
import Testing

@testable import SwitchyardTesting

@Suite struct FaultStateTests {
    private let start = MonotonicTime(seconds: 100)

    private func time(_ milliseconds: Int) -> MonotonicTime {
        start.advanced(by: .milliseconds(milliseconds))
    }

    @Test func `a percentage fault affects that percentage of requests, and equal seeds choose the same requests`() {
        func decisions(seed: UInt64) -> [Bool] {
            let fault = Fault.percentage(30, of: .resetBeforeHead, seed: seed)
            var state = FaultState(fault, number: 1, since: start)
            return (0..<10_000).map { _ in state.effect(at: start) != nil }
        }

        let share = Double(decisions(seed: 7).filter(\.self).count) / 10_000

        #expect(abs(share - 0.3) < 0.02)
        #expect(decisions(seed: 7) == decisions(seed: 7))
        #expect(decisions(seed: 7) != decisions(seed: 8))
    }

    @Test(arguments: [(0.0, 0), (-5, 0), (.nan, 0), (100, 50), (400, 50)])
    func `a percentage outside 0 to 100 is clamped`(percent: Double, hits: Int) {
        var state = FaultState(.percentage(percent, of: .hang), number: 1, since: start)

        #expect((0..<50).filter { _ in state.effect(at: start) != nil }.count == hits)
    }

    @Test func `a flapping fault is active in the first half of its period`() {
        var state = FaultState(.flap(.status(500), period: .milliseconds(100)), number: 1, since: start)

        let answers = [0, 49, 50, 99, 100, 151].map { state.effect(at: time($0)) != nil }

        #expect(answers == [true, true, false, false, true, false])
        #expect(state.nextChange(after: time(0)) == time(50))
        #expect(state.nextChange(after: time(50)) == time(100))
        #expect(state.nextChange(after: time(149)) == time(150))
    }

    @Test func `only a refusal and a black hole fault change what the listening socket does`() {
        func mode(_ fault: Fault, at milliseconds: Int = 0) -> ListenerMode {
            FaultState(fault, number: 1, since: start).listenerMode(at: time(milliseconds))
        }

        #expect(mode(.refuse) == .closed)
        #expect(mode(.blackHole) == .silent)
        #expect(mode(.hang) == .listening)
        #expect(mode(.flap(.refuse, period: .milliseconds(100)), at: 10) == .closed)
        #expect(mode(.flap(.refuse, period: .milliseconds(100)), at: 60) == .listening)
        #expect(mode(.percentage(50, of: .refuse)) == .listening)
    }

    @Test func `a flapping hang holds requests only during the active part of its period`() {
        let state = FaultState(.flap(.hang, period: .milliseconds(100)), number: 1, since: start)

        #expect(state.holds(at: time(10)))
        #expect(!state.holds(at: time(60)))
    }

    @Test func `a flapping fault inside another flapping fault changes whenever either fault changes`() {
        let inner = Fault.flap(.hang, period: .milliseconds(20))
        let state = FaultState(.flap(inner, period: .milliseconds(100)), number: 1, since: start)

        #expect(state.nextChange(after: time(0)) == time(10))
        #expect(state.nextChange(after: time(45)) == time(50))
    }
}
