import SwitchyardServices

/// A reachability status that notifies observers of its changes.
///
/// A ``ReachabilityProvider`` can be built with a broadcaster: the provider sets ``status`` whenever it changes, and
/// returns ``updates()`` to its observers.
package final class ReachabilityBroadcaster: Sendable {
    private struct State {
        var status: ReachabilityStatus
        var listeners: [UInt64: AsyncStream<ReachabilityStatus>.Continuation] = [:]
        var lastListener: UInt64 = 0
    }

    private let state: Locked<State>

    /// Creates a broadcaster with a status.
    package init(_ status: ReachabilityStatus = .unknown) {
        state = Locked(State(status: status))
    }

    deinit {
        for listener in state.withLock({ $0.listeners }).values { listener.finish() }
    }

    /// The current status.
    ///
    /// Setting a different status notifies the observers.
    package var status: ReachabilityStatus {
        get { state.withLock { $0.status } }
        set {
            state.withLock { state in
                guard state.status != newValue else { return }
                state.status = newValue
                // The streams are notified under the lock, so that changes arrive in order. A stream only buffers the
                // value.
                for listener in state.listeners.values { listener.yield(newValue) }
            }
        }
    }

    /// Returns a stream of the current status and every later change, which buffers the newest 16 values.
    package func updates() -> AsyncStream<ReachabilityStatus> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: ReachabilityStatus.self,
            bufferingPolicy: .bufferingNewest(16)
        )
        let listener = state.withLock { state in
            state.lastListener += 1
            state.listeners[state.lastListener] = continuation
            continuation.yield(state.status)
            return state.lastListener
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.listeners.removeValue(forKey: listener) }
        }
        return stream
    }
}
