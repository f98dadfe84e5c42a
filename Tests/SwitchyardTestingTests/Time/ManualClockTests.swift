import Dispatch
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardServices
import SwitchyardTesting
import Testing

@Suite(.timeLimit(.minutes(5)), .prompt) struct ManualClockTests {
    private let clock = ManualClock(now: MonotonicTime(seconds: 10))

    /// Sets a timer that logs its name and the time.
    private func schedule(_ name: String, after seconds: Double, into log: Locked<[String]>) -> any ScheduledTimer {
        clock.schedule(at: clock.now.advanced(by: .seconds(seconds))) { [clock] in
            let entry = "\(name)@\(Int(clock.now.seconds))"
            log.withLock { $0.append(entry) }
        }
    }

    @Test func `the time of a manual clock does not change until the clock is advanced`() {
        #expect(clock.now == MonotonicTime(seconds: 10))
        clock.advance(by: .seconds(2))
        #expect(clock.now == MonotonicTime(seconds: 12))
    }

    @Test func `the time of a manual clock does not go backwards`() {
        clock.advance(by: .seconds(-5))
        clock.advance(to: .zero)

        #expect(clock.now == MonotonicTime(seconds: 10))
    }

    @Test func `due timers of a manual clock fire in order, and each timer sees its own time`() {
        let log = Locked<[String]>([])
        for (name, seconds) in [("c", 3.0), ("a", 1), ("b", 1), ("d", 9)] {
            _ = schedule(name, after: seconds, into: log)
        }

        clock.advance(by: .seconds(5))

        #expect(log.withLock { $0 } == ["a@11", "b@11", "c@13"])
        #expect(clock.now == MonotonicTime(seconds: 15))
        #expect(clock.pendingTimers == 1)
        #expect(clock.nextDeadline == MonotonicTime(seconds: 19))
    }

    @Test func `a cancelled timer does not fire`() {
        let log = Locked<[String]>([])
        let timer = schedule("a", after: 1, into: log)

        timer.cancel()
        timer.cancel()
        clock.advance(by: .seconds(5))

        #expect(log.withLock { $0 } == [])
        #expect(clock.pendingTimers == 0)
    }

    @Test func `a timer of a manual clock may set and cancel other timers`() {
        let log = Locked<[String]>([])
        let doomed = schedule("doomed", after: 2, into: log)
        _ = clock.schedule(at: MonotonicTime(seconds: 11)) {
            doomed.cancel()
            _ = schedule("next", after: 2, into: log)
            _ = schedule("late", after: 60, into: log)
        }

        clock.advance(by: .seconds(5))

        #expect(log.withLock { $0 } == ["next@13"])
        #expect(clock.pendingTimers == 1)
    }

    @Test func `a timer of a manual clock whose deadline is in the past fires immediately`() async {
        await withCheckedContinuation { continuation in
            _ = clock.schedule(at: MonotonicTime(seconds: 9)) { continuation.resume() }
        }

        #expect(clock.pendingTimers == 0)
    }

    @Test func `a test can wait until a number of timers is set`() async {
        async let areSet = clock.waitForTimers(2)
        let log = Locked<[String]>([])

        _ = schedule("a", after: 1, into: log)
        _ = schedule("b", after: 1, into: log)

        #expect(await areSet)
    }

    @Test func `a test can wait for one timer among others`() async {
        let log = Locked<[String]>([])
        _ = schedule("other", after: 1, into: log)
        async let isSet = clock.waitForTimers(1, in: .seconds(3))

        _ = schedule("awaited", after: 3, into: log)

        #expect(await isSet)
    }

    @Test func `the wait for timers ends when the waiting task is cancelled`() async {
        let waiting = Task { await clock.waitForTimers(1) }

        waiting.cancel()

        #expect(await waiting.value == false)
    }

    @Test func `concurrent advances of a manual clock add up`() {
        DispatchQueue.concurrentPerform(iterations: 2) { _ in
            for _ in 0..<100_000 { clock.advance(by: .milliseconds(1)) }
        }

        #expect(clock.now == MonotonicTime(seconds: 210))
    }

    @Test func `no other thread can advance the clock while the action of a timer runs`() {
        let wrong = Locked(0)
        for number in 1...4_000 {
            let deadline = clock.now.advanced(by: .milliseconds(number))
            _ = clock.schedule(at: deadline) { [clock] in
                if clock.now != deadline { wrong.withLock { $0 += 1 } }
            }
        }

        DispatchQueue.concurrentPerform(iterations: 2) { _ in
            for _ in 0..<2_000 { clock.advance(by: .milliseconds(1)) }
        }

        #expect(wrong.withLock { $0 } == 0)
    }

    @Test func `the action of a manual clock's timer may advance the clock`() {
        let log = Locked<[String]>([])
        _ = clock.schedule(at: MonotonicTime(seconds: 11)) { [clock] in clock.advance(by: .seconds(2)) }
        _ = schedule("a", after: 2, into: log)

        clock.advance(by: .seconds(1))

        #expect(log.withLock { $0 } == ["a@12"])
        #expect(clock.now == MonotonicTime(seconds: 13))
    }
}
