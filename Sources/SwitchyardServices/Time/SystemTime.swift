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
///
/// After a pause of the process, timers wait 100 ms longer: what has arrived meanwhile is read first.
public final class SystemTime: TimeSource {
    /// The time source that clients use unless given another; it holds nothing but its timers.
    public static let shared = SystemTime()

    #if os(Linux)
        private let coarseClock = CoarseClock()
    #else
        private static let origin = ContinuousClock.now
    #endif
    let timers = SystemTimers()

    /// Creates a time source of its own.
    public init() {
        timers.begin()
    }

    deinit {
        timers.abandon()
    }

    /// The time since it was first asked for in this process; on Linux, where reading it is worth saving, since the
    /// machine started.
    public var now: MonotonicTime { Self.now }

    /// When this process last went on after the system had stopped it: by a signal, as a suspended app, or with the whole
    /// machine.
    public var resumedAt: MonotonicTime? { ProcessPause.lastEnd }

    static var now: MonotonicTime {
        #if os(Linux)
            // What `ContinuousClock` reads, without its arithmetic of 128 bits.
            return MonotonicTime(nanoseconds: CoarseClock.read(CLOCK_BOOTTIME))
        #else
            let start = origin  // First, so that no time lies before it.
            return MonotonicTime(nanoseconds: (ContinuousClock.now - start).clampedNanoseconds)
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
        let timer = Timer(owner: timers, deadline: deadline, action: action)
        timers.insert(timer, at: coarseNow)
        return timer
    }

    /// A timer that is set; it fires also when the time source is gone.
    private final class Timer: TimerHeap.Entry, ScheduledTimer, @unchecked Sendable {
        // @unchecked is sound: `owner` is a constant, and what the heap keeps in it is touched only under its lock.
        private let owner: SystemTimers

        init(owner: SystemTimers, deadline: MonotonicTime, action: @escaping @Sendable () -> Void) {
            self.owner = owner
            super.init(deadline: deadline, action: action)
        }

        func cancel() {
            owner.remove(self)
        }
    }
}

extension MonotonicTime {
    package static let distantFuture = MonotonicTime(nanoseconds: .max)
}
