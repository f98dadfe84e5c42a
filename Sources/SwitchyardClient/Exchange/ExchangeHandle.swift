import SwitchyardServices

/// Lets a task that may be cancelled at any moment find its request, whichever of the two comes first.
final class ExchangeHandle: Sendable {
    private enum State {
        case empty
        case holding(Exchange)
        case cancelled
    }

    private let state = Locked(State.empty)

    /// Takes the request in; cancels it if the task was cancelled before.
    func hold(_ exchange: Exchange) {
        let wasCancelled = state.withLock { state in
            if case .cancelled = state { return true }
            state = .holding(exchange)
            return false
        }
        if wasCancelled { exchange.cancel() }
    }

    /// Cancels the request, now or when it comes.
    func cancel() {
        let exchange: Exchange? = state.withLock { state in
            defer { state = .cancelled }
            if case .holding(let exchange) = state { return exchange }
            return nil
        }
        exchange?.cancel()
    }
}
