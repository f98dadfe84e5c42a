import SwitchyardServices

/// Distributes events to listeners.
///
/// If there are no listeners, sending an event only takes a lock for a short time.
package final class EventHub<Event: Sendable>: Sendable {
    private struct State {
        var listeners: [UInt64: AsyncStream<Event>.Continuation] = [:]
        var lastListener: UInt64 = 0
        var isFinished = false
    }

    private let state = Locked(State())

    /// Creates a hub without listeners.
    package init() {}

    /// Returns a stream of all events after this call.
    ///
    /// If the stream's reader is slow, the stream buffers the newest events.
    package func stream(bufferingNewest limit: Int) -> AsyncStream<Event> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Event.self,
            bufferingPolicy: .bufferingNewest(limit)
        )
        let listener: UInt64? = state.withLock { state in
            guard !state.isFinished else { return nil }
            state.lastListener += 1
            state.listeners[state.lastListener] = continuation
            return state.lastListener
        }
        guard let listener else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in self?.remove(listener) }
        return stream
    }

    /// Sends an event to all listeners under the lock.
    ///
    /// The lock gives all listeners the same order of events. It is held only briefly, because a stream only buffers
    /// the event.
    package func send(_ event: Event) {
        state.withLock { state in
            for listener in state.listeners.values { listener.yield(event) }
        }
    }

    /// Ends all streams; later events are dropped.
    package func finish() {
        let listeners = state.withLock { state in
            state.isFinished = true
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.finish() }
    }

    private func remove(_ listener: UInt64) {
        _ = state.withLock { $0.listeners.removeValue(forKey: listener) }
    }
}
