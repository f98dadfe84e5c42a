import SwitchyardServices
import Testing

@testable import SwitchyardClient

@Suite struct TimerHeapTests {
    private func entry(_ nanoseconds: Int64) -> TimerHeap.Entry {
        TimerHeap.Entry(deadline: MonotonicTime(nanoseconds: nanoseconds), action: {})
    }

    private func drain(_ heap: inout TimerHeap) -> [Int64] {
        var deadlines: [Int64] = []
        while let earliest = heap.earliest(), heap.popDue(at: .distantFuture) != nil {
            deadlines.append(earliest.nanoseconds)
        }
        return deadlines
    }

    @Test func `the timer heap returns timers in the order of their deadlines`() {
        var heap = TimerHeap()
        for deadline in [5, 3, 9, 1, 7, 3, 8, 2] as [Int64] { heap.insert(entry(deadline)) }

        #expect(drain(&heap) == [1, 2, 3, 3, 5, 7, 8, 9])
    }

    @Test func `removing a timer keeps the other timers in order`() {
        for victim in 0..<8 {
            var heap = TimerHeap()
            let entries = [5, 3, 9, 1, 7, 4, 8, 2].map { entry(Int64($0)) }
            for entry in entries { heap.insert(entry) }

            _ = heap.remove(entries[victim])

            let expected = entries.map(\.deadline.nanoseconds).filter { $0 != entries[victim].deadline.nanoseconds }
            #expect(drain(&heap) == expected.sorted())
        }
    }

    @Test func `removing most timers keeps the remaining timers in order`() {
        var heap = TimerHeap()
        let entries = (0..<1000).map { entry(Int64($0 * 7919 % 1000)) }
        for entry in entries { heap.insert(entry) }

        for entry in entries where entry.deadline.nanoseconds % 10 != 0 { _ = heap.remove(entry) }

        #expect(heap.count == 100)
        #expect(drain(&heap) == (0..<100).map { $0 * 10 })
        #expect(heap.count == 0)
    }

    @Test func `the earliest timer of the timer heap is never a removed timer`() {
        var heap = TimerHeap()
        let cancelled = entry(1)
        heap.insert(cancelled)
        heap.insert(entry(2))

        _ = heap.remove(cancelled)

        #expect(heap.earliest()?.nanoseconds == 2)
        #expect(heap.count == 1)
        #expect(heap.count(at: MonotonicTime(nanoseconds: 1)) == 0)
    }

    @Test func `removing a timer twice has no further effect`() {
        var heap = TimerHeap()
        let timer = entry(1)
        heap.insert(timer)
        heap.insert(entry(2))

        _ = heap.remove(timer)
        _ = heap.remove(timer)

        #expect(heap.count == 1)
    }

    @Test func `the timer heap returns timers with the same deadline in the order of insertion`() {
        var heap = TimerHeap()
        let order = Locked<[Int]>([])
        for number in 0..<20 {
            heap.insert(TimerHeap.Entry(deadline: .zero) { order.withLock { $0.append(number) } })
        }

        while let action = heap.popDue(at: .zero) { action() }

        #expect(order.withLock { $0 } == Array(0..<20))
    }

    @Test func `the timer heap does not return a timer that is not due`() {
        var heap = TimerHeap()
        heap.insert(entry(10))

        #expect(heap.popDue(at: MonotonicTime(nanoseconds: 9)) == nil)
        #expect(heap.popDue(at: MonotonicTime(nanoseconds: 10)) != nil)
    }

    @Test func `a timer that is removed from the timer heap releases its action`() {
        final class Canary: Sendable {}
        var heap = TimerHeap()
        weak var weakCanary: Canary?
        let timer: TimerHeap.Entry
        do {
            let canary = Canary()
            weakCanary = canary
            timer = TimerHeap.Entry(deadline: .zero) { _ = canary }
        }
        heap.insert(timer)

        _ = heap.remove(timer)

        #expect(weakCanary == nil)
    }
}
