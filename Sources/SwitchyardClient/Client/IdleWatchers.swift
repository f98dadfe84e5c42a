import SwitchyardServices

/// Those who wait until nothing is left; kept behind the lock of what they watch.
struct IdleWatchers {
    typealias Continuation = WaitingLine<UInt64>.Continuation

    private var numbers: [UInt64] = []
    private var line = WaitingLine<UInt64>()
    private var last: UInt64 = 0

    /// Whether nobody waits.
    var isEmpty: Bool { numbers.isEmpty }

    /// A number for one who is going to wait.
    mutating func add() -> UInt64 {
        last += 1
        numbers.append(last)
        return last
    }

    /// Lets one wait; the answer, when it is there already.
    mutating func enter(_ watcher: UInt64, _ continuation: Continuation) -> Bool? {
        line.enter(watcher, continuation)
    }

    /// Takes one out that was cancelled; the continuation to resume, unless it was let go before.
    mutating func withdraw(_ watcher: UInt64) -> Continuation? {
        numbers.removeAll { $0 == watcher }
        return line.leave(watcher)
    }

    /// Forgets one that waits no more.
    mutating func forget(_ watcher: UInt64) {
        line.forget(watcher)
    }

    /// Lets all go; the continuations to resume.
    mutating func release() -> [Continuation] {
        defer { numbers = [] }
        return numbers.compactMap { line.admit($0) }
    }
}

extension Locked where State: Sendable {
    /// Waits as one of those who watch the state.
    ///
    /// - Parameters:
    ///   - watchers: Where they are kept in the state.
    ///   - begin: Takes a number from them; `nil` when there is nothing to wait for.
    /// - Returns: `false` when the task was cancelled before.
    func waitUntilIdle(
        _ watchers: any WritableKeyPath<State, IdleWatchers> & Sendable,
        _ begin: (inout State) -> UInt64?
    ) async -> Bool {
        guard let watcher = withLock({ begin(&$0) }) else { return true }
        let isIdle = await withTaskCancellationHandler {
            await withUnsafeContinuation { (continuation: IdleWatchers.Continuation) in
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
