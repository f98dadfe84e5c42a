import Switchyard

/// A queue of future events as a binary heap of 16-byte entries.
///
/// Entries with the same time are returned in the order of insertion, so that a run is reproducible.
struct EventQueue: Sendable {
    /// An event in the queue.
    struct Entry: Sendable {
        /// The time of the event.
        var at: MonotonicTime
        fileprivate var sequence: UInt32
        /// The meaning of the event, encoded by the user of the queue.
        var code: UInt32

        /// Returns whether this entry is due before another entry.
        ///
        /// Sequence numbers wrap around. The numbers of the entries in the heap never differ by half of the range or
        /// more.
        fileprivate func comes(before other: Entry) -> Bool {
            at == other.at ? Int32(bitPattern: sequence &- other.sequence) < 0 : at < other.at
        }
    }

    private var heap: ContiguousArray<Entry> = []
    private var nextSequence: UInt32 = 0

    /// The next event, or `nil` if the queue is empty.
    var first: Entry? { heap.first }

    /// Inserts an event.
    mutating func insert(_ code: UInt32, at time: MonotonicTime) {
        let entry = Entry(at: time, sequence: nextSequence, code: code)
        nextSequence &+= 1
        heap.append(entry)
        var hole = heap.count - 1
        while hole > 0 {
            let parent = (hole - 1) / 2
            guard entry.comes(before: heap[parent]) else { break }
            heap[hole] = heap[parent]
            hole = parent
        }
        heap[hole] = entry
    }

    /// Removes and returns the next event.
    mutating func removeFirst() -> Entry? {
        guard let first = heap.first, let last = heap.popLast() else { return nil }
        guard !heap.isEmpty else { return first }
        var hole = 0
        while true {
            var child = 2 * hole + 1
            guard child < heap.count else { break }
            if child + 1 < heap.count, heap[child + 1].comes(before: heap[child]) { child += 1 }
            guard heap[child].comes(before: last) else { break }
            heap[hole] = heap[child]
            hole = child
        }
        heap[hole] = last
        return first
    }
}
