import Testing

@testable import SwitchyardClient
@testable import SwitchyardServices

/// When the timer of the system is set, which stands still while the machine sleeps, where the clock runs on.
@Suite struct SystemAlarmTests {
    private let start = MonotonicTime(seconds: 1_000)

    private func after(_ seconds: Double) -> MonotonicTime { start.advanced(bySeconds: seconds) }

    @Test func `it is set again only for an earlier deadline`() {
        var alarm = SystemAlarm()

        #expect(alarm.set(for: after(10), at: start) == 10_000_000_000)
        #expect(alarm.set(for: after(20), at: after(1)) == nil)
        #expect(alarm.rings(by: after(20), at: after(1)))
        #expect(alarm.set(for: after(5), at: after(1)) == 4_000_000_000)
    }

    @Test func `what has slept with the machine is set again, however late the next deadline is`() {
        var alarm = SystemAlarm()
        _ = alarm.set(for: after(3_000), at: start)
        let woken = after(36_000)

        #expect(!alarm.rings(by: woken.advanced(bySeconds: 10), at: woken))
        #expect(alarm.set(for: after(3_000), at: woken) == 0)
    }

    @Test func `what is about to go off is left alone`() {
        var alarm = SystemAlarm()
        _ = alarm.set(for: after(10), at: start)

        #expect(alarm.rings(by: after(30), at: after(10.05)))
        #expect(alarm.set(for: after(10), at: after(10.05)) == nil)
    }

    @Test func `set again it is not set again with every deadline that comes before it has gone off`() {
        var alarm = SystemAlarm()
        _ = alarm.set(for: after(10), at: start)
        let woken = after(3_600)
        _ = alarm.set(for: after(10), at: woken)

        #expect(alarm.rings(by: woken.advanced(bySeconds: 5), at: woken.advanced(bySeconds: 0.05)))
    }

    @Test func `a deadline that never comes needs no timer, and one in days is looked at after an hour`() {
        var alarm = SystemAlarm()

        #expect(alarm.set(for: .distantFuture, at: start) == nil)
        #expect(alarm.set(for: after(200_000), at: start) == 3_600_000_000_000)
    }
}
