import SwitchyardFixtures
import SwitchyardServices
import Testing

@testable import SwitchyardClient

@Suite(.timeLimit(.minutes(5)), .prompt) struct SystemTimeTests {
    @Test func `timers fire in order and not before their deadline`() async {
        let time = SystemTime()
        let start = time.now
        let (fired, continuation) = AsyncStream.makeStream(of: (Int, MonotonicTime).self)
        for (number, milliseconds) in [(3, 30), (1, 10), (2, 20)] {
            _ = time.schedule(at: start.advanced(by: .milliseconds(milliseconds))) {
                continuation.yield((number, time.now))
                if number == 3 { continuation.finish() }
            }
        }

        var order: [Int] = []
        for await (number, when) in fired {
            order.append(number)
            #expect(start.duration(to: when) >= .milliseconds(10 * number))
        }

        #expect(order == [1, 2, 3])
    }

    @Test func `a cancelled timer does not fire`() async {
        let time = SystemTime()
        let (fired, continuation) = AsyncStream.makeStream(of: Bool.self)
        let timer = time.schedule(at: time.now.advanced(by: .milliseconds(300))) { continuation.yield(false) }
        _ = time.schedule(at: time.now.advanced(by: .milliseconds(310))) {
            continuation.yield(true)
            continuation.finish()
        }

        timer.cancel()
        timer.cancel()

        #expect(await fired.first { _ in true } == true)
    }

    @Test func `a timer whose deadline has passed fires immediately`() async {
        let time = SystemTime()

        await withCheckedContinuation { continuation in
            _ = time.schedule(at: MonotonicTime(nanoseconds: -1)) { continuation.resume() }
        }
    }

    @Test func `a timer fires even if its time source was released`() async {
        await withCheckedContinuation { continuation in
            let time = SystemTime()
            _ = time.schedule(at: time.now.advanced(by: .milliseconds(5))) { continuation.resume() }
        }
    }

    @Test func `a time source is released even if a timer is set`() {
        weak var released: SystemTime?
        func set() -> any ScheduledTimer {
            let time = SystemTime()
            released = time
            return time.schedule(at: time.now.advanced(by: .seconds(3600))) {}
        }

        let timer = set()

        #expect(released == nil)
        timer.cancel()
    }
}
