#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The system's time source: a monotonic clock that continues while the machine sleeps, and timers on one serial queue.
///
/// The system timer is set again only for a deadline that is earlier than its current deadline. A timer that is
/// cancelled in time, as nearly all are, therefore only takes a lock twice for a short time and wakes no thread. After
/// a sleep of the machine, all overdue timers fire as soon as the next timer is set.
///
/// After a pause of the process, timers are postponed until data that has arrived is read: by at least 100 ms and at
/// most 2 s.
public final class SystemTime: TimeSource {
    /// The default time source of clients; its only state is its timers.
    public static let shared = SystemTime()

    #if os(Linux)
        private let coarseClock = CoarseClock()
    #else
        private static let origin = ContinuousClock.now
    #endif
    let timers = SystemTimers()

    /// Creates a separate time source.
    package init() {
        timers.begin()
    }

    deinit {
        timers.abandon()
    }

    /// The time since the clock was first read in this process; on Linux, where this is cheaper, the time since boot.
    public var now: MonotonicTime { Self.now }

    /// The time at which the process last resumed after the system had paused it: by a signal, by a suspension of the
    /// app, or by a sleep of the machine.
    public var resumedAt: MonotonicTime? { ProcessPause.lastEnd }

    static var now: MonotonicTime {
        #if os(Linux)
            // The clock that `ContinuousClock` reads, without its 128-bit arithmetic.
            return MonotonicTime(nanoseconds: CoarseClock.read(CLOCK_BOOTTIME))
        #else
            let start = origin  // Read first, so that no time is before the origin.
            return MonotonicTime(nanoseconds: (ContinuousClock.now - start).clampedNanoseconds)
        #endif
    }

    #if os(Linux)
        /// The time of the kernel's last tick, at half the cost of ``now``.
        ///
        /// It is at most 4 ms old on most machines, and 10 ms on some. A sleep of the machine of less than 100 ms may
        /// not be included until the next longer sleep.
        public var coarseNow: MonotonicTime { coarseClock.now }
    #endif

    /// Calls `action` once at the deadline, on the queue of this time source.
    public func schedule(
        at deadline: MonotonicTime,
        _ action: @escaping @Sendable () -> Void
    ) -> any ScheduledTimer {
        let timer = Timer(owner: timers, deadline: deadline, action: action)
        timers.insert(timer, at: coarseNow)
        return timer
    }

    /// A scheduled timer.
    ///
    /// It fires even after its time source has been released.
    private final class Timer: TimerHeap.Entry, ScheduledTimer, @unchecked Sendable {
        // `@unchecked Sendable` is sound: `owner` is a constant, and the state of the superclass is accessed only under
        // the lock of the heap.
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
