import SwitchyardFixtures
import Testing

@testable import SwitchyardClient
@testable import SwitchyardServices

/// A timer holds its owner, that its heap, and that the timer: each must let go of the next.
@Suite(.timeLimit(.minutes(5)), .prompt) struct SystemTimersTests {
    @Test func `nothing is left when all timers were cancelled before their source went`() async {
        weak var released: SystemTimers?
        func setAndCancel() {
            let time = SystemTime()
            released = time.timers
            for timer in setThree(on: time) { timer.cancel() }
        }

        setAndCancel()

        while released != nil { await Task.yield() }  // The system timer lets go on its own queue.
    }

    @Test func `nothing is left when all timers were cancelled after their source had gone`() async {
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

        while released != nil { await Task.yield() }
    }

    @Test func `nothing is left when the last timer has fired and those after it were cancelled`() async {
        weak var released: SystemTimers?
        func set(_ action: @escaping @Sendable () -> Void) {
            let time = SystemTime()
            released = time.timers
            _ = time.schedule(at: time.now) {
                _ = time.schedule(at: time.now, action)  // It waits for the queue, on which this runs.
                for timer in setThree(on: time) { timer.cancel() }
            }
        }

        await withCheckedContinuation { continuation in set { continuation.resume() } }

        while released != nil { await Task.yield() }
    }

    private func setThree(on time: SystemTime) -> [any ScheduledTimer] {
        (1...3).map { time.schedule(at: time.now.advanced(by: .seconds($0 * 3600))) {} }
    }
}
