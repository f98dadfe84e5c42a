/// Those who wait for one event, each under a number; kept behind the lock of its owner.
///
/// A waiter takes a number, enters with its continuation, and leaves when its task is cancelled; the owner takes all out
/// when the event comes. Whoever takes a continuation out resumes it, after the lock is released.
struct WaitingRoom<Outcome: Sendable>: Sendable {
    typealias Continuation = CheckedContinuation<Outcome, Never>

    private var waiters: [Int: Continuation] = [:]
    private var last = 0

    /// How many wait.
    var count: Int { waiters.count }

    /// A number for one who is going to wait.
    mutating func takeNumber() -> Int {
        last += 1
        return last
    }

    /// Lets one wait.
    mutating func enter(_ number: Int, _ continuation: Continuation) {
        waiters[number] = continuation
    }

    /// Takes one out who does not want to wait any more; `nil` when the event came first.
    mutating func leave(_ number: Int) -> Continuation? {
        waiters.removeValue(forKey: number)
    }

    /// Takes all out.
    mutating func empty() -> [Continuation] {
        defer { waiters = [:] }
        return Array(waiters.values)
    }
}
