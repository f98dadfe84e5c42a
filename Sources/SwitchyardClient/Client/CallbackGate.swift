import SwitchyardServices

/// Holds a callback back until the method that has begun the work is about to return, so that its caller has the name
/// before the answer.
package struct CallbackGate: Sendable {
    private enum State {
        case closed(held: (@Sendable () -> Void)?)
        case open
    }

    private let state = Locked(State.closed(held: nil))

    /// Creates a gate that is closed.
    package init() {}

    /// Calls back: at once when the gate is open, else when it opens.
    package func pass(_ callback: @escaping @Sendable () -> Void) {
        let isOpen = state.withLock { state in
            if case .open = state { return true }
            state = .closed(held: callback)
            return false
        }
        if isOpen { callback() }
    }

    /// Opens the gate for good.
    package func open() {
        let held: (@Sendable () -> Void)? = state.withLock { state in
            defer { state = .open }
            if case .closed(let held) = state { return held }
            return nil
        }
        held?()
    }
}
