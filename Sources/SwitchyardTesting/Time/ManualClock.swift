import Dispatch
import Foundation
import SwitchyardClient
public import SwitchyardServices

/// A clock that advances only on command, for tests that depend on time.
///
///     let clock = ManualClock()
///     let call = Task { try await client.send(request) }   // sets its deadline on the clock
///     await clock.waitForTimers(1)
///     clock.advance(by: .seconds(10))                      // the deadline fires before this returns
public final class ManualClock: TimeSource {
    private struct State {
        var now: MonotonicTime
        var timers = TimerHeap()
        var resumedAt: MonotonicTime?

        /// If a timer is due by `end`, moves the clock to the deadline of the earliest timer, removes the timer and
        /// returns its action.
        ///
        /// Otherwise, moves the clock to `end` and returns `nil`.
        mutating func next(until end: MonotonicTime) -> (@Sendable () -> Void)? {
            now = max(now, min(timers.earliest() ?? end, end))
            return timers.popDue(at: now)
        }
    }

    private let state: ObservableState<State>
    private let queue = DispatchQueue(label: "switchyard.manual-clock")
    /// A lock that a thread holds while it moves the clock.
    ///
    /// The lock is recursive because the action of a timer can also move the clock.
    private let turn = NSRecursiveLock()

    /// Creates a clock.
    ///
    /// - Parameter now: The initial time. The default is `.zero`.
    public init(now: MonotonicTime = .zero) {
        state = ObservableState(State(now: now))
    }

    /// The current time of the clock.
    public var now: MonotonicTime { state.withLock { $0.now } }

    /// The time at which ``pauseProcess(for:)`` last ended, or `nil` if this method was never called.
    public var resumedAt: MonotonicTime? { state.withLock { $0.resumedAt } }

    /// The number of pending timers.
    public var pendingTimers: Int { state.withLock { $0.timers.count } }

    /// The deadline of the earliest timer, or `nil` if no timer is pending.
    public var nextDeadline: MonotonicTime? { state.withLock { $0.timers.earliest() } }

    /// Calls `action` when the clock reaches the deadline, on the thread that advances the clock.
    ///
    /// If the deadline has already passed, the action is called immediately on a queue of the clock.
    public func schedule(
        at deadline: MonotonicTime,
        _ action: @escaping @Sendable () -> Void
    ) -> any ScheduledTimer {
        let timer = PendingTimer(clock: self, deadline: deadline, action: action)
        let isPending = state.change { state in
            guard deadline > state.now else { return false }
            state.timers.insert(timer.entry)
            return true
        }
        guard isPending else {
            queue.async(execute: action)
            return FiredTimer()
        }
        return timer
    }

    /// A pending timer.
    ///
    /// Its entry in the heap of timers is accessed only under the lock of the clock.
    private final class PendingTimer: ScheduledTimer, @unchecked Sendable {
        // @unchecked is sound: `entry` is a constant, and its fields are read and written only under `clock.state`.
        let entry: TimerHeap.Entry
        private let clock: ManualClock

        init(clock: ManualClock, deadline: MonotonicTime, action: @escaping @Sendable () -> Void) {
            self.clock = clock
            entry = TimerHeap.Entry(deadline: deadline, action: action)
        }

        func cancel() {
            _ = clock.state.change { $0.timers.remove(entry) }
        }
    }

    private struct FiredTimer: ScheduledTimer {
        func cancel() {}
    }
}

// MARK: - Advancing the clock

extension ManualClock {
    /// Advances the clock, and calls the actions of the timers that become due in the order of their deadlines.
    ///
    /// While an action runs, ``now`` is the deadline of its timer. If an action sets a timer that also becomes due, the
    /// new timer's action is called too. Actions run on the calling thread and have returned when this method returns.
    /// Only one thread at a time can advance the clock, so an action must not wait for another thread that advances the
    /// clock.
    ///
    /// - Parameter duration: The duration. A negative duration counts as zero because the clock does not go backwards.
    public func advance(by duration: Duration) {
        turn.withLock { advance(to: now.advanced(by: max(.zero, duration))) }
    }

    /// Advances the clock without calling the actions of timers, as if the process had been paused.
    ///
    /// The next call of ``advance(by:)``, possibly with a duration of zero, calls the actions that have become due.
    /// Before that call, a test can deliver the data that has arrived on the process's sockets during the pause.
    ///
    /// - Parameter duration: The duration of the pause. A negative duration counts as zero.
    public func pauseProcess(for duration: Duration) {
        turn.withLock {
            state.change { state in
                state.now = state.now.advanced(by: max(.zero, duration))
                state.resumedAt = state.now
            }
        }
    }

    /// Advances the clock to a time, like ``advance(by:)``, or does nothing if the clock has already passed this time.
    public func advance(to end: MonotonicTime) {
        turn.withLock {
            while let action = state.change({ $0.next(until: end) }) { action() }
        }
    }

    /// Waits until at least this number of timers is pending.
    ///
    /// - Parameters:
    ///   - count: The number of timers.
    ///   - duration: If set, only timers that are due exactly this duration from now count. If it is `nil`, all timers
    ///     count.
    /// - Returns: `false` if the task was cancelled first.
    @discardableResult
    public func waitForTimers(_ count: Int, in duration: Duration? = nil) async -> Bool {
        await state.wait { state in
            guard let duration else { return state.timers.count }
            return state.timers.count(at: state.now.advanced(by: duration))
        } until: {
            $0 >= count
        }
    }
}
