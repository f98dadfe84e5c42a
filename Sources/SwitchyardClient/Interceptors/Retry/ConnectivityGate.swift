package import SwitchyardServices

/// Where requests wait that failed because this machine is offline: one gate for all of a client's.
package final class ConnectivityGate: Sendable {
    private struct State {
        var waiters: [UInt64: UnsafeContinuation<Void, Never>] = [:]
        var lastWaiter: UInt64 = 0
        /// How often the network has come back.
        var openings: UInt64 = 0
    }

    private let state = Locked(State())

    /// How many requests wait.
    var waiting: Int { state.withLock { $0.waiters.count } }

    /// How often the network has come back.
    package var openings: UInt64 { state.withLock { $0.openings } }

    /// Lets everybody who waits go on.
    func open() {
        let waiters = state.withLock { state in
            state.openings += 1
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Waits until the network is back.
    ///
    /// - Parameters:
    ///   - openings: How often it had come back before it was found to be away.
    ///   - deadline: When to give up.
    ///   - time: The clock.
    /// - Returns: Whether the network came back.
    package func wait(since openings: UInt64, until deadline: MonotonicTime, on time: any TimeSource) async -> Bool {
        let waiter = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        let timer = time.schedule(at: deadline) { self.release(waiter) }
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let mayWait = state.withLock { state in
                    guard state.openings == openings, !Task.isCancelled, time.now < deadline else { return false }
                    state.waiters[waiter] = continuation
                    return true
                }
                if !mayWait { continuation.resume() }
            }
        } onCancel: {
            release(waiter)
        }
        timer.cancel()
        return state.withLock { $0.openings != openings } && !Task.isCancelled
    }

    private func release(_ waiter: UInt64) {
        state.withLock { $0.waiters.removeValue(forKey: waiter) }?.resume()
    }
}
