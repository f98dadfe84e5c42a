import Dispatch
public import SwitchyardHTTP
import SwitchyardServices

/// The seam between Switchyard and the network: performs one exchange of one request and one response.
///
/// A transport carries bytes and nothing else. It does not follow redirects, keep cookies, retry or cache; what comes
/// back, a 301 or a 503 included, is handed up as it is. Any thread may call it.
///
/// ### Write your own
/// Implement ``start(_:progress:completion:)`` so that
/// 1. `completion` is called exactly once, on any thread, also after ``TransportTask/cancel()``;
/// 2. a cancel at any moment (before the first byte, in mid-body, after the end) is safe, and ends an unfinished
///    exchange with ``/SwitchyardHTTP/TransportError/Kind/cancelled``;
/// 3. the timeouts of the request hold.
public protocol Transport: Sendable {
    /// Starts an exchange and returns at once.
    ///
    /// - Parameters:
    ///   - request: What to send. A transport refuses what it cannot carry out with
    ///     ``/SwitchyardHTTP/TransportError/Kind/unsupported``, it never ignores it.
    ///   - progress: Told about bytes sent and received, in order, from a thread of the transport; `nil` costs nothing.
    ///   - completion: Called once with the response or the failure. With `HTTPRequest.Delivery.stream` it is called
    ///     when the head has arrived, and the body follows in ``/SwitchyardHTTP/HTTPResponse/Body/stream(_:)``.
    /// - Returns: A handle that cancels the exchange.
    func start(
        _ request: HTTPRequest,
        progress: TransferProgressHandler?,
        completion: @escaping @Sendable (Result<HTTPResponse, TransportError>) -> Void
    ) -> any TransportTask

    /// Has the requests from now on go out on new connections; those under way go on, on theirs.
    ///
    /// Asked for when the way to the network is another one: what was connected over the old one may never answer. By
    /// default nothing happens, which is right for a transport that keeps no connections.
    func retireConnections()

    /// Ends the transport: what is in flight ends with `TransportError.Kind.closed`, as does every later request.
    ///
    /// Calling it again is harmless. A transport that is released without it cleans up by itself.
    func shutdown()
}

extension Transport {
    /// Does nothing.
    public func retireConnections() {}
}

/// An exchange that has been started.
public protocol TransportTask: Sendable {
    /// Ends the exchange with ``/SwitchyardHTTP/TransportError/Kind/cancelled`` unless it has ended already.
    func cancel()

    /// Ends the exchange as ``cancel()`` does, and says whether it is certain that nothing of the request has been sent,
    /// nor will be.
    ///
    /// Whoever is told so may send a write somewhere else, or say that nothing was done. By default nothing is certain.
    func withdraw() -> Bool
}

extension TransportTask {
    /// Cancels, and knows nothing for certain.
    public func withdraw() -> Bool {
        cancel()
        return false
    }
}

/// Told about the progress of one exchange.
public typealias TransferProgressHandler = @Sendable (TransferProgress) -> Void

/// How far one direction of an exchange has come.
public struct TransferProgress: Sendable, Hashable {
    /// The direction of the bytes.
    public enum Direction: Sendable, Hashable {
        /// The request's body.
        case upload
        /// The response's body.
        case download
    }

    /// The direction of the bytes.
    public var direction: Direction
    /// Bytes moved so far; never less than in an earlier report of the same direction.
    public var completed: Int64
    /// Bytes in all; `nil` while unknown.
    public var total: Int64?

    /// Creates a report.
    public init(direction: Direction, completed: Int64, total: Int64?) {
        self.direction = direction
        self.completed = completed
        self.total = total
    }

    /// The share done, 0 to 1; `nil` while the total is unknown.
    ///
    /// An empty body is done from the start.
    public var fraction: Double? {
        guard let total else { return nil }
        return total > 0 ? min(1, Double(completed) / Double(total)) : 1
    }
}

extension Transport {
    /// Performs one exchange and waits for the response, or for its head when the delivery is a stream.
    ///
    /// Cancelling the task cancels the exchange, at whatever point it is.
    ///
    /// - Parameters:
    ///   - request: What to send.
    ///   - progress: Told about bytes sent and received; `nil` costs nothing.
    /// - Returns: The response, whatever its status.
    /// - Throws: `TransportError`; of the kind `cancelled` when the task is cancelled.
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

/// An exchange that has failed before there was anything to cancel.
struct RefusedExchange: TransportTask {
    /// Tells of the failure, not from within this call: the caller may hold what its completion needs.
    init(
        _ error: TransportError,
        completion: @escaping @Sendable (Result<HTTPResponse, TransportError>) -> Void
    ) {
        DispatchQueue.global().async { completion(.failure(error)) }
    }

    func cancel() {}

    func withdraw() -> Bool { true }
}
