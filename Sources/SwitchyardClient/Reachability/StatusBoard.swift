import SwitchyardServices

/// A status, and those who want to hear of its changes.
///
/// A base for providers: set ``status`` whenever something is learnt, and hand ``updates()`` on.
public final class StatusBoard: Sendable {
    private struct State {
        var status: ReachabilityStatus
        var listeners: [UInt64: AsyncStream<ReachabilityStatus>.Continuation] = [:]
        var lastListener: UInt64 = 0
    }

    private let state: Locked<State>

    /// Creates a board.
    public init(_ status: ReachabilityStatus = .unknown) {
        state = Locked(State(status: status))
    }

    deinit {
        for listener in state.withLock({ $0.listeners }).values { listener.finish() }
    }

    /// The status; setting it tells those who listen, if it is another one.
    public var status: ReachabilityStatus {
        get { state.withLock { $0.status } }
        set {
            state.withLock { state in
                guard state.status != newValue else { return }
                state.status = newValue
                // Under the lock, so that changes are heard in their order; a stream only keeps what it is given.
                for listener in state.listeners.values { listener.yield(newValue) }
            }
        }
    }

    /// The present status and every change from now on; of those that were not read in time, the newest.
    public func updates() -> AsyncStream<ReachabilityStatus> {
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
