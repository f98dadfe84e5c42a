import SwitchyardServices

/// Counts how often each of several requests has ended and lets a test wait for the last one.
final class EndTally: Sendable {
    private struct State {
        var ends: [Int]
        var missing: Int
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state: Locked<State>

    init(_ count: Int) {
        state = Locked(State(ends: [Int](repeating: 0, count: count), missing: count))
    }

    /// How often each request has ended.
    var ends: [Int] { state.withLock { $0.ends } }

    func end(_ number: Int) {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if state.ends[number] == 0 { state.missing -= 1 }
            state.ends[number] += 1
            guard state.missing == 0 else { return nil }
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    /// Waits until every request has ended at least once.
    func waitForAll() async {
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                if state.missing > 0 { state.waiter = continuation }
                return state.missing == 0
            }
            if isDone { continuation.resume() }
        }
    }
}
