import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardAPI

@Suite struct ResponseCacheTests {
    static let topics = CachePartition(service: "topics", environment: "release")

    static func key(_ path: String, _ partition: CachePartition = topics) -> CacheKey {
        CacheKey(partition, path: path)
    }

    @Test func `a cached value is available during its lifetime, and the first lookup after that removes it`() {
        let time = ManualClock()
        let cache = ResponseCache(time: time)
        cache.store("a", for: Self.key("/a"), lifetime: .seconds(60), cost: 10)

        time.advance(by: .seconds(59.999))
        #expect(cache.value(for: Self.key("/a"), as: String.self) == "a")
        time.advance(by: .seconds(0.001))
        #expect(cache.value(for: Self.key("/a"), as: String.self) == nil)
        #expect(cache.count == 0)
        #expect(cache.cost == 0)
    }

    @Test func `a cache lookup uses the coarse time, so a value may stay fresh a little longer`() {
        let clock = ManualClock()
        let cache = ResponseCache(time: LaggingTime(clock: clock, lag: .milliseconds(4)))
        cache.store("a", for: Self.key("/a"), lifetime: .seconds(60), cost: 10)

        clock.advance(by: .seconds(60))
        #expect(cache.value(for: Self.key("/a"), as: String.self) == "a")
        clock.advance(by: .milliseconds(4))
        #expect(cache.value(for: Self.key("/a"), as: String.self) == nil)
    }

    @Test func `a response of an earlier request does not replace a response of a later request`() {
        let cache = ResponseCache(time: ManualClock())
        func store(_ value: String, turn: Int, part: ResponsePart = .whole) -> Bool {
            var facts = CacheFacts(cost: 1)
            facts.turn = turn
            facts.stamp.part = part
            return cache.store(value, for: Self.key("/a"), lifetime: .seconds(60), staleFor: .zero, facts)
        }

        #expect(store("later", turn: 7) && !store("earlier", turn: 5))
        #expect(cache.value(for: Self.key("/a"), as: String.self) == "later" && cache.count == 1)
        #expect(store("another part", turn: 5, part: ResponsePart(.keyPath("user"))))
        #expect(cache.value(for: Self.key("/a"), as: String.self) == "another part")
    }

    @Test(arguments: [Duration.seconds(0), .seconds(-1), .seconds(-1e12)])
    func `a value with a cache lifetime of zero or less is not stored`(lifetime: Duration) {
        let cache = ResponseCache(time: ManualClock())
        cache.store(1, for: Self.key("/a"), lifetime: lifetime, cost: 1)

        #expect(cache.count == 0)
    }

    @Test func `a stored value with a lifetime of half a second expires after half a second`() {
        let time = ManualClock()
        let cache = ResponseCache(time: time)
        cache.store(1, for: Self.key("/a"), lifetime: .milliseconds(500), cost: 1)

        time.advance(by: .milliseconds(499))
        #expect(cache.value(for: Self.key("/a"), as: Int.self) == 1)
        time.advance(by: .milliseconds(2))
        #expect(cache.value(for: Self.key("/a"), as: Int.self) == nil)
    }

    @Test func `the cost limit evicts entries that were not used since they were stored`() {
        let cache = ResponseCache(limits: .init(cost: 30, count: 100), locks: 1, time: ManualClock())
        for name in ["a", "b", "c"] { cache.store(name, for: Self.key(name), lifetime: .seconds(9), cost: 10) }
        _ = cache.value(for: Self.key("a"), as: String.self)

        cache.store("d", for: Self.key("d"), lifetime: .seconds(9), cost: 15)

        #expect(cache.cost == 25)
        let left = ["a", "b", "c", "d"].filter { cache.value(for: Self.key($0), as: String.self) != nil }
        #expect(left == ["a", "d"])
    }

    @Test func `a value above the cost limit is not stored and evicts no entry`() {
        let cache = ResponseCache(limits: .init(cost: 30, count: 100), time: ManualClock())
        cache.store("a", for: Self.key("a"), lifetime: .seconds(9), cost: 10)
        cache.store("big", for: Self.key("big"), lifetime: .seconds(9), cost: 31)

        #expect(cache.value(for: Self.key("a"), as: String.self) == "a")
        #expect(cache.count == 1)
    }

    @Test func `a stored value is returned only to a call for the value's type`() {
        let cache = ResponseCache(time: ManualClock())
        cache.store([1, 2], for: Self.key("a"), lifetime: .seconds(9), cost: 1)

        #expect(cache.value(for: Self.key("a"), as: String.self) == nil)
        #expect(cache.value(for: Self.key("a"), as: [Int].self) == [1, 2])
    }

