import SwitchyardServices

/// Ends a transfer from outside, at whatever point it is: by its identifier, with its owner, or at its deadline.
package final class TransferHandle: Sendable {
    private struct State {
        var reason: RequestFailure.Reason?
        var cancel: (@Sendable () -> Void)?
        var timer: (any ScheduledTimer)?
        var isOver = false
        var hasHadTurn = false
    }

    private let state = Locked(State())

    /// Why the transfer was ended; `nil` while it was not.
    package var reason: RequestFailure.Reason? { state.withLock { $0.reason } }

    /// Whether the transfer is over; its caller may not have been told yet.
    var isOver: Bool { state.withLock { $0.isOver } }

    /// Takes the transfer's turn among others; `false` when it has had it, and goes on.
    func takeTurn() -> Bool {
        state.withLock { state in
            defer { state.hasHadTurn = true }
            return !state.hasHadTurn
        }
    }

    /// Says how the transfer is ended from now on; done at once when it was ended before.
    package func attach(_ cancel: @escaping @Sendable () -> Void) {
        let wasEnded = state.withLock { state in
            state.cancel = state.isOver ? nil : cancel
            return state.reason != nil
        }
        if wasEnded { cancel() }
    }

    /// Ends the transfer when the time has come.
    func setDeadline(_ deadline: MonotonicTime, on time: any TimeSource) {
        let timer = time.schedule(at: deadline) { [weak self] in self?.cancel(.deadlineExceeded) }
        let isLate = state.withLock { state in
            if !state.isOver { state.timer = timer }
            return state.isOver
        }
        if isLate { timer.cancel() }
    }

    /// Ends the transfer; only the first reason counts, and after the end nothing happens.
    package func cancel(_ reason: RequestFailure.Reason) {
        let cancel: (@Sendable () -> Void)? = state.withLock { state in
            guard !state.isOver, state.reason == nil else { return nil }
            state.reason = reason
            return state.cancel
        }
        cancel?()
    }

    /// Takes note that the transfer is over; `true` the first time.
    @discardableResult
    func finish() -> Bool {
        let (isFirst, timer) = state.withLock { state in
            defer {
                state.isOver = true
                state.cancel = nil
                state.timer = nil
            }
            return (!state.isOver, state.timer)
        }
        timer?.cancel()
        return isFirst
    }
}
