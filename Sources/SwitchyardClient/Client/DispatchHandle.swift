import SwitchyardServices

/// Lets a task that may be cancelled at any moment find its request, whichever of the two comes first.
package struct DispatchHandle: Sendable {
    private enum State {
        case empty
        case holding(any DispatchedRequest)
        case cancelled
    }

    private let state = Locked(State.empty)

    package init() {}

    /// Takes the request in; cancels it if the task was cancelled before.
    func hold(_ request: any DispatchedRequest) {
        let wasCancelled = state.withLock { state in
            if case .cancelled = state { return true }
            state = .holding(request)
            return false
        }
        if wasCancelled { request.cancel(.cancelled) }
    }

    /// Cancels the request, now or when it comes.
    package func cancel() {
        let request: (any DispatchedRequest)? = state.withLock { state in
            defer { state = .cancelled }
            if case .holding(let request) = state { return request }
            return nil
        }
        request?.cancel(.cancelled)
    }
}
