import SwitchyardServices

/// The actions to run when a client shuts down, for work that has no active request.
final class ShutdownHandlers: Sendable {
    private struct State {
        var actions: [UInt64: @Sendable () -> Void] = [:]
        var last: UInt64 = 0
        var isOver = false
    }

    private let state = Locked(State())

    /// Adds an action for the shutdown and returns a closure that removes the action.
    ///
    /// If the client has already shut down, the action runs immediately.
    func add(_ action: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let number: UInt64? = state.withLock { state in
            guard !state.isOver else { return nil }
            state.last += 1
            state.actions[state.last] = action
            return state.last
        }
        guard let number else {
            action()
            return {}
        }
        return { [state] in
            // The action is released after the lock, because releasing it may run arbitrary code.
            let old = state.withLock { $0.actions.removeValue(forKey: number) }
            withExtendedLifetime(old) {}
        }
    }

    /// Runs all actions once.
    func end() {
        let actions = state.withLock { state in
            state.isOver = true
            defer { state.actions = [:] }
            return Array(state.actions.values)
        }
        for action in actions { action() }
    }
}
