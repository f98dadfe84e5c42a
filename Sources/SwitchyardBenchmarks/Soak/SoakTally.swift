import Switchyard

/// Records which requests have ended, and how.
final class SoakTally: Sendable {
    private struct State {
        var ends: [UInt8]
        var ended = 0
        var doubled = 0
        var answered = 0
        var cancelled = 0
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state: Locked<State>

    init(_ count: Int) {
        state = Locked(State(ends: [UInt8](repeating: 0, count: count)))
    }

    var ended: Int { state.withLock { $0.ended } }
    var doubled: Int { state.withLock { $0.doubled } }
    /// The number of requests that received a response, and the number of requests that were cancelled.
    ///
    /// All other requests have failed.
    var kinds: (answered: Int, cancelled: Int) { state.withLock { ($0.answered, $0.cancelled) } }

    func end(_ number: Int, _ result: Result<ServiceResponse, RequestFailure>) {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if state.ends[number] > 0 { state.doubled += 1 } else { state.ended += 1 }
            state.ends[number] = 1
            switch result {
            case .success: state.answered += 1
            case .failure(let failure): if failure.isCancellation { state.cancelled += 1 }
            }
            guard state.ended == state.ends.count else { return nil }
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    /// Waits until every request has ended.
    func waitForAll() async {
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                if state.ended < state.ends.count { state.waiter = continuation }
                return state.ended == state.ends.count
            }
            if isDone { continuation.resume() }
        }
    }
}
