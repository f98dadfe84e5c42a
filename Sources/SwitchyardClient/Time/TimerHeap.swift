package import SwitchyardServices

/// The timers that are set, the earliest on top; of those of one deadline, the one that was set first.
///
/// A binary heap in which each timer knows its place, so that a timer that is cancelled (most are: a request ends long
/// before its deadline) leaves at once, in O(log n), and keeps nothing alive.
package struct TimerHeap {
    /// A timer in the heap.
    ///
    /// Its fields are guarded by the lock around the heap.
    package final class Entry {
        package let deadline: MonotonicTime
        fileprivate(set) var action: (@Sendable () -> Void)?
        fileprivate var index = -1
        fileprivate var number: UInt64 = 0

        package init(deadline: MonotonicTime, action: @escaping @Sendable () -> Void) {
            self.deadline = deadline
            self.action = action
        }

        fileprivate func isBefore(_ other: Entry) -> Bool {
            deadline == other.deadline ? number < other.number : deadline < other.deadline
        }
    }

    private var entries: [Entry] = []
    private var lastNumber: UInt64 = 0

    package init() {}

    package var count: Int { entries.count }

    /// The number of timers with a deadline.
    package func count(at deadline: MonotonicTime) -> Int { entries.count { $0.deadline == deadline } }

    /// The deadline of the earliest timer.
    package var earliest: MonotonicTime? { entries.first?.deadline }

    /// Adds a timer.
    package mutating func insert(_ entry: Entry) {
        lastNumber += 1
        entry.number = lastNumber
        entry.index = entries.count
        entries.append(entry)
        moveUp(from: entry.index)
    }

    /// Takes a timer out; one that is not in the heap stays out.
    ///
    /// - Returns: The action, which is the caller's to let go, outside the lock: what it holds may go with it, and a
    ///   `deinit` may set timers or cancel them.
    package mutating func remove(_ entry: Entry) -> (@Sendable () -> Void)? {
        let index = entry.index
        guard index >= 0 else { return nil }
        defer { entry.action = nil }
        entry.index = -1
        let last = entries.removeLast()
        guard last !== entry else { return entry.action }
        place(last, at: index)
        moveUp(from: index)
        moveDown(from: last.index)
        return entry.action
    }

    /// Takes out the earliest timer if it is due, and returns its action.
    package mutating func popDue(at now: MonotonicTime) -> (@Sendable () -> Void)? {
        guard let first = entries.first, first.deadline <= now else { return nil }
        return remove(first)
    }

    private mutating func place(_ entry: Entry, at index: Int) {
        entries[index] = entry
        entry.index = index
    }

    private mutating func moveUp(from start: Int) {
        let entry = entries[start]
        var index = start
        while index > 0 {
            let parent = (index - 1) / 2
            guard entry.isBefore(entries[parent]) else { break }
            place(entries[parent], at: index)
            index = parent
        }
        place(entry, at: index)
    }

    private mutating func moveDown(from start: Int) {
        let entry = entries[start]
        var index = start
        while true {
            var child = 2 * index + 1
            guard child < entries.count else { break }
            if child + 1 < entries.count, entries[child + 1].isBefore(entries[child]) { child += 1 }
            guard entries[child].isBefore(entry) else { break }
            place(entries[child], at: index)
            index = child
        }
        place(entry, at: index)
    }
}
