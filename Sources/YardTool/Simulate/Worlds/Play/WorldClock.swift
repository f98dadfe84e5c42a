import Switchyard

/// The virtual clock of a world (a random scenario).
///
/// It advances from timer to timer on the thread that runs the world.
///
/// A timer that is set for a time in the past fires in the next call of ``step()``, not on another thread. The run
/// therefore depends only on the world.
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

    /// Advances to the next timer and fires it.
    ///
    /// Returns `false` if there is no timer.
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

    /// Releases all timers and the objects that they retain.
    func stop() {
        while let action = state.withLock({ $0.timers.popDue(at: MonotonicTime(nanoseconds: .max)) }) {
            withExtendedLifetime(action) {}
        }
    }

    fileprivate func remove(_ entry: TimerHeap.Entry) {
        // The objects that the action retains are released outside the lock.
        let action = state.withLock { $0.timers.remove(entry) }
        withExtendedLifetime(action) {}
    }
}

/// A pending timer.
private final class WorldTimer: ScheduledTimer, @unchecked Sendable {
    // @unchecked is sound: both properties are constants, and the fields of the entry are accessed only under the
    // clock's lock.
    private let clock: WorldClock
    private let entry: TimerHeap.Entry

    init(clock: WorldClock, entry: TimerHeap.Entry) {
        self.clock = clock
        self.entry = entry
    }

    func cancel() { clock.remove(entry) }
}
