import Dispatch

/// The timers that are set, and the system timer for the earliest of them.
///
/// The system timer holds them, not the time source: only a weak reference would let that go, and an object with a weak
/// reference counts all others slowly, which for the shared one are those of every request.
final class SystemTimers: Sendable {
    private struct State {
        var heap = TimerHeap()
        var alarm = SystemAlarm()
        var isAbandoned = false
        let source: any DispatchSourceTimer

        /// Sets the system timer for the earliest deadline, unless it is set for it already.
        mutating func arm(at now: MonotonicTime) {
            guard let earliest = heap.earliest(), let delay = alarm.set(for: earliest, at: now) else { return }
            source.schedule(deadline: .now() + .nanoseconds(Int(delay)), leeway: .nanoseconds(0))
        }

        /// Sets the system timer anew for the end of a time in which no timer is called.
        mutating func hold(until end: MonotonicTime, at now: MonotonicTime) {
            alarm = SystemAlarm()
            guard let delay = alarm.set(for: end, at: now) else { return }
            source.schedule(deadline: .now() + .nanoseconds(Int(delay)), leeway: .nanoseconds(0))
        }

        /// Lets the system timer go, and with it what it holds, when nobody can set another.
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

    /// Ends with the last timer that is set.
    func abandon() {
        state.withLock { state in
            state.isAbandoned = true
            state.endIfUnused()
        }
    }

    /// Sets a timer, at a time that may be one shortly before the exact one.
    func insert(_ timer: TimerHeap.Entry, at now: MonotonicTime) {
        state.withLock { state in
            state.heap.insert(timer)
            if !state.alarm.rings(by: timer.deadline, at: now) { state.arm(at: SystemTime.now) }
        }
    }

    func remove(_ timer: TimerHeap.Entry) {
        _ = state.withLock { state in
            defer { state.endIfUnused() }
            return state.heap.remove(timer)
        }
    }

    /// Whether the process was stopped until a moment ago; then the timers are called a little later.
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

/// The time for which the timer of the system is set.
///
/// That timer counts only while the machine is awake, and the clock of the deadlines runs on while it sleeps: after a
/// sleep the timer goes off too late by its length, and nothing that is set for later would come before it.
struct SystemAlarm {
    /// An hour; after it the timer is set anew.
    private static let longestDelay: Int64 = 3_600_000_000_000
    /// How late the timer may be without having slept.
    private static let patience = Duration.milliseconds(100)

    private var dueAt: MonotonicTime?

    /// Whether the timer will go off by a deadline, so that it need not be set for it; one that is overdue has slept.
    func rings(by deadline: MonotonicTime, at now: MonotonicTime) -> Bool {
        let dueAt = dueAt ?? .distantFuture
        return dueAt <= deadline && now < dueAt.advanced(by: Self.patience)
    }

    /// Whether the timer has gone off so late that the process was stopped meanwhile.
    func isLate(at now: MonotonicTime) -> Bool {
        dueAt.map { now > $0.advanced(by: ProcessPause.lateness) } ?? false
    }

    /// Sets the timer for the earliest deadline; in how many nanoseconds it is to go off, `nil` when it is set already.
    mutating func set(for earliest: MonotonicTime, at now: MonotonicTime) -> Int64? {
        guard !rings(by: earliest, at: now) else { return nil }
        dueAt = max(earliest, now)
        return min(max(0, now.duration(to: earliest).clampedNanoseconds), Self.longestDelay)
    }
}
