import SwitchyardTesting
import Testing

@testable import SwitchyardClient
@testable import SwitchyardServices

@Suite struct CoarseTimeTests {
    @Test func `the coarse time is never later than the exact time, and at most a few ticks earlier`() {
        let time = SystemTime()
        let lags = (0..<10_000).map { _ in
            let before = time.now
            let coarse = time.coarseNow
            return (early: before.duration(to: coarse), late: coarse.duration(to: time.now))
        }

        #expect(lags.allSatisfy { $0.late >= .zero })
        // At least one of these samples was not interrupted.
        #expect(lags.contains { $0.early >= .milliseconds(-100) })
    }

    @Test func `a time source without a coarse time returns the exact time`() {
        let clock = ManualClock()
        clock.advance(by: .seconds(7))

        #expect(clock.coarseNow == clock.now)
    }

    #if os(Linux)
        @Test func `after the wall clock jumps, the coarse time includes the time that the machine was asleep`() {
            let clock = CoarseClock()
            let hour: Int64 = 3_600_000_000_000
            let awake = clock.time(monotonic: 5, wall: 1_000) { 0 }
            let woken = clock.time(monotonic: 6, wall: 1_001 + hour) { hour }

            #expect(awake == MonotonicTime(nanoseconds: 5))
            #expect(woken == MonotonicTime(nanoseconds: 6 + hour))
        }

        @Test func `the machine's sleep time is cached until the wall clock jumps by more than a tick`() {
            let clock = CoarseClock()
            var questions = 0
            for step in 0..<10 as Range<Int64> {
                let tick = step.isMultiple(of: 2) ? 0 : 10_000_000 as Int64
                _ = clock.time(monotonic: step, wall: step + tick) {
                    questions += 1
                    return 0
                }
            }

            #expect(questions == 1)
        }

        @Test(arguments: [Int64.min, -3_600_000_000_000, 3_600_000_000_000, .max])
        func `setting the wall clock by hand does not change the monotonic time`(wall: Int64) {
            let clock = CoarseClock()
            _ = clock.time(monotonic: 1, wall: 1_000) { 40 }

            #expect(clock.time(monotonic: 2, wall: wall) { 40 } == MonotonicTime(nanoseconds: 42))
        }
    #endif
}
