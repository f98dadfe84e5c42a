import SwitchyardServices

/// The waiters for an idle state, protected by the lock of that state.
struct IdleWaiters {
    typealias Continuation = WaitingLine<UInt64>.Continuation

    private var numbers: [UInt64] = []
    private var line = WaitingLine<UInt64>()
    private var last: UInt64 = 0

    /// Whether there are no waiters.
    var isEmpty: Bool { numbers.isEmpty }

    /// Adds a waiter and returns its number.
    mutating func add() -> UInt64 {
        last += 1
        numbers.append(last)
        return last
    }

    /// Suspends a waiter, or returns the result if it is already known.
    mutating func enter(_ watcher: UInt64, _ continuation: Continuation) -> Bool? {
        line.enter(watcher, continuation)
    }

    /// Removes a waiter that was cancelled, and returns its continuation unless the waiter has already been released.
    mutating func withdraw(_ watcher: UInt64) -> Continuation? {
        numbers.removeAll { $0 == watcher }
        return line.leave(watcher)
    }

    /// Discards the result of a waiter that no longer waits.
    mutating func forget(_ watcher: UInt64) {
        line.forget(watcher)
    }

    /// Releases all waiters and returns the continuations to resume.
    mutating func release() -> [Continuation] {
        defer { numbers = [] }
        return numbers.compactMap { line.admit($0) }
    }
}

extension Locked where State: Sendable {
    /// Waits until the state is idle.
    ///
    /// - Parameters:
    ///   - watchers: The key path of the waiters in the state.
    ///   - begin: A closure that adds a waiter and returns its number, or `nil` if the state is idle.
    /// - Returns: `false` if the task was cancelled before.
    func waitUntilIdle(
        _ watchers: any WritableKeyPath<State, IdleWaiters> & Sendable,
        _ begin: (inout State) -> UInt64?
    ) async -> Bool {
        guard let watcher = withLock({ begin(&$0) }) else { return true }
        let isIdle = await withTaskCancellationHandler {
            await withUnsafeContinuation { (continuation: IdleWaiters.Continuation) in
                let answer = withLock { $0[keyPath: watchers].enter(watcher, continuation) }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            withLock { $0[keyPath: watchers].withdraw(watcher) }?.resume(returning: false)
        }
        withLock { $0[keyPath: watchers].forget(watcher) }
        return isIdle
    }
}
