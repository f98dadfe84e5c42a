import SwitchyardServices

/// Lets a test hold an operation and release it.
package final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var arrived = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
        var watchers: [(Int, CheckedContinuation<Void, Never>)] = []
    }

    private let state = Locked(State())

    package init() {}

    /// Waits until the gate is opened.
    package func pass() async {
        await withCheckedContinuation { continuation in
            let (isOpen, woken) = state.withLock { state -> (Bool, [CheckedContinuation<Void, Never>]) in
                state.arrived += 1
                let woken = state.watchers.filter { $0.0 <= state.arrived }.map(\.1)
                state.watchers.removeAll { $0.0 <= state.arrived }
                if !state.isOpen { state.waiting.append(continuation) }
                return (state.isOpen, woken)
            }
            for watcher in woken { watcher.resume() }
            if isOpen { continuation.resume() }
        }
    }

    /// Waits until `count` callers have arrived at the gate.
    package func waitForArrivals(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.arrived < count { state.watchers.append((count, continuation)) }
                return state.arrived >= count
            }
            if isThere { continuation.resume() }
        }
    }

    /// Releases all present and future callers.
    package func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
