import SwitchyardServices
import Testing

@testable import SwitchyardClient
@testable import SwitchyardRequests

@Suite struct RateMeterTests {
    private func seconds(_ seconds: Double) -> MonotonicTime { MonotonicTime(seconds: seconds) }

    @Test func `an interval limit admits one request and reports when the next request is due`() {
        var meter = RateMeter(.interval(.seconds(5)))

        #expect(meter.take(at: seconds(1)) == true)
        #expect(meter.take(at: seconds(5.9)) == false)
        #expect(meter.next(at: seconds(2)) == seconds(6))
        #expect(meter.next(at: seconds(2), behind: 2) == seconds(16))
        #expect(meter.take(at: seconds(6)) == true)
    }

    @Test func `a token bucket admits its burst immediately and later requests at an even rate`() {
        var meter = RateMeter(.bucket(perSecond: 2, burst: 3))

        #expect((0..<4).map { _ in meter.take(at: seconds(10)) } == [true, true, true, false])
        #expect(meter.next(at: seconds(10)) == seconds(10.5))
        #expect(meter.take(at: seconds(10.5)) == true)
        #expect(meter.take(at: seconds(10.9)) == false)
        #expect((0..<4).map { _ in meter.take(at: seconds(60)) } == [true, true, true, false])
    }

    @Test func `a sliding window limit never admits more requests than its count`() {
        var meter = RateMeter(.window(count: 3, per: .seconds(10)))

        #expect([0.0, 1, 9].map { meter.take(at: seconds($0)) } == [true, true, true])
        #expect(meter.next(at: seconds(9.5)) == seconds(10))
        #expect(meter.take(at: seconds(9.9)) == false)
        #expect(meter.take(at: seconds(10)) == true)
        #expect(meter.take(at: seconds(10.5)) == false)
        #expect(meter.take(at: seconds(11)) == true)
        #expect(meter.next(at: seconds(11), behind: 1) == seconds(20))
        #expect(meter.next(at: seconds(11), behind: 3) == seconds(29))
    }

    @Test(arguments: [
        RateRule.interval(.seconds(-1)), .bucket(perSecond: 0, burst: 0), .bucket(perSecond: -.infinity, burst: -5),
        .bucket(perSecond: .nan, burst: 1), .window(count: 0, per: .seconds(-1)), .window(count: -3, per: .zero),
    ])
    func `a rate limit with an invalid rule admits requests and returns valid times`(rule: RateRule) {
        var meter = RateMeter(rule)

        #expect(meter.take(at: seconds(1)) == true)
        #expect(meter.next(at: seconds(2), behind: 1_000) >= seconds(2))
    }

    @Test func `no rate limit rule admits more requests than its limit when requests arrive at random times`() {
        var random = SystemRandomNumberGenerator()
        for rule in [RateRule.bucket(perSecond: 5, burst: 4), .window(count: 4, per: .seconds(1))] {
            var meter = RateMeter(rule)
            var taken: [Double] = []
            var now = 0.0
            for _ in 0..<5_000 {
                now += Double.random(in: 0...0.3, using: &random)
                if meter.take(at: seconds(now)) { taken.append(now) }
            }
            let limit = if case .bucket = rule { 9 } else { 4 }
            for (index, start) in taken.enumerated() {
                let span = taken[index...].prefix { $0 < start + 0.999_999 }
                #expect(span.count <= limit, "\(rule) at \(start)")
            }
        }
    }

    @Test func `a rate meter of a time window may be discarded when its newest request has left the window`() {
        var meter = RateMeter(.window(count: 2, per: .seconds(10)))
        _ = meter.take(at: seconds(0))
        _ = meter.take(at: seconds(8))

        #expect(!meter.isFresh(at: seconds(12)))
        #expect(meter.isFresh(at: seconds(18)))
    }
}

@Suite struct RateLanesTests {
    private let distant = MonotonicTime(nanoseconds: .max)

    private func seconds(_ seconds: Double) -> MonotonicTime { MonotonicTime(seconds: seconds) }

    @Test func `requests with different limit keys do not throttle each other`() {
        var lanes = RateLanes(.interval(.seconds(5)), .refuse, maximumWaiting: 10)

        #expect(lanes.arrive("GET /a", at: .zero, deadline: distant) == .go)
        #expect(lanes.arrive("GET /b", at: .zero, deadline: distant) == .go)
        #expect(lanes.arrive("GET /a", at: seconds(1), deadline: distant) == .refuse(wait: .seconds(4)))
    }

