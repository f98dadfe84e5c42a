/// The waiters for one event, each under a number, protected by the lock of their owner.
///
/// A waiter takes a number, enters with its continuation, and leaves when its task is cancelled. When the event occurs,
/// the owner removes all waiters. Code that removes a continuation must resume it after releasing the lock.
struct WaitingRoom<Outcome: Sendable>: Sendable {
    typealias Continuation = CheckedContinuation<Outcome, Never>

    private var waiters: [Int: Continuation] = [:]
    private var last = 0

    /// The number of waiters.
    var count: Int { waiters.count }

    /// Returns a number for a new waiter.
    mutating func takeNumber() -> Int {
        last += 1
        return last
    }

    /// Adds a waiter.
    mutating func enter(_ number: Int, _ continuation: Continuation) {
        waiters[number] = continuation
    }

    /// Removes and returns the continuation of a cancelled waiter, or returns `nil` if the event occurred first.
    mutating func leave(_ number: Int) -> Continuation? {
        waiters.removeValue(forKey: number)
    }

    /// Removes and returns all waiters.
    mutating func empty() -> [Continuation] {
        defer { waiters = [:] }
        return Array(waiters.values)
    }
}
