package import SwitchyardClient
package import SwitchyardServices

/// One fetch that is shared by all callers that need its response at the same time (single flight).
///
/// All callers wait, including the caller that started the fetch. The fetch has its own task and is cancelled when the
/// last caller leaves.
package final class SingleFlight<Value: Sendable>: JoinableFetch, Sendable {
    /// The outcome of the fetch for one waiter.
    package enum Ending: Sendable {
        case landed(Result<APIResponse<Value>, APIError>)
        /// This waiter or the whole fetch was cancelled.
        case cancelled
        /// The deadline of this waiter passed before the fetch ended.
        case late
        /// The fetch was abandoned before this caller joined it. The caller must join or start another fetch.
        case gone
    }

    private enum Phase {
        case flying
        case ended(Ending)
    }

    private struct State {
        var phase = Phase.flying
        var waiters = WaiterList<Ending>()
        var task: Task<Void, Never>?
        var needsWaiters: Bool
    }

    /// The user and environment of the call that started the fetch.
    ///
    /// If the call has no user but carries a credential, the user is that of the credential.
    let owner: CallOwner?
    private let state: Locked<State>
    private let onEnd: @Sendable (SingleFlight) -> Void

    /// Creates a fetch.
    ///
    /// - Parameters:
    ///   - owner: The user and environment of the call that starts the fetch, none by default.
    ///   - needsWaiters: Whether the fetch is cancelled when no caller waits any more.
    ///   - onEnd: A closure that removes the fetch from the table; called once, before the waiters resume.
    package init(
        of owner: CallOwner? = nil,
        needsWaiters: Bool,
        onEnd: @escaping @Sendable (SingleFlight) -> Void
    ) {
        self.owner = owner
        state = Locked(State(needsWaiters: needsWaiters))
        self.onEnd = onEnd
    }

    /// The number of callers that wait.
    var waiting: Int { state.withLock { $0.waiters.count } }

    /// Starts the fetch.
    package func start(_ fetch: @escaping @Sendable () async -> Result<APIResponse<Value>, APIError>) {
        let task = Task { end(.landed(await fetch())) }
        let isUnwanted = state.withLock { state in
            if case .flying = state.phase {
                state.task = task
                return false
            }
            return true
        }
        if isUnwanted { task.cancel() }
    }

    /// Waits for the end of the fetch, and returns earlier if the waiting task is cancelled, the calls of its manager
    /// are cancelled, or its deadline passes.
    package nonisolated(nonsending) func ending(
        among calls: CallTable? = nil,
        until deadline: MonotonicTime? = nil,
        on time: (any TimeSource)? = nil
    ) async -> Ending {
        let waiter = Waiter<Ending>()
        if let ending = add(waiter) { return ending }
        let id = RequestID()
        calls?.enter(id) { [self] in leave(waiter) }
        defer { calls?.leave(id) }
        let timer = deadline.flatMap { time?.schedule(at: $0) { [self] in leave(waiter, .late) } }
        defer { timer?.cancel() }
        return await waiter.outcome { [self] in
            leave(waiter)
            return .cancelled
        }
    }

    /// Adds a waiter, or returns the outcome if the fetch has ended.
    private func add(_ waiter: Waiter<Ending>) -> Ending? {
        state.withLock { state in
            if case .ended(let ending) = state.phase { return ending }
            state.waiters.add(waiter)
            return nil
        }
    }

    /// Removes a waiter.
    ///
    /// If it was the last waiter and the fetch needs waiters, the fetch is cancelled.
    private func leave(_ waiter: Waiter<Ending>, _ ending: Ending = .cancelled) {
        state.withLock { _ = $0.waiters.remove(waiter) }
        giveUpIfUnused()
        waiter.resume(returning: ending)
    }

    /// Cancels the fetch and all waiters.
    package func cancel() {
        let task = state.withLock { $0.task }
        end(.cancelled)
        task?.cancel()
    }

    private func giveUpIfUnused() {
        let (isGivenUp, task) = state.withLock { state -> (Bool, Task<Void, Never>?) in
            guard case .flying = state.phase, state.needsWaiters, state.waiters.isEmpty else { return (false, nil) }
            state.phase = .ended(.gone)
            return (true, state.task)
        }
        guard isGivenUp else { return }
        onEnd(self)
        // The task is `nil` if the last waiter leaves before `start` has stored the task.
        task?.cancel()
    }

    private func end(_ ending: Ending) {
        let waiters: [Waiter<Ending>]? = state.withLock { state in
            guard case .flying = state.phase else { return nil }
            state.phase = .ended(ending)
            state.task = nil
            return state.waiters.removeAll()
        }
        guard let waiters else { return }
        onEnd(self)
        for waiter in waiters { waiter.resume(returning: ending) }
    }
}
