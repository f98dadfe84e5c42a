import SwitchyardServices
import Testing

@testable import SwitchyardTesting

@Suite struct TimerQueueTests {
    @Test func `timers fire in order of their deadlines, and timers with equal deadlines in the order of setting`() {
        var timers = TimerQueue()
        var fired: [Int] = []
        for (index, nanoseconds) in [5, 1, 3, 1, 4].enumerated() {
            _ = timers.add(at: MonotonicTime(nanoseconds: Int64(nanoseconds))) { fired.append(index) }
        }

        while let action = timers.popDue(at: MonotonicTime(nanoseconds: 4)) { action() }

        #expect(fired == [1, 3, 2, 4])
        #expect(timers.earliest == MonotonicTime(nanoseconds: 5))
    }

    @Test func `a cancelled timer does not fire and does not count for the earliest deadline`() {
        var timers = TimerQueue()
        var fired: [String] = []
        let first = timers.add(at: MonotonicTime(nanoseconds: 1)) { fired.append("first") }
        let second = timers.add(at: MonotonicTime(nanoseconds: 2)) { fired.append("second") }
        _ = timers.add(at: MonotonicTime(nanoseconds: 3)) { fired.append("third") }

        timers.cancel(second)
        timers.cancel(first)

        #expect(timers.earliest == MonotonicTime(nanoseconds: 3))
        while let action = timers.popDue(at: MonotonicTime(nanoseconds: 9)) { action() }
        #expect(fired == ["third"])
        #expect(timers.earliest == nil)
    }
}
