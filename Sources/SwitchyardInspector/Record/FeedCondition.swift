import SwitchyardServices

/// A condition on which feed requests wait for a change.
final class FeedCondition: Sendable {
    private struct State {
        var change = 0
        var waiters = WaiterList<Void>()
        var isOver = false
    }

    private let state = Locked(State())

    /// The number of feed requests that wait.
    var waiterCount: Int { state.withLock { $0.waiters.count } }

    /// Reports a change, and wakes all waiters that wait for a change with this number or a lower number.
    func ring(_ change: Int) {
        wakeAll { $0.change = max($0.change, change) }
    }

    /// Wakes all waiters.
    ///
    /// Later waits return immediately.
    func end() {
        wakeAll { $0.isOver = true }
    }

    /// Waits for a change whose number is higher than `change`.
    ///
    /// Returns early after `limit`, or if the task is cancelled.
    func wait(after change: Int, atMost limit: Duration, on time: any TimeSource) async {
        let waiter = Waiter<Void>()
        let mustWait = state.withLock { state in
            guard !state.isOver, state.change <= change else { return false }
            state.waiters.add(waiter)
            return true
        }
        guard mustWait else { return }
        let timer = time.schedule(at: time.now.advanced(by: limit)) { waiter.resume(returning: ()) }
        await waiter.outcome {}
        timer.cancel()
        state.withLock { _ = $0.waiters.remove(waiter) }
    }

    private func wakeAll(_ body: (inout State) -> Void) {
        let waiters = state.withLock { state in
            body(&state)
            return state.waiters.removeAll()
        }
        for waiter in waiters { waiter.resume(returning: ()) }
    }
}