    @Test func `a stored response keeps status, headers and age, and reports that it is stale`() {
        let time = ManualClock()
        let cache = ResponseCache(time: time)
        let answer = HTTPResponse(status: 203, headers: ["ETag": "\"x\""])
        cache.store(
            1,
            for: Self.key("a"),
            lifetime: .seconds(10),
            staleFor: .seconds(5),
            cost: 1,
            answer: answer
        )

        time.advance(by: .seconds(12))
        let entry = cache.entry(for: Self.key("a"), as: Int.self)
        #expect(entry?.answer?.status == 203 && entry?.answer?.headers == answer.headers)
        #expect(entry?.age == .seconds(12))
        #expect(entry?.isFresh == false)
        #expect(cache.value(for: Self.key("a"), as: Int.self) == nil)
        time.advance(by: .seconds(3))
        #expect(cache.entry(for: Self.key("a"), as: Int.self) == nil)
    }

    @Test func `stored responses can be removed by key, tag, path, partition or rule`() {
        let cache = ResponseCache(time: ManualClock())
        let other = CachePartition(service: "users", environment: "release", user: "7")
        func fill() {
            cache.store(1, for: Self.key("/topics/1"), lifetime: .seconds(9), cost: 5, tags: ["topic"])
            cache.store(2, for: Self.key("/topics/2"), lifetime: .seconds(9), cost: 50)
            cache.store(3, for: Self.key("/me", other), lifetime: .seconds(9), cost: 5, tags: ["me"])
        }
        func left(after remove: () -> Void) -> Int {
            fill()
            remove()
            return cache.count
        }

        #expect(left { cache.remove(Self.key("/topics/1")) } == 2)
        #expect(left { cache.removeAll(tagged: "topic") } == 2)
        #expect(left { cache.removeAll(pathPrefix: "/topics/", service: "topics") } == 1)
        #expect(left { cache.removeAll(in: .init(service: "users", environment: "release")) } == 2)
        #expect(left { cache.removeAll(in: .init(service: "users", environment: "release", user: "8")) } == 3)
        #expect(left { cache.removeAll(service: "users", environment: "release") } == 2)
        #expect(left { cache.removeAll(service: "users", environment: "release", user: "8") } == 3)
        #expect(left { cache.removeAll { $0.cost > 10 } } == 2)
        #expect(left { cache.removeAll { $0.service == "users" && $0.user == "7" } } == 2)
        #expect(left { cache.removeAll { $0.environment == "release" && $0.user == nil } } == 1)
        #expect(left { cache.removeAll() } == 0)
        #expect(cache.cost == 0)
    }

    @Test func `cache entries expire by a monotonic clock, so a change of the wall clock does not expire them`() {
        let time = ManualClock()
        let cache = ResponseCache(time: time)
        cache.store(1, for: Self.key("a"), lifetime: .seconds(10), cost: 1)
        cache.store(2, for: Self.key("b"), lifetime: .seconds(20), cost: 1)
        time.advance(by: .seconds(10))

        cache.removeExpired()

        #expect(cache.count == 1)
    }

    @Test func `changing a value that the cache returned does not change the stored value`() {
        let cache = ResponseCache(time: ManualClock())
        cache.store([1], for: Self.key("a"), lifetime: .seconds(9), cost: 1)
        var mine = cache.value(for: Self.key("a"), as: [Int].self)
        mine?.append(2)

        #expect(cache.value(for: Self.key("a"), as: [Int].self) == [1])
    }

    @Test(.timeLimit(.minutes(20)))
    func `the limits and totals of the cache stay correct if several threads use it`() async {
        let cache = ResponseCache(limits: .init(cost: 1_000, count: 64), time: ManualClock())
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<4 {
                group.addTask {
                    for round in 0..<2_000 {
                        let key = Self.key("\((round &* 31 &+ worker) % 200)")
                        switch round % 4 {
                        case 0, 1: cache.store(round, for: key, lifetime: .seconds(9), cost: round % 40)
                        case 2: _ = cache.value(for: key, as: Int.self)
                        default: cache.remove(key)
                        }
                    }
                }
            }
        }

        #expect(cache.count <= 64)
        #expect(cache.cost <= 1_000)
        cache.removeAll()
        #expect(cache.count == 0)
        #expect(cache.cost == 0)
    }
}

/// A time source whose coarse time lags.
private struct LaggingTime: TimeSource {
    let clock: ManualClock
    let lag: Duration

    var now: MonotonicTime { clock.now }
    var coarseNow: MonotonicTime { clock.now.advanced(by: .zero - lag) }

    func schedule(at deadline: MonotonicTime, _ action: @escaping @Sendable () -> Void) -> any ScheduledTimer {
        clock.schedule(at: deadline, action)
    }
}
