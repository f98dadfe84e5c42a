import SwitchyardFixtures
import Testing

@testable import SwitchyardServices

/// Timers after a pause of the process.
@Suite(.serialized, .timeLimit(.minutes(5)), .prompt) struct ProcessPauseTests {
    @Test func `a timer that fires far too late shows that the process was paused`() {
        var alarm = SystemAlarm()
        let start = MonotonicTime(seconds: 1_000)
        _ = alarm.set(for: start.advanced(bySeconds: 10), at: start)

        #expect(!alarm.isLate(at: start.advanced(bySeconds: 10.4)))
        #expect(alarm.isLate(at: start.advanced(bySeconds: 10.6)))
        #expect(!SystemAlarm().isLate(at: start))
    }

    @Test func `timers wait a moment after a pause so that received data is read first`() async {
        let time = SystemTime()
        ProcessPause.note()
        let start = time.now

        await withCheckedContinuation { continuation in
            _ = time.schedule(at: start) { continuation.resume() }
        }

        #expect(start.duration(to: time.now) >= .milliseconds(95))
        #expect(time.resumedAt.map { $0 <= start } == true)
    }
}
