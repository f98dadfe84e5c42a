#if os(Linux)
    import Synchronization

    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    /// The time since the machine started as the kernel noted it at its last tick, for half of what the exact time costs.
    ///
    /// Linux has coarse forms of its monotonic and of its wall clock (clock_gettime(2)), but none of the one that runs on
    /// while the machine sleeps. How long it has slept is therefore kept, and asked for anew when the wall clock has moved
    /// against the monotonic one: after a sleep, or when somebody has set it. Any thread may read it.
    struct CoarseClock: ~Copyable {
        /// Sleeps and settings of the clock below it, and the tick that may fall between two readings, are let pass: 100 ms.
        static let tolerance: Int64 = 100_000_000

        /// What the clock that runs on was ahead of the monotonic one when it was asked.
        private let slept = Atomic<Int64>(0)
        /// What the wall clock was ahead of it then.
        ///
        /// Written after `slept` and read before it: who finds the new lead finds the new sleep, and who finds an old one
        /// asks again.
        private let lead = Atomic<Int64>(.min)

        /// The time: never later than the exact one, and a tick earlier at most (4 ms on most machines, 10 ms on some), the
        /// tolerance aside.
        var now: MonotonicTime {
            let monotonic = Self.read(CLOCK_MONOTONIC_COARSE)
            return time(monotonic: monotonic, wall: Self.read(CLOCK_REALTIME_COARSE), askSleep: Self.readSleep)
        }

        /// The time by the readings of both clocks, in nanoseconds.
        ///
        /// - Parameters:
        ///   - monotonic: The monotonic clock.
        ///   - wall: The wall clock.
        ///   - askSleep: Asks how long the machine has slept.
        /// - Returns: The monotonic time and that of all sleeps.
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

        /// How long the machine has slept: what one clock is ahead of the other, when nothing came between their readings.
        private static func readSleep() -> Int64 {
            while true {
                let before = read(CLOCK_MONOTONIC)
                let boot = read(CLOCK_BOOTTIME)
                let after = read(CLOCK_MONOTONIC)
                if after - before < 1_000_000 { return boot - after }
            }
        }

        /// A clock of the system, in nanoseconds.
        @inline(__always)
        static func read(_ clock: clockid_t) -> Int64 {
            var time = timespec()
            clock_gettime(clock, &time)
            return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
        }
    }
#endif
