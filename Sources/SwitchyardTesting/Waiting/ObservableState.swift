import SwitchyardServices

/// State that is protected by a lock, and whose changes a task can await.
final class ObservableState<State>: Sendable {
    private struct Contents {
        var state: State
        /// The number of changes so far.
        ///
        /// With this number, a waiter detects a change that happened before its wait started.
        var version = 0
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let contents: Locked<Contents>

    init(_ state: sending State) {
        contents = Locked(Contents(state: state))
    }

    /// Reads the state, or changes it without resuming waiters.
    func withLock<Value>(_ body: (inout State) -> sending Value) -> sending Value {
        contents.withLock { body(&$0.state) }
    }

    /// Changes the state, and then resumes the waiters.
    @discardableResult
    func change<Value>(_ body: (inout State) -> sending Value) -> sending Value {
        var waiters: [CheckedContinuation<Void, Never>] = []
        let value = contents.withLock { contents in
            contents.version += 1
            swap(&waiters, &contents.waiters)
            return body(&contents.state)
        }
        for waiter in waiters { waiter.resume() }
        return value
    }

    /// Waits until the state satisfies a condition.
    ///
    /// The condition receives the value of `view` and is evaluated outside the lock.
    ///
    /// Returns `false` if the task was cancelled first.
    func wait<View: Sendable>(
        for view: (State) -> View,
        until condition: @Sendable (View) -> Bool
    ) async -> Bool {
        while true {
            let (current, version) = contents.withLock { (view($0.state), $0.version) }
            if condition(current) { return true }
            if Task.isCancelled { return false }
            await waitForChange(after: version)
        }
    }

    private func waitForChange(after version: Int) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let hasChanged = contents.withLock { contents in
                    // If the task was already cancelled, `onCancel` below has increased the version.
                    guard contents.version == version else { return true }
                    contents.waiters.append(continuation)
                    return false
                }
                if hasChanged { continuation.resume() }
            }
        } onCancel: {
            change { _ in }
        }
    }
}

/// Waits until the tasks of this process are scheduled without delay.
///
/// All tests start at the same time, and for about half a minute a task may have to wait for seconds. A test that
/// observes a failing server in real time must start after this period. Otherwise, the client has learned that
/// responses take seconds, and waits three times as long before it tries another server. A test that uses the real
/// deadlines of an app must also start after this period.
package func calm() async throws {
    var inTime = 0
    while inTime < 10 {
        let start = ContinuousClock.now
        try await Task.sleep(for: .milliseconds(10))
        inTime = ContinuousClock.now - start < .milliseconds(50) ? inTime + 1 : 0
    }
}
