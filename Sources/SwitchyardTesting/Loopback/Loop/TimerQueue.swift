import SwitchyardServices

/// The timers of one loop, the earliest on top of a binary heap.
///
/// A cancelled timer loses its action at once and its place in the heap when it comes up.
struct TimerQueue {
    /// Names a timer, to cancel it.
    struct Token: Hashable {
        fileprivate let number: Int
    }

    private var heap: [(deadline: MonotonicTime, number: Int)] = []
    private var actions: [Int: () -> Void] = [:]
    private var lastNumber = 0

    /// The time at which the loop has to wake up.
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

    /// Takes out the earliest timer that is due, and returns its action.
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
