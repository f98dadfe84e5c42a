import Dispatch
import Foundation
import SwitchyardClient
public import SwitchyardServices

/// A clock that stands still until it is told to advance, for tests of everything that has to do with time.
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

        /// Takes out the earliest timer that is due at `end`, and moves the clock to its deadline.
        mutating func next(until end: MonotonicTime) -> (@Sendable () -> Void)? {
            now = max(now, min(timers.earliest() ?? end, end))
            return timers.popDue(at: now)
        }
    }

    private let state: Watched<State>
    private let queue = DispatchQueue(label: "switchyard.manual-clock")
    /// Held by the thread that moves the clock; recursive, since a timer's action may move it too.
    private let turn = NSRecursiveLock()

    /// Creates a clock.
    ///
    /// - Parameter now: The time that it shows; the start of the clock unless given.
    public init(now: MonotonicTime = .zero) {
        state = Watched(State(now: now))
    }

    /// The time that the clock shows.
    public var now: MonotonicTime { state.withLock { $0.now } }

    /// When ``pauseProcess(for:)`` last ended; `nil` when it was never called.
    public var resumedAt: MonotonicTime? { state.withLock { $0.resumedAt } }

    /// The number of timers that are set.
    public var pendingTimers: Int { state.withLock { $0.timers.count } }

    /// The time of the earliest timer; `nil` when none is set.
    public var nextDeadline: MonotonicTime? { state.withLock { $0.timers.earliest() } }

    /// Calls `action` when the clock is advanced to the deadline, on the thread that advances it.
    ///
    /// A deadline that has passed already is due at once: its action is called on a queue of the clock.
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

    /// A timer that is set.
    ///
    /// What it shares with the heap is touched only under the lock of the clock.
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

// MARK: - Moving

extension ManualClock {
    /// Moves the clock on and calls the timers that become due, in the order of their deadlines.
    ///
    /// While a timer's action runs, the clock shows its deadline; what it sets itself is called too when it becomes due.
    /// Actions run on the calling thread, and have returned when this returns. One thread at a time moves the clock:
    /// another one waits for it, so that no action may wait for one that moves the clock elsewhere.
    ///
    /// - Parameter duration: How far; the clock does not go backwards, so what is negative counts as zero.
    public func advance(by duration: Duration) {
        turn.withLock { advance(to: now.advanced(by: max(.zero, duration))) }
    }

    /// Moves the clock on as a pause of the process does: time passes, and nothing is called meanwhile.
    ///
    /// Timers that become due are called by the next ``advance(by:)``, which may be by nothing. In between a test can let
    /// arrive what the process would find in its sockets.
    ///
    /// - Parameter duration: How long the process is stopped; what is negative counts as zero.
    public func pauseProcess(for duration: Duration) {
        turn.withLock {
            state.change { state in
                state.now = state.now.advanced(by: max(.zero, duration))
                state.resumedAt = state.now
            }
        }
    }

    /// Moves the clock on to a time, as ``advance(by:)`` does; a time that has passed moves nothing.
    public func advance(to end: MonotonicTime) {
        turn.withLock {
            while let action = state.change({ $0.next(until: end) }) { action() }
        }
    }

    /// Waits until at least so many timers are set.
    ///
    /// - Parameters:
    ///   - count: How many.
    ///   - duration: Counts only those that fire in just this time, which tells them from others; all unless given.
    /// - Returns: `false` when the task was cancelled before.
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
