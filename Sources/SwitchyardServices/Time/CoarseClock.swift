#if os(Linux)
    import Synchronization

    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    /// A clock that returns the time since boot as of the kernel's last tick, at half the cost of the exact time.
    ///
    /// Linux has coarse variants of its monotonic clock and of its wall clock (clock_gettime(2)), but no coarse variant
    /// of the clock that continues while the machine sleeps. The total sleep time is therefore stored. This time is
    /// read again if the wall clock has moved relative to the monotonic clock, that is, after a sleep or after the wall
    /// clock was set. The clock is thread-safe.
    struct CoarseClock: ~Copyable {
        /// The maximum movement of the wall clock relative to the monotonic clock that is ignored: 100 ms, in
        /// nanoseconds.
        ///
        /// Shorter sleeps, smaller changes of the wall clock and a tick between the two readings therefore have no
        /// effect.
        static let tolerance: Int64 = 100_000_000

        /// The offset of `CLOCK_BOOTTIME` from `CLOCK_MONOTONIC` at the last reading, which is the total sleep time.
        private let slept = Atomic<Int64>(0)
        /// The offset of the wall clock from the monotonic clock at the last reading of `slept`.
        ///
        /// It is written after `slept` and read before it. A thread that reads the new offset therefore reads the new
        /// sleep time, and a thread that reads an old offset reads the sleep time from the system again.
        private let lead = Atomic<Int64>(.min)

        /// The current time, never later than the exact time.
        ///
        /// It is at most one tick earlier (4 ms on most machines, 10 ms on some), apart from a sleep shorter than
        /// ``tolerance``.
        var now: MonotonicTime {
            let monotonic = Self.read(CLOCK_MONOTONIC_COARSE)
            return time(monotonic: monotonic, wall: Self.read(CLOCK_REALTIME_COARSE), askSleep: Self.readSleep)
        }

        /// Returns the time for the given readings of both clocks, in nanoseconds.
        ///
        /// - Parameters:
        ///   - monotonic: The reading of the monotonic clock.
        ///   - wall: The reading of the wall clock.
        ///   - askSleep: A closure that reads the total sleep time from the system.
        /// - Returns: The monotonic time plus the total sleep time.
        @inline(__always)
        func time(monotonic: Int64, wall: Int64, askSleep: () -> Int64) -> MonotonicTime {
            let ahead = wall &- monotonic
            let change = ahead &- lead.load(ordering: .acquiring)
            if change.magnitude > UInt64(Self.tolerance) {
                slept.store(askSleep(), ordering: .relaxed)
                lead.store(ahead, ordering: .releasing)
            }
            return MonotonicTime(nanoseconds: monotonic + slept.load(ordering: .relaxed))
        }

        /// Returns the total sleep time, which is the difference of `CLOCK_BOOTTIME` and `CLOCK_MONOTONIC`.
        ///
        /// The clocks are read again until both readings fall within 1 ms.
        private static func readSleep() -> Int64 {
            while true {
                let before = read(CLOCK_MONOTONIC)
                let boot = read(CLOCK_BOOTTIME)
                let after = read(CLOCK_MONOTONIC)
                if after - before < 1_000_000 { return boot - after }
            }
        }

        /// Returns the time of a system clock, in nanoseconds.
        @inline(__always)
        static func read(_ clock: clockid_t) -> Int64 {
            var time = timespec()
            clock_gettime(clock, &time)
            return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
        }
    }
#endif
