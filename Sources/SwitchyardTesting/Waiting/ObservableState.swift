import SwitchyardServices

/// Lock-protected state whose changes can be awaited.
final class ObservableState<State>: Sendable {
    private struct Contents {
        var state: State
        /// The number of changes, which ensures that a waiter misses no change.
        var version = 0
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let contents: Locked<Contents>

    init(_ state: sending State) {
        contents = Locked(Contents(state: state))
    }

    /// Reads the state, or makes a change for which no caller waits.
    func withLock<Value>(_ body: (inout State) -> sending Value) -> sending Value {
        contents.withLock { body(&$0.state) }
    }

    /// Changes the state, then resumes the waiters.
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

    /// Waits until the state satisfies a condition, which is evaluated outside the lock on the value of `view`.
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
                    // A cancellation that came first has already increased the version in `onCancel` below.
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
/// All tests start at once, and for half a minute a task can wait for seconds. A test that observes a failing server in
/// real time must start after this period: otherwise, the client takes responses that took seconds as usual and waits
/// three times as long before it tries another server. A test that uses an app's real deadlines must also start after
/// this period.
package func calm() async throws {
    var inTime = 0
    while inTime < 10 {
        let start = ContinuousClock.now
        try await Task.sleep(for: .milliseconds(10))
        inTime = ContinuousClock.now - start < .milliseconds(50) ? inTime + 1 : 0
    }
}
