import Dispatch
public import SwitchyardServices

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The time of the system: a monotonic clock that runs on while the machine sleeps, and timers on one serial queue.
///
/// The queue sets the system timer only when an earlier deadline comes up, so that a timer which is cancelled in time
/// (nearly all are) costs two short stays in a lock and wakes nobody. After a sleep of the machine everything that is
/// overdue is called as soon as the next timer is set.
public final class SystemTime: TimeSource {
    /// The time source that clients use unless given another; it holds nothing but its timers.
    public static let shared = SystemTime()

    private struct State {
        var heap = TimerHeap()
        var alarm = SystemAlarm()
        let source: any DispatchSourceTimer

        /// Sets the system timer for the earliest deadline, unless it is set for it already.
        mutating func arm(at now: MonotonicTime) {
            guard let earliest = heap.earliest(), let delay = alarm.set(for: earliest, at: now) else { return }
            source.schedule(deadline: .now() + .nanoseconds(Int(delay)), leeway: .nanoseconds(0))
        }
    }

    #if os(Linux)
        private let coarseClock = CoarseClock()
    #else
        private let origin = ContinuousClock.now
    #endif
    private let state: Locked<State>

    /// Creates a time source of its own.
    public init() {
        let queue = DispatchQueue(label: "switchyard.timers", qos: .userInitiated)
        let source = DispatchSource.makeTimerSource(flags: .strict, queue: queue)
        state = Locked(State(source: source))
        state.withLock { state in
            state.source.setEventHandler { [weak self] in self?.fire() }
            state.source.activate()
        }
    }

    deinit {
        state.withLock { $0.source.cancel() }
    }

    /// The time since this time source was made; on Linux, where reading it is worth saving, since the machine started.
    public var now: MonotonicTime {
        #if os(Linux)
            // What `ContinuousClock` reads, without its arithmetic of 128 bits.
            return MonotonicTime(nanoseconds: CoarseClock.read(CLOCK_BOOTTIME))
        #else
            return MonotonicTime(nanoseconds: (ContinuousClock.now - origin).clampedNanoseconds)
        #endif
    }

    #if os(Linux)
        /// The time of the kernel's last tick (4 ms ago at most on most machines, 10 ms on some), at half the cost of ``now``.
        ///
        /// A sleep of the machine of less than 100 ms may be missing from it until the next longer one.
        public var coarseNow: MonotonicTime { coarseClock.now }
    #endif

    /// Calls `action` once when the time has come, on the queue of this time source.
    public func schedule(
        at deadline: MonotonicTime,
        _ action: @escaping @Sendable () -> Void
    ) -> any ScheduledTimer {
        let timer = Timer(owner: self, deadline: deadline, action: action)
        let roughly = coarseNow
        state.withLock { state in
            state.heap.insert(timer)
            if !state.alarm.rings(by: deadline, at: roughly) { state.arm(at: now) }
        }
        return timer
    }

    private func fire() {
        while let action = state.withLock({ $0.heap.popDue(at: now) }) {
            action()
        }
        state.withLock { state in
            state.alarm = SystemAlarm()
            state.arm(at: now)
        }
    }

    /// A timer that is set.
    private final class Timer: TimerHeap.Entry, ScheduledTimer, @unchecked Sendable {
        // @unchecked is sound: `owner` is a constant, and what the heap keeps in it is touched only under `owner.state`.
        private let owner: SystemTime

        init(owner: SystemTime, deadline: MonotonicTime, action: @escaping @Sendable () -> Void) {
            self.owner = owner
            super.init(deadline: deadline, action: action)
        }

        func cancel() {
            _ = owner.state.withLock { $0.heap.remove(self) }
        }
    }
}

extension MonotonicTime {
    static let distantFuture = MonotonicTime(nanoseconds: .max)
}
