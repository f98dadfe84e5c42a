package import SwitchyardServices

/// A client's list of requests that wait for the network because this machine is offline.
package final class ConnectivityGate: Sendable {
    private struct State {
        var waiters = WaiterList<Void>()
        /// The number of times that the network has become available again.
        var openings: UInt64 = 0
    }

    private let state = Locked(State())

    /// The number of waiting requests.
    var waiting: Int { state.withLock { $0.waiters.count } }

    /// The number of times that the network has become available again.
    package var openings: UInt64 { state.withLock { $0.openings } }

    /// Resumes all waiting requests.
    func open() {
        let waiters = state.withLock { state in
            state.openings += 1
            return state.waiters.removeAll()
        }
        for waiter in waiters { waiter.resume(returning: ()) }
    }

    /// Waits until the network is available again.
    ///
    /// - Parameters:
    ///   - openings: The value of ``openings`` from before the request that failed because the network was unavailable.
    ///   - deadline: The time at which to stop waiting.
    ///   - time: The clock.
    /// - Returns: Whether the network became available before the deadline.
    package func wait(since openings: UInt64, until deadline: MonotonicTime, on time: any TimeSource) async -> Bool {
        let waiter = Waiter<Void>()
        let mayWait = state.withLock { state in
            guard state.openings == openings, time.now < deadline else { return false }
            state.waiters.add(waiter)
            return true
        }
        if mayWait {
            let timer = time.schedule(at: deadline) { waiter.resume(returning: ()) }
            await waiter.outcome {}
            timer.cancel()
        }
        return state.withLock { state in
            state.waiters.remove(waiter)
            return state.openings != openings
        } && !Task.isCancelled
    }
}
