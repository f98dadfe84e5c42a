import SwitchyardHTTP
import SwitchyardServices

/// Hands messages on, one by one and in order, to those who wait for them.
///
/// The system is asked for one message at a time, and only while somebody waits. Who gives up leaves the question
/// standing: the message that answers it is kept for the next one who comes, so that a cancel loses none.
final class MessageInbox<Message: Sendable>: Sendable {
    typealias Outcome = Result<Message, TransportError>

    private struct Waiter {
        var id: UInt64
        var continuation: CheckedContinuation<Outcome, Never>
    }

    private struct State {
        /// What nobody waited for any more when it came; one message at most.
        var kept: Message?
        var waiters: [Waiter] = []
        /// Whether the system has been asked, and has not answered.
        var isAsked = false
        var end: TransportError?
        var lastID: UInt64 = 0
    }

    private let state = Locked(State())
    private let ask: @Sendable (MessageInbox) -> Void

    /// Creates an inbox that is empty.
    ///
    /// - Parameter ask: Asks the system for the next message, which it hands to ``take(_:)``.
    init(ask: @escaping @Sendable (MessageInbox) -> Void) {
        self.ask = ask
    }

    /// Waits for the next message.
    ///
    /// - Throws: ``TransportError`` that ended the messages; with ``TransportError/Kind/cancelled`` when the task is
    ///   cancelled.
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
            // A cancel after this look finds the waiter in its place.
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

    /// Takes the system's answer; a failure is the end.
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
    fileprivate static let waitCancelled = TransportError(.cancelled, message: "the reader gave up")
}
