import SwitchyardHTTP
import SwitchyardServices

/// An inbox that delivers messages one by one, in order, to the calls of ``next()`` that wait for them.
///
/// The inbox requests one message at a time from the connection, and only while a call waits. If the call is cancelled,
/// the request stays active, and the inbox keeps the message for the next call. A cancellation therefore loses no
/// message.
final class MessageInbox<Message: Sendable>: Sendable {
    typealias Outcome = Result<Message, TransportError>

    private struct Waiter {
        var id: UInt64
        var continuation: CheckedContinuation<Outcome, Never>
    }

    private struct State {
        /// A message that arrived after the call that requested it was cancelled; at most one message is kept.
        var kept: Message?
        var waiters: [Waiter] = []
        /// Whether a request for a message is active.
        var isAsked = false
        var end: TransportError?
        var lastID: UInt64 = 0
    }

    private let state = Locked(State())
    private let ask: @Sendable (MessageInbox) -> Void

    /// Creates an empty inbox.
    ///
    /// - Parameter ask: A closure that requests the next message from the connection. The message must be passed to
    ///   ``take(_:)``.
    init(ask: @escaping @Sendable (MessageInbox) -> Void) {
        self.ask = ask
    }

    /// The number of callers that wait for a message.
    var waiterCount: Int { state.withLock { $0.waiters.count } }

    /// Waits for the next message.
    ///
    /// - Throws: The ``TransportError`` that ended the connection. Its kind is
    ///   ``/SwitchyardServices/WireFailure/cancelled`` if the task is cancelled.
    func next() async throws(TransportError) -> Message {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { wait(Waiter(id: id, continuation: $0)) }
        } onCancel: {
            giveUp(id)
        }
        return try outcome.get()
    }

    private func wait(_ waiter: Waiter) {
        let (outcome, asks): (Outcome?, Bool) = state.withLock { state in
            // If the task is cancelled after this check, `giveUp` removes the waiter from the list.
            if Task.isCancelled { return (.failure(.waitCancelled), false) }
            if let message = state.kept {
                state.kept = nil
                return (.success(message), false)
            }
            if let end = state.end { return (.failure(end), false) }
            state.waiters.append(waiter)
            defer { state.isAsked = true }
            return (nil, !state.isAsked)
        }
        if let outcome { waiter.continuation.resume(returning: outcome) }
        if asks { ask(self) }
    }

    private func giveUp(_ id: UInt64) {
        let waiter = state.withLock { state in
            state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0) }
        }
        waiter?.continuation.resume(returning: .failure(.waitCancelled))
    }

    /// Accepts the result of a request: a message, or a failure that ends the messages.
    func take(_ outcome: Outcome) {
        let (served, asks): ([Waiter], Bool) = state.withLock { state in
            state.isAsked = false
            switch outcome {
            case .failure(let error):
                state.end = error
                defer { state.waiters = [] }
                return (state.waiters, false)
            case .success(let message):
                guard !state.waiters.isEmpty else {
                    state.kept = message
                    return ([], false)
                }
                let first = state.waiters.removeFirst()
                state.isAsked = !state.waiters.isEmpty
                return ([first], state.isAsked)
            }
        }
        for waiter in served { waiter.continuation.resume(returning: outcome) }
        if asks { ask(self) }
    }
}

extension TransportError {
    fileprivate static let waitCancelled = TransportError(
        .cancelled,
        message: "the task that waits for a message was cancelled"
    )
}
