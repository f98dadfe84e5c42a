import SwitchyardFixtures
import Testing

@testable import SwitchyardClient
@testable import SwitchyardServices

/// A timer holds its owner, the owner holds the heap, and the heap holds the timer; each must release the next.
@Suite(.timeLimit(.minutes(5)), .prompt) struct SystemTimersTests {
    @Test func `the timers of a time source are released if they were cancelled before the time source was released`()
        async
    {
        weak var released: SystemTimers?
        func setAndCancel() {
            let time = SystemTime()
            released = time.timers
            for timer in setThree(on: time) { timer.cancel() }
        }

        setAndCancel()

        await until { released == nil }  // The system timer is released on its own queue.
    }

    @Test func `the timers of a time source are released if they were cancelled after the time source was released`()
        async
    {
        weak var released: SystemTimers?
        func set() -> [any ScheduledTimer] {
            let time = SystemTime()
            released = time.timers
            return setThree(on: time)
        }
        func setAndCancel() {
            for timer in set() { timer.cancel() }
        }

        setAndCancel()

        await until { released == nil }
    }

    @Test func `the timers of a time source are released if one has fired and all later timers were cancelled`() async {
        weak var released: SystemTimers?
        func set(_ action: @escaping @Sendable () -> Void) {
            let time = SystemTime()
            released = time.timers
            _ = time.schedule(at: time.now) {
                _ = time.schedule(at: time.now, action)  // Waits for the queue on which this closure runs.
                for timer in setThree(on: time) { timer.cancel() }
            }
        }

        await withCheckedContinuation { continuation in set { continuation.resume() } }

        await until { released == nil }
    }

    private func setThree(on time: SystemTime) -> [any ScheduledTimer] {
        (1...3).map { time.schedule(at: time.now.advanced(by: .seconds($0 * 3600))) {} }
    }
}
