package import SwitchyardServices

/// A client's list of requests that wait for the network because this machine is offline.
package final class ConnectivityGate: Sendable {
    private struct State {
        var waiters: [UInt64: UnsafeContinuation<Void, Never>] = [:]
        var lastWaiter: UInt64 = 0
        /// The number of times that the network has come back.
        var openings: UInt64 = 0
    }

    private let state = Locked(State())

    /// The number of waiting requests.
    var waiting: Int { state.withLock { $0.waiters.count } }

    /// The number of times that the network has come back.
    package var openings: UInt64 { state.withLock { $0.openings } }

    /// Resumes all waiting requests.
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
    ///   - openings: The number of times that the network had come back when it was found to be offline.
    ///   - deadline: The time at which to stop waiting.
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
