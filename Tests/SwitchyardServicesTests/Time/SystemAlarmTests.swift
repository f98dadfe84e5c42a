import Testing

@testable import SwitchyardClient
@testable import SwitchyardServices

/// When the system timer is set, which stops while the machine sleeps although the clock continues.
@Suite struct SystemAlarmTests {
    private let start = MonotonicTime(seconds: 1_000)

    private func after(_ seconds: Double) -> MonotonicTime { start.advanced(bySeconds: seconds) }

    @Test func `the system timer is set again only for an earlier deadline`() {
        var alarm = SystemAlarm()

        #expect(alarm.set(for: after(10), at: start) == 10_000_000_000)
        #expect(alarm.set(for: after(20), at: after(1)) == nil)
        #expect(alarm.rings(by: after(20), at: after(1)))
        #expect(alarm.set(for: after(5), at: after(1)) == 4_000_000_000)
    }

    @Test func `a system timer that was suspended with the machine is set again for any deadline`() {
        var alarm = SystemAlarm()
        _ = alarm.set(for: after(3_000), at: start)
        let woken = after(36_000)

        #expect(!alarm.rings(by: woken.advanced(bySeconds: 10), at: woken))
        #expect(alarm.set(for: after(3_000), at: woken) == 0)
    }

    @Test func `the system timer is not set again if it is about to fire`() {
        var alarm = SystemAlarm()
        _ = alarm.set(for: after(10), at: start)

        #expect(alarm.rings(by: after(30), at: after(10.05)))
        #expect(alarm.set(for: after(10), at: after(10.05)) == nil)
    }

    @Test func `after a system timer was set again, a later deadline does not set it once more`() {
        var alarm = SystemAlarm()
        _ = alarm.set(for: after(10), at: start)
        let woken = after(3_600)
        _ = alarm.set(for: after(10), at: woken)

        #expect(alarm.rings(by: woken.advanced(bySeconds: 5), at: woken.advanced(bySeconds: 0.05)))
    }

    @Test func `the system timer is set for at most an hour, and not at all for the distant future`() {
        var alarm = SystemAlarm()

        #expect(alarm.set(for: .distantFuture, at: start) == nil)
        #expect(alarm.set(for: after(200_000), at: start) == 3_600_000_000_000)
    }
}
