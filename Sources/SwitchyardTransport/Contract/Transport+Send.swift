public import SwitchyardHTTP
import SwitchyardServices

extension Transport {
    /// Performs one exchange and waits for the response, or for its head when the delivery is a stream.
    ///
    /// Cancelling the task cancels the exchange, at whatever point it is.
    ///
    /// - Parameters:
    ///   - request: What to send.
    ///   - progress: Told about bytes sent and received; `nil` costs nothing.
    /// - Returns: The response, whatever its status.
    /// - Throws: ``TransportError``; ``TransportError/Kind/cancelled`` when the task is cancelled.
    public func send(
        _ request: HTTPRequest,
        progress: TransferProgressHandler? = nil
    ) async throws(TransportError) -> HTTPResponse {
        guard !Task.isCancelled else { throw TransportError.cancelledBeforeStart }
        let handoff = SendHandoff()
        let result = await withTaskCancellationHandler {
            await withUnsafeContinuation { (continuation: SendHandoff.Waiter) in
                handoff.wait(continuation)
                let task = start(request, progress: progress) { handoff.finish($0) }
                handoff.started(task)
            }
        } onCancel: {
            handoff.cancel()
        }
        return try result.get()
    }
}

/// Brings the caller's continuation, the running exchange and a cancel together, in whatever order they come.
private struct SendHandoff: Sendable {
    typealias Outcome = Result<HTTPResponse, TransportError>
    typealias Waiter = UnsafeContinuation<Outcome, Never>

    private struct State {
        var waiter: Waiter?
        var task: (any TransportTask)?
        var isCancelled = false
        var isFinished = false
    }

    private let state = Locked(State())

    func wait(_ waiter: Waiter) {
        state.withLock { $0.waiter = waiter }
    }

    /// Keeps the handle for a cancel to come, or uses it for one that came already.
    func started(_ task: any TransportTask) {
        let cancelsNow = state.withLock { state in
            guard !state.isFinished else { return false }
            state.task = task
            return state.isCancelled
        }
        if cancelsNow { task.cancel() }
    }

    func cancel() {
        let task = state.withLock { state in
            state.isCancelled = true
            return state.task
        }
        task?.cancel()
    }

    /// Resumes the caller; only the first outcome finds it waiting, so that it is resumed once.
    func finish(_ outcome: Outcome) {
        let waiter = state.withLock { state in
            state.isFinished = true
            state.task = nil
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume(returning: outcome)
    }
}

extension TransportError {
    static let cancelledBeforeStart = TransportError(
        .cancelled,
        message: "cancelled before it started",
        mayHaveBeenSent: false
    )
}
