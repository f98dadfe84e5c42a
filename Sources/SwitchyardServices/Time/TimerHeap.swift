/// The scheduled timers, ordered by deadline.
///
/// Timers with the same deadline are ordered by insertion. The data structure is a binary heap. Most timers are
/// cancelled, because a request ends long before its deadline. Cancelling a timer only releases its action. The
/// cancelled entries are removed together as soon as they outnumber the other entries. This takes O(1) on average,
/// whereas removing each entry separately would take O(log n) and access many other entries.
package struct TimerHeap {
    /// A timer in the heap.
    ///
    /// Its fields are guarded by the lock around the heap.
    package class Entry {
        package let deadline: MonotonicTime
        fileprivate final var action: (@Sendable () -> Void)?
        fileprivate final var isSet = false
        fileprivate final var number: UInt64 = 0

        package init(deadline: MonotonicTime, action: @escaping @Sendable () -> Void) {
            self.deadline = deadline
            self.action = action
        }

        fileprivate final func isBefore(_ other: Entry) -> Bool {
            deadline == other.deadline ? number < other.number : deadline < other.deadline
        }
    }

    /// The number by which cancelled entries may exceed the scheduled timers before the cancelled entries are removed.
    private static let mostAbandoned = 64

    private var entries: [Entry] = []
    private var cancelled = 0
    private var lastNumber: UInt64 = 0

    package init() {}

    package var count: Int { entries.count - cancelled }

    /// Returns the number of scheduled timers with the given deadline.
    package func count(at deadline: MonotonicTime) -> Int { entries.count { $0.isSet && $0.deadline == deadline } }

    /// Returns the deadline of the earliest timer.
    package mutating func earliest() -> MonotonicTime? {
        while let first = entries.first {
            if first.isSet { return first.deadline }
            removeFirst()
            cancelled -= 1
        }
        return nil
    }

    /// Adds a timer to the heap.
    package mutating func insert(_ entry: Entry) {
        lastNumber += 1
        entry.number = lastNumber
        entry.isSet = true
        entries.append(entry)
        var index = entries.count - 1
        while index > 0 {
            let parent = (index - 1) / 2
            guard entry.isBefore(entries[parent]) else { return }
            entries.swapAt(index, parent)
            index = parent
        }
    }

    /// Removes a timer.
    ///
    /// The method has no effect if the timer is not in the heap.
    ///
    /// - Returns: The action, which must be released outside the lock. Objects that it retains may be released with it,
    ///   and their `deinit` may schedule or cancel timers.
    package mutating func remove(_ entry: Entry) -> (@Sendable () -> Void)? {
        guard entry.isSet else { return nil }
        cancelled += 1
        if count == 0 || cancelled > count + Self.mostAbandoned { clearAway(with: entry) }
        return take(entry)
    }

    /// Removes the earliest timer if it is due, and returns its action.
    package mutating func popDue(at now: MonotonicTime) -> (@Sendable () -> Void)? {
        guard let earliest = earliest(), earliest <= now else { return nil }
        return take(removeFirst())
    }

    private func take(_ entry: Entry) -> (@Sendable () -> Void)? {
        defer { entry.action = nil }
        entry.isSet = false
        return entry.action
    }

    /// Removes the cancelled entries and `last`, which is about to be cancelled, and restores the heap order (Floyd).
    private mutating func clearAway(with last: Entry) {
        entries.removeAll { !$0.isSet || $0 === last }
        cancelled = 0
        for index in entries.indices.prefix(entries.count / 2).reversed() { moveDown(from: index) }
    }

    @discardableResult
    private mutating func removeFirst() -> Entry {
        entries.swapAt(0, entries.count - 1)
        let first = entries.removeLast()
        moveDown(from: 0)
        return first
    }

    private mutating func moveDown(from start: Int) {
        var index = start
        while true {
            var child = 2 * index + 1
            guard child < entries.count else { return }
            if child + 1 < entries.count, entries[child + 1].isBefore(entries[child]) { child += 1 }
            guard entries[child].isBefore(entries[index]) else { return }
            entries.swapAt(child, index)
            index = child
        }
    }
}
