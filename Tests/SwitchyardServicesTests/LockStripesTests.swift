import SwitchyardServices
import Testing

@Suite struct LockStripesTests {
    @Test(arguments: [(1, 1), (2, 2), (3, 4), (8, 8), (9, 16)])
    func `the number of stripes of a striped lock is rounded up to a power of two`(count: Int, pieces: Int) {
        #expect(LockStripes(count) { 0 }.indices.count == pieces)
    }

    @Test func `the lowest bits of an index choose its lock stripe, even if the index is negative`() {
        let stripes = LockStripes(4) { 0 }
        for number in [1, 5, -3, .max] { stripes.withLock(of: number) { $0 += 1 } }

        #expect(stripes.indices.map { index in stripes.withLock(of: index) { $0 } } == [0, 3, 0, 1])
    }

    @Test(.timeLimit(.minutes(20)))
    func `no change is lost when several threads use a striped lock`() async {
        let stripes = LockStripes(4) { 0 }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for number in 0..<10_000 {
                        stripes.lock(number).pointee += 1
                        stripes.unlock(number)
                    }
                }
            }
        }

        #expect(
            stripes.indices.map { index in stripes.withLock(of: index) { $0 } } == [10_000, 10_000, 10_000, 10_000]
        )
    }

    @Test func `lock stripes release their values`() {
        final class Canary: Sendable {}
        weak var canary: Canary?
        do {
            let held = Canary()
            canary = held
            _ = LockStripes(2) { held }
        }

        #expect(canary == nil)
    }
}
