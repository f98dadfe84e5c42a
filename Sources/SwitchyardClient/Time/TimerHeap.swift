import SwitchyardServices

/// The timers that are set, the earliest on top.
///
/// A binary heap in which each timer knows its place, so that a timer that is cancelled (most are: a request ends long
/// before its deadline) leaves at once, in O(log n), and keeps nothing alive.
struct TimerHeap {
    /// A timer in the heap.
    ///
    /// Its fields are guarded by the lock around the heap.
    final class Entry {
        let deadline: MonotonicTime
        fileprivate(set) var action: (@Sendable () -> Void)?
        fileprivate var index = -1

        init(deadline: MonotonicTime, action: @escaping @Sendable () -> Void) {
            self.deadline = deadline
            self.action = action
        }
    }

    private var entries: [Entry] = []

    var count: Int { entries.count }

    /// The deadline of the earliest timer.
    var earliest: MonotonicTime? { entries.first?.deadline }

    /// Adds a timer.
    mutating func insert(_ entry: Entry) {
        entry.index = entries.count
        entries.append(entry)
        moveUp(from: entry.index)
    }

    /// Takes a timer out; one that is not in the heap stays out.
    mutating func remove(_ entry: Entry) {
        let index = entry.index
        guard index >= 0 else { return }
        entry.index = -1
        entry.action = nil
        let last = entries.removeLast()
        guard last !== entry else { return }
        place(last, at: index)
        moveUp(from: index)
        moveDown(from: last.index)
    }

    /// Takes out the earliest timer if it is due, and returns its action.
    mutating func popDue(at now: MonotonicTime) -> (@Sendable () -> Void)? {
        guard let first = entries.first, first.deadline <= now else { return nil }
        let action = first.action
        remove(first)
        return action
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
            guard entry.deadline < entries[parent].deadline else { break }
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
            if child + 1 < entries.count, entries[child + 1].deadline < entries[child].deadline { child += 1 }
            guard entries[child].deadline < entry.deadline else { break }
            place(entries[child], at: index)
            index = child
        }
        place(entry, at: index)
    }
}
