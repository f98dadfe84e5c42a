import SwitchyardServices

/// State behind a lock whose changes can be awaited.
final class Watched<State>: Sendable {
    private struct Contents {
        var state: State
        /// Counts the changes, so that a waiter misses none.
        var version = 0
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let contents: Locked<Contents>

    init(_ state: sending State) {
        contents = Locked(Contents(state: state))
    }

    /// Looks at the state, or changes what nobody waits for.
    func withLock<Value>(_ body: (inout State) -> sending Value) -> sending Value {
        contents.withLock { body(&$0.state) }
    }

    /// Changes the state, and then wakes those who wait for a change.
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

    /// Waits until the state fulfils a condition, which is looked at outside the lock on what `view` takes from it;
    /// `false` when the task was cancelled before.
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
                    // A cancel that came first has moved the version, see below.
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

/// Waits until tasks of this process get their turn in time.
///
/// All tests start at once, and for half a minute a task may wait for seconds. Whoever looks on in real time while a
/// server dies has to begin after that: answers that took seconds are what the client then takes for usual, and it waits
/// three times as long before it asks another server. So has whoever keeps to an app's deadlines.
package func calm() async throws {
    var inTime = 0
    while inTime < 10 {
        let start = ContinuousClock.now
        try await Task.sleep(for: .milliseconds(10))
        inTime = ContinuousClock.now - start < .milliseconds(50) ? inTime + 1 : 0
    }
}