    @Test func `expired limit keys are removed while other keys are used`() {
        var lanes = RateLanes(.interval(.seconds(5)), .refuse, maximumWaiting: 10)
        for number in 0..<10_000 {
            _ = lanes.arrive("\(number)", at: seconds(Double(number)), deadline: distant)
        }

        #expect(lanes.count < 200)
    }

    @Test func `a rate limit admits waiting requests in order, and a request that leaves the queue frees its place`() {
        var lanes = RateLanes(.interval(.seconds(5)), .wait, maximumWaiting: 10)
        #expect(lanes.arrive("a", at: .zero, deadline: distant) == .go)
        #expect(lanes.arrive("a", at: .zero, deadline: distant) == .wait(1))
        #expect(lanes.arrive("a", at: .zero, deadline: distant) == .wait(2))

        lanes.leave("a", 1)

        #expect(lanes.turn("a", at: seconds(4)) == RateLanes.Turn(next: seconds(5)))
        #expect(lanes.turn("a", at: seconds(5)) == RateLanes.Turn(admitted: [2]))
    }

    @Test func `a request that leaves the queue of a rate limit frees its place immediately`() {
        var lanes = RateLanes(.interval(.seconds(3_600)), .wait, maximumWaiting: 10)
        _ = lanes.arrive("a", at: .zero, deadline: distant)
        #expect(lanes.arrive("a", at: .zero, deadline: distant) == .wait(1))

        for number in 2...10_000 as ClosedRange<RateLanes.Number> {
            #expect(lanes.arrive("a", at: .zero, deadline: distant) == .wait(number))
            lanes.leave("a", number)
        }

        #expect(lanes.places < 40)
        #expect(lanes.turn("a", at: seconds(3_600)) == RateLanes.Turn(admitted: [1]))
    }

    @Test func `after requests have left the queue of a rate limit, the first remaining request is admitted next`() {
        var lanes = RateLanes(.interval(.seconds(1)), .wait, maximumWaiting: 100)
        for _ in 0..<100 { _ = lanes.arrive("a", at: .zero, deadline: distant) }
        for second in 1...3 as ClosedRange<RateLanes.Number> {
            #expect(lanes.turn("a", at: seconds(Double(second))).admitted == [second])
        }

        for number in 4...66 as ClosedRange<RateLanes.Number> { lanes.leave("a", number) }

        #expect(lanes.turn("a", at: seconds(4)).admitted == [67])
    }

    @Test func `a rate limit rejects a request whose wait would exceed the maximum or its deadline`() {
        var lanes = RateLanes(.interval(.seconds(5)), .wait(atMost: .seconds(7)), maximumWaiting: 10)
        _ = lanes.arrive("a", at: .zero, deadline: distant)

        #expect(lanes.arrive("a", at: .zero, deadline: seconds(3)) == .refuse(wait: .seconds(5)))
        #expect(lanes.arrive("a", at: .zero, deadline: distant) == .wait(1))
        #expect(lanes.arrive("a", at: .zero, deadline: distant) == .refuse(wait: .seconds(10)))
    }

    @Test func `the cost of adding a request to a rate limit does not depend on the number of waiting requests`() {
        var lanes = RateLanes(.interval(.milliseconds(1)), .wait, maximumWaiting: 100_000)
        var admitted: [RateLanes.Number] = []

        let duration = ContinuousClock().measure {
            for _ in 0...100_000 { _ = lanes.arrive("a", at: .zero, deadline: distant) }
            #expect(lanes.waiting == 100_000)
            for step in 1...100_000 as ClosedRange<Int64> {
                admitted += lanes.turn("a", at: MonotonicTime(nanoseconds: step * 1_000_000)).admitted
            }
        }

        let isInOrder = admitted == Array(1...100_000)
        #expect(isInOrder)
        #expect(lanes.waiting == 0)
        #expect(duration < .seconds(20))
    }

    @Test func `a rate limit rejects a request if the maximum number of requests already waits`() {
        var lanes = RateLanes(.interval(.seconds(5)), .wait, maximumWaiting: 1)
        _ = lanes.arrive("a", at: .zero, deadline: distant)

        #expect(lanes.arrive("a", at: .zero, deadline: distant) == .wait(1))
        #expect(lanes.arrive("a", at: .zero, deadline: distant) == .refuse(wait: nil))
    }
}
