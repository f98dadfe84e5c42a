import SwitchyardServices

/// What ends with a client although no request of it is under way.
final class ShutdownWatchers: Sendable {
    private struct State {
        var actions: [UInt64: @Sendable () -> Void] = [:]
        var last: UInt64 = 0
        var isOver = false
    }

    private let state = Locked(State())

    /// Adds an action for the shutdown, which is done at once behind it; the closure returned takes it out again.
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
            // What goes with the action goes behind the lock.
            let old = state.withLock { $0.actions.removeValue(forKey: number) }
            withExtendedLifetime(old) {}
        }
    }

    /// Does what was added, once.
    func end() {
        let actions = state.withLock { state in
            state.isOver = true
            defer { state.actions = [:] }
            return Array(state.actions.values)
        }
        for action in actions { action() }
    }
}
