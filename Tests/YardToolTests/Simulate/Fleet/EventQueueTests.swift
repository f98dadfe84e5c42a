import Switchyard
import Testing

@testable import yard

@Suite struct EventQueueTests {
    @Test func `the event queue returns events in the order of time`() {
        var queue = EventQueue()
        var random = FleetRandom(seed: 7)
        for code in 0..<500 {
            queue.insert(UInt32(code), at: MonotonicTime(nanoseconds: Int64(random.index(below: 90))))
        }

        var times: [MonotonicTime] = []
        while let entry = queue.removeFirst() { times.append(entry.at) }

        #expect(times.count == 500)
        #expect(times == times.sorted())
    }

    @Test func `the event queue returns events of equal time in the order of insertion`() {
        var queue = EventQueue()
        for code in 0..<100 { queue.insert(UInt32(code), at: MonotonicTime(nanoseconds: code % 2 == 0 ? 5 : 3)) }

        var codes: [UInt32] = []
        while let entry = queue.removeFirst() { codes.append(entry.code) }

        #expect(codes == Array(stride(from: 1, to: 100, by: 2)) + Array(stride(from: 0, to: 100, by: 2)))
    }
}
