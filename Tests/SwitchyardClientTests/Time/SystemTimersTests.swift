import SwitchyardServices
import Testing

@testable import SwitchyardClient

@Suite(.timeLimit(.minutes(5))) struct SystemTimersTests {
    @Test func `nothing is left once the last timer was cancelled`() async {
        weak var released: SystemTimers?
        func setAndCancel() {
            let timers = SystemTimers()
            released = timers
            timers.begin()
            let entries = (1...3).map { TimerHeap.Entry(deadline: SystemTime.now.advanced(by: .seconds($0 * 3600))) {} }
            for entry in entries { timers.insert(entry, at: SystemTime.now) }
            timers.abandon()
            for entry in entries { timers.remove(entry) }
        }

        setAndCancel()

        while released != nil { await Task.yield() }  // The system timer lets go on its own queue.
    }

    @Test func `nothing is left once the last timer has fired`() async {
        weak var released: SystemTimers?
        func set(_ action: @escaping @Sendable () -> Void) {
            let timers = SystemTimers()
            released = timers
            timers.begin()
            timers.insert(TimerHeap.Entry(deadline: SystemTime.now, action: action), at: SystemTime.now)
            timers.abandon()
        }

        await withCheckedContinuation { continuation in set { continuation.resume() } }

        while released != nil { await Task.yield() }
    }
}
