import SwitchyardServices

/// The timers of an event loop, in a binary heap with the earliest timer on top.
///
/// A cancelled timer releases its action immediately, and leaves the heap when it reaches the top.
struct TimerQueue {
    /// The identity of a timer, with which the timer can be cancelled.
    struct Token: Hashable {
        fileprivate let number: Int
    }

    private var heap: [(deadline: MonotonicTime, number: Int)] = []
    private var actions: [Int: () -> Void] = [:]
    private var lastNumber = 0

    /// The deadline of the earliest timer.
    var earliest: MonotonicTime? { heap.first?.deadline }

    mutating func add(at deadline: MonotonicTime, _ action: @escaping () -> Void) -> Token {
        lastNumber += 1
        actions[lastNumber] = action
        heap.append((deadline, lastNumber))
        siftUp()
        return Token(number: lastNumber)
    }

    mutating func cancel(_ token: Token) {
        actions[token.number] = nil
        while let top = heap.first, actions[top.number] == nil { removeTop() }
    }

    /// Removes the earliest timer that is due, and returns its action.
    mutating func popDue(at now: MonotonicTime) -> (() -> Void)? {
        while let top = heap.first, top.deadline <= now {
            removeTop()
            if let action = actions.removeValue(forKey: top.number) { return action }
        }
        return nil
    }

    private func precedes(_ left: Int, _ right: Int) -> Bool {
        (heap[left].deadline, heap[left].number) < (heap[right].deadline, heap[right].number)
    }

    private mutating func siftUp() {
        var index = heap.count - 1
        while index > 0, precedes(index, (index - 1) / 2) {
            heap.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    private mutating func removeTop() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var index = 0
        while true {
            var least = index
            for child in [2 * index + 1, 2 * index + 2] where child < heap.count && precedes(child, least) {
                least = child
            }
            guard least != index else { return }
            heap.swapAt(index, least)
            index = least
        }
    }
}
