import Switchyard

/// The clock of a world: jumps from timer to timer, on the thread that lets it run.
///
/// A timer whose time has passed fires with the next step, where others hand it to another thread: so the course of a
/// play follows from the world alone.
final class WorldClock: TimeSource {
    private struct State {
        var now = MonotonicTime.zero
        var timers = TimerHeap()
    }

    private let state = Locked(State())

    var now: MonotonicTime { state.withLock { $0.now } }

    func schedule(at deadline: MonotonicTime, _ action: @escaping @Sendable () -> Void) -> any ScheduledTimer {
        let entry = TimerHeap.Entry(deadline: deadline, action: action)
        state.withLock { $0.timers.insert(entry) }
        return WorldTimer(clock: self, entry: entry)
    }

    /// Goes on to the next timer and calls it; `false` when there is none.
    func step() -> Bool {
        let action = state.withLock { state -> (@Sendable () -> Void)? in
            guard let next = state.timers.earliest() else { return nil }
            state.now = max(state.now, next)
            return state.timers.popDue(at: state.now)
        }
        guard let action else { return false }
        action()
        return true
    }

    /// Lets go of all timers, and of what they hold.
    func stop() {
        while let action = state.withLock({ $0.timers.popDue(at: MonotonicTime(nanoseconds: .max)) }) {
            withExtendedLifetime(action) {}
        }
    }

    fileprivate func remove(_ entry: TimerHeap.Entry) {
        // What the action holds goes outside the lock.
        let action = state.withLock { $0.timers.remove(entry) }
        withExtendedLifetime(action) {}
    }
}

/// A timer that is set.
private final class WorldTimer: ScheduledTimer, @unchecked Sendable {
    // @unchecked is sound: both are constants, and the fields of the entry are touched only under the clock's lock.
    private let clock: WorldClock
    private let entry: TimerHeap.Entry

    init(clock: WorldClock, entry: TimerHeap.Entry) {
        self.clock = clock
        self.entry = entry
    }

    func cancel() { clock.remove(entry) }
}
