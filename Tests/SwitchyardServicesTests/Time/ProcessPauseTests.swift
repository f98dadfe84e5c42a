import Dispatch
import SwitchyardFixtures
import Testing

@testable import SwitchyardServices

/// Timers after a pause of the process.
@Suite(.serialized, .timeLimit(.minutes(5)), .prompt) struct ProcessPauseTests {
    @Test func `a timer that fires far too late is taken as a sign that the process was paused`() {
        var alarm = SystemAlarm()
        let start = MonotonicTime(seconds: 1_000)
        _ = alarm.set(for: start.advanced(bySeconds: 10), at: start)

        #expect(!alarm.isLate(at: start.advanced(bySeconds: 10.4)))
        #expect(alarm.isLate(at: start.advanced(bySeconds: 10.6)))
        #expect(!SystemAlarm().isLate(at: start))
    }

    @Test func `after a pause of the process, timers wait a moment so that received data is read first`() async {
        let time = SystemTime()
        let start = time.now
        ProcessPause.note()
        let resumedAt = time.resumedAt

        let firedAt = await withCheckedContinuation { continuation in
            _ = time.schedule(at: start) { continuation.resume(returning: time.now) }
        }

        #expect(start.duration(to: firedAt) >= .milliseconds(95))
        // Another timer of this process may have noticed a later pause.
        #expect(resumedAt.map { $0 >= start } == true)
    }

    @Test func `timers wait until the data that arrived during a pause of the process is read`() async {
        let time = SystemTime()
        let hasRead = Locked(false)
        let start = time.now
        let fired = await withCheckedContinuation { continuation in
            DispatchQueue(label: "reader").async {
                ProcessPause.readArrivedData {
                    _ = time.schedule(at: start) {
                        continuation.resume(returning: (afterReading: hasRead.withLock { $0 }, at: time.now))
                    }
                    let end = time.now.advanced(by: ProcessPause.grace * 3)
                    while time.now < end { _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(5)) }
                    hasRead.withLock { $0 = true }
                }
            }
        }

        // If this thread gets no processor time for two seconds, the timer waits no longer.
        #expect(fired.afterReading || start.duration(to: fired.at) >= ProcessPause.maximumGrace)
    }
}
