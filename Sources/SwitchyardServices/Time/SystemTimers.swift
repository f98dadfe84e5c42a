import Dispatch

/// The scheduled timers, and the system timer for the earliest of them.
///
/// The system timer retains this object instead of the time source. If it retained the time source, a weak reference
/// would be needed to release the time source, and an object with a weak reference has slower reference counting. The
/// shared time source is retained and released with every request.
final class SystemTimers: Sendable {
    private struct State {
        var heap = TimerHeap()
        var alarm = SystemAlarm()
        var isAbandoned = false
        let source: any DispatchSourceTimer

        /// Sets the system timer for the earliest deadline, unless it is already set for it.
        mutating func arm(at now: MonotonicTime) {
            guard let earliest = heap.earliest(), let delay = alarm.set(for: earliest, at: now) else { return }
            source.schedule(deadline: .now() + .nanoseconds(Int(delay)), leeway: .nanoseconds(0))
        }

        /// Sets the system timer for the end of a period in which no timer fires.
        mutating func hold(until end: MonotonicTime, at now: MonotonicTime) {
            alarm = SystemAlarm()
            guard let delay = alarm.set(for: end, at: now) else { return }
            source.schedule(deadline: .now() + .nanoseconds(Int(delay)), leeway: .nanoseconds(0))
        }

        /// Cancels the system timer if no timer is left and none can be scheduled.
        ///
        /// The system timer then no longer refers to this object.
        mutating func endIfUnused() {
            if isAbandoned, heap.count == 0 { source.cancel() }
        }
    }

    private let state: Locked<State>

    init() {
        let queue = DispatchQueue(label: "switchyard.timers", qos: .userInitiated)
        state = Locked(State(source: DispatchSource.makeTimerSource(flags: .strict, queue: queue)))
    }

    func begin() {
        state.withLock { state in
            state.source.setEventHandler { [self] in fire() }
            state.source.activate()
        }
    }

    /// Cancels the system timer as soon as no scheduled timer is left, because no more timers will be scheduled.
    func abandon() {
        state.withLock { state in
            state.isAbandoned = true
            state.endIfUnused()
        }
    }

    /// Schedules a timer; `now` may be slightly earlier than the exact time.
    func insert(_ timer: TimerHeap.Entry, at now: MonotonicTime) {
        state.withLock { state in
            state.heap.insert(timer)
            if !state.alarm.rings(by: timer.deadline, at: now) { state.arm(at: SystemTime.now) }
        }
    }

    func remove(_ timer: TimerHeap.Entry) {
        _ = state.withLock { state in
            let action = state.heap.remove(timer)
            if state.isAbandoned { state.endIfUnused() }
            return action
        }
    }

    /// Returns whether the process has just resumed after a pause, and postpones the timers if it has.
    private func holdsBack(at now: MonotonicTime) -> Bool {
        if state.withLock({ $0.alarm.isLate(at: now) }) { ProcessPause.note() }
        guard let end = ProcessPause.holdsBack(at: now) else { return false }
        state.withLock { $0.hold(until: end, at: now) }
        return true
    }

    private func fire() {
        guard !holdsBack(at: SystemTime.now) else { return }
        while let action = state.withLock({ $0.heap.popDue(at: SystemTime.now) }) {
            action()
        }
        state.withLock { state in
            state.alarm = SystemAlarm()
            state.arm(at: SystemTime.now)
            state.endIfUnused()
        }
    }
}

/// The deadline for which the system timer is set.
///
/// The system timer counts only while the machine is awake, but the clock of the deadlines continues during a sleep.
/// After a sleep, the system timer therefore fires too late by the length of the sleep, and a timer with a later
/// deadline would not fire before it.
struct SystemAlarm {
    /// The longest delay for which the system timer is set, one hour.
    ///
    /// After this time it is set again.
    private static let longestDelay: Int64 = 3_600_000_000_000
    /// The delay of the system timer above which the machine is assumed to have slept.
    private static let sleepThreshold = Duration.milliseconds(100)

    private var dueAt: MonotonicTime?

    /// Whether the system timer will fire by the deadline, so it need not be set again.
    ///
    /// A system timer that is overdue does not count, because a sleep of the machine has delayed it and it fires too
    /// late.
    func rings(by deadline: MonotonicTime, at now: MonotonicTime) -> Bool {
        let dueAt = dueAt ?? .distantFuture
        return dueAt <= deadline && now < dueAt.advanced(by: Self.sleepThreshold)
    }

    /// Whether the system timer fired so late that the process must have been paused.
    func isLate(at now: MonotonicTime) -> Bool {
        dueAt.map { now > $0.advanced(by: ProcessPause.lateness) } ?? false
    }

    /// Records the earliest deadline.
    ///
    /// Returns the delay in nanoseconds, or `nil` if the system timer is already set for it.
    mutating func set(for earliest: MonotonicTime, at now: MonotonicTime) -> Int64? {
        guard !rings(by: earliest, at: now) else { return nil }
        dueAt = max(earliest, now)
        return min(max(0, now.duration(to: earliest).clampedNanoseconds), Self.longestDelay)
    }
}
