import SwitchyardClient
import SwitchyardFixtures
import SwitchyardTesting
import Testing

@testable import SwitchyardAPI

@Suite struct EvictionTests {
    private static let partition = CachePartition(service: "topics", environment: "release")
    private static let keys = (0..<200).map { CacheKey(partition, path: "\($0)") }

    private func store(_ numbers: some Sequence<Int>, in cache: ResponseCache, lifetime: Duration = .seconds(9)) {
        for number in numbers { cache.store(number, for: Self.keys[number], lifetime: lifetime, cost: 1) }
    }

    /// The remaining entries; call this only at the end, because each lookup marks an entry as used.
    private func left(in cache: ResponseCache) -> [Int] {
        Self.keys.indices.filter { cache.value(for: Self.keys[$0], as: Int.self) != nil }
    }

    @Test func `if no entry is used, the oldest entry of the whole cache is evicted first`() {
        let cache = ResponseCache(limits: .init(count: 50), locks: 8, time: ManualClock())
        store(0..<100, in: cache)

        #expect(left(in: cache) == Array(50..<100))
    }

    @Test func `a cache entry that was used outlives entries that were never used`() {
        let cache = ResponseCache(limits: .init(count: 50), locks: 8, time: ManualClock())
        for number in 0..<200 {
            store([number], in: cache)
            _ = cache.value(for: Self.keys[3], as: Int.self)
        }

        #expect(left(in: cache) == [3] + Array(151..<200))
    }

    @Test func `storing many entries once does not evict the cache entries that are used`() {
        let cache = ResponseCache(limits: .init(count: 20), time: ManualClock())
        store(0..<10, in: cache)
        for number in 0..<10 { _ = cache.value(for: Self.keys[number], as: Int.self) }
        store(10..<29, in: cache)

        #expect(left(in: cache).prefix(10) == Array(0..<10)[...])
    }

    @Test func `an expired cache entry is evicted even if it was used`() {
        let time = ManualClock()
        let cache = ResponseCache(limits: .init(count: 3), time: time)
        store([0], in: cache, lifetime: .seconds(1))
        store([1, 2], in: cache)
        for number in 0..<3 { _ = cache.value(for: Self.keys[number], as: Int.self) }
        time.advance(by: .seconds(2))

        store([3], in: cache)

        #expect(left(in: cache) == [1, 2, 3])
    }

    @Test func `a negative limit of the response cache counts as zero`() {
        #expect(ResponseCache.Limits(cost: -1, count: -1) == ResponseCache.Limits(cost: 0, count: 0))
    }

    @Test func `storing an existing key in a full cache evicts no other entry`() {
        let cache = ResponseCache(limits: .init(count: 3), time: ManualClock())
        store([0, 1, 2, 0, 1, 2, 2], in: cache)

        #expect(left(in: cache) == [0, 1, 2])
    }

    @Test func `if all cache entries were used, the oldest entry is evicted and not the new entry`() {
        let cache = ResponseCache(limits: .init(count: 3), time: ManualClock())
        store([0, 1, 2], in: cache)
        for number in 0..<3 { _ = cache.value(for: Self.keys[number], as: Int.self) }

        store([3], in: cache)

        #expect(left(in: cache) == [1, 2, 3])
    }

    @Test(arguments: [1, 8])
    func `the cache evicts entries in the order of the SIEVE algorithm for random operations`(locks: Int) {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        let cache = ResponseCache(limits: .init(count: 40), locks: locks, time: ManualClock())
        var model = SieveModel(size: 40)
        for _ in 0..<20_000 {
            let number = min(Int.random(in: 0..<200, using: &random), Int.random(in: 0..<200, using: &random))
            switch Int.random(in: 0..<8, using: &random) {
            case 0:
                cache.remove(Self.keys[number])
                model.remove(number)
            case 1...3:
                store([number], in: cache)
                model.store(number)
            default:
                let isThere = cache.value(for: Self.keys[number], as: Int.self) != nil
                guard isThere == model.use(number) else {
                    Issue.record("the cache and the model differ in \(number), seed \(seed)")
                    return
                }
            }
        }

        #expect(left(in: cache) == model.numbers.sorted(), "seed \(seed)")
        #expect(cache.count == model.numbers.count, "seed \(seed)")
    }
}

/// SIEVE as in the listing of the paper, on an array; an entry that is stored again counts as new.
private struct SieveModel {
    let size: Int
    private(set) var numbers: [Int] = []
    private var used: Set<Int> = []
    private var hand = 0

    init(size: Int) {
        self.size = size
    }

    mutating func use(_ number: Int) -> Bool {
        guard numbers.contains(number) else { return false }
        used.insert(number)
        return true
    }

    mutating func store(_ number: Int) {
        remove(number)
        while numbers.count >= size {
            if used.remove(numbers[hand]) == nil { numbers.remove(at: hand) } else { hand += 1 }
            if hand == numbers.count { hand = 0 }
        }
        numbers.append(number)
    }

    mutating func remove(_ number: Int) {
        guard let place = numbers.firstIndex(of: number) else { return }
        numbers.remove(at: place)
        used.remove(number)
        if place < hand { hand -= 1 }
        if hand == numbers.count { hand = 0 }
    }
}
