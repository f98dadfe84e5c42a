import Dispatch
public import SwitchyardClient
public import SwitchyardServices

/// A clock that stands still until it is told to advance, for tests of everything that has to do with time.
///
///     let clock = ManualClock()
///     let call = Task { try await client.send(request) }   // sets its deadline on the clock
///     await clock.waitForTimers(1)
///     clock.advance(by: .seconds(10))                      // the deadline fires before this returns
public final class ManualClock: TimeSource {
    private struct Entry {
        let deadline: MonotonicTime
        let number: Int
        let action: @Sendable () -> Void
    }

    private struct State {
        var now: MonotonicTime
        var lastNumber = 0
        var entries: [Entry] = []

        /// Takes out the earliest timer that is due at `end`, and moves the clock to its deadline.
        mutating func next(until end: MonotonicTime) -> Entry? {
            guard let index = earliestIndex, entries[index].deadline <= end else {
                now = max(now, end)
                return nil
            }
            now = max(now, entries[index].deadline)
            return entries.remove(at: index)
        }

        var earliestIndex: Int? {
            entries.indices.min { left, right in
                (entries[left].deadline, entries[left].number) < (entries[right].deadline, entries[right].number)
            }
        }
    }

    private let state: Watched<State>
    private let queue = DispatchQueue(label: "switchyard.manual-clock")

    /// Creates a clock.
    ///
    /// - Parameter now: The time that it shows; the start of the clock unless given.
    public init(now: MonotonicTime = .zero) {
        state = Watched(State(now: now))
    }

    /// The time that the clock shows.
    public var now: MonotonicTime { state.withLock { $0.now } }

    /// The number of timers that are set.
    public var pendingTimers: Int { state.withLock { $0.entries.count } }

    /// The time of the earliest timer; `nil` when none is set.
    public var nextDeadline: MonotonicTime? {
        state.withLock { state in state.earliestIndex.map { state.entries[$0].deadline } }
    }

    /// Calls `action` when the clock is advanced to the deadline, on the thread that advances it.
    ///
    /// A deadline that has passed already is due at once: its action is called on a queue of the clock.
    public func schedule(
        at deadline: MonotonicTime,
        _ action: @escaping @Sendable () -> Void
    ) -> any ScheduledTimer {
        let number: Int? = state.change { state in
            guard deadline > state.now else { return nil }
            state.lastNumber += 1
            state.entries.append(Entry(deadline: deadline, number: state.lastNumber, action: action))
            return state.lastNumber
        }
        guard let number else {
            queue.async(execute: action)
            return FiredTimer()
        }
        return PendingTimer(clock: self, number: number)
    }

    private struct PendingTimer: ScheduledTimer {
        let clock: ManualClock
        let number: Int

        func cancel() {
            clock.state.change { state in state.entries.removeAll { $0.number == number } }
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
    /// Actions run on the calling thread, outside any lock, and have returned when this returns.
    ///
    /// - Parameter duration: How far; the clock does not go backwards, so what is negative counts as zero.
    public func advance(by duration: Duration) {
        advance(to: now.advanced(by: max(.zero, duration)))
    }

    /// Moves the clock on to a time, as ``advance(by:)`` does; a time that has passed moves nothing.
    public func advance(to end: MonotonicTime) {
        while let entry = state.change({ $0.next(until: end) }) { entry.action() }
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
            guard let duration else { return state.entries.count }
            let end = state.now.advanced(by: duration)
            return state.entries.count { $0.deadline == end }
        } until: {
            $0 >= count
        }
    }
}
