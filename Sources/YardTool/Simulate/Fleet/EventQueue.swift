import Switchyard

/// What is due and when, as a binary heap of 16-byte entries.
///
/// Entries that are due at the same moment come out in the order in which they were put in, so that a run can be repeated.
struct EventQueue: Sendable {
    /// Something that is due.
    struct Entry: Sendable {
        /// When.
        var at: MonotonicTime
        fileprivate var sequence: UInt32
        /// What, in the words of whoever put it in.
        var code: UInt32

        /// Sequence numbers wrap around; what is in the heap together is never half of them apart.
        fileprivate func comes(before other: Entry) -> Bool {
            at == other.at ? Int32(bitPattern: sequence &- other.sequence) < 0 : at < other.at
        }
    }

    private var heap: ContiguousArray<Entry> = []
    private var nextSequence: UInt32 = 0

    /// What is due next; `nil` when nothing is.
    var first: Entry? { heap.first }

    /// Puts something in.
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

    /// Takes out what is due next.
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
