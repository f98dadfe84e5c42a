import SwitchyardServices

/// Ends a transfer at any stage: by its identifier, at the logout of its user, or at its deadline.
package final class TransferHandle: Sendable {
    private struct State {
        var reason: RequestFailure.Reason?
        var cancel: (@Sendable () -> Void)?
        var timer: (any ScheduledTimer)?
        var isOver = false
        var hasHadTurn = false
        var owner: CallOwner?
    }

    private let state = Locked(State())

    /// The reason why the transfer was ended, or `nil` if it was not ended.
    package var reason: RequestFailure.Reason? { state.withLock { $0.reason } }

    /// Sets the owner of the transfer, which is the user and environment that it belongs to.
    ///
    /// The owner is `nil` for a transfer that outlives a logout.
    func setOwner(_ owner: CallOwner?) {
        state.withLock { $0.owner = owner }
    }

    /// The reason why the transfer delivers no more data, or `nil` while its user is logged in.
    ///
    /// If the user has logged out, reading this property ends the transfer. A transfer that is over may still have
    /// buffered data, so the reason applies to it too.
    package var refusal: RequestFailure.Reason? {
        guard let refusal = state.withLock({ $0.owner })?.refusal else { return nil }
        cancel(refusal)
        return reason ?? refusal
    }

    /// Whether the transfer is over, even if its completion has not been called yet.
    var isOver: Bool { state.withLock { $0.isOver } }

    /// Returns `true` for the first request of the transfer, which passes all limits, and `false` for every later one.
    func takeTurn() -> Bool {
        state.withLock { state in
            defer { state.hasHadTurn = true }
            return !state.hasHadTurn
        }
    }

    /// Sets the action that ends the transfer.
    ///
    /// If the transfer has already been ended, the action runs immediately.
    package func attach(_ cancel: @escaping @Sendable () -> Void) {
        let wasEnded = state.withLock { state in
            state.cancel = state.isOver ? nil : cancel
            return state.reason != nil
        }
        if wasEnded { cancel() }
    }

    /// Ends the transfer at a deadline.
    func setDeadline(_ deadline: MonotonicTime, on time: any TimeSource) {
        let timer = time.schedule(at: deadline) { [weak self] in self?.cancel(.deadlineExceeded) }
        let isLate = state.withLock { state in
            if !state.isOver { state.timer = timer }
            return state.isOver
        }
        if isLate { timer.cancel() }
    }

    /// Ends the transfer.
    ///
    /// Only the first reason counts, and a call after the end has no effect.
    package func cancel(_ reason: RequestFailure.Reason) {
        let cancel: (@Sendable () -> Void)? = state.withLock { state in
            guard !state.isOver, state.reason == nil else { return nil }
            state.reason = reason
            return state.cancel
        }
        cancel?()
    }

    /// Records that the transfer is over, and returns `true` on the first call.
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
