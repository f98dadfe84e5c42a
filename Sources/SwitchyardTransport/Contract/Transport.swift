import Dispatch
public import SwitchyardHTTP
import SwitchyardServices

/// The boundary between Switchyard and the network.
///
/// A transport performs exchanges of one request and one response.
///
/// A transport only transfers bytes. It does not follow redirects, store cookies, retry or cache. It returns every
/// response as received, including a 301 or a 503. Any thread may call it.
///
/// ### Write your own
/// Implement ``start(_:progress:completion:)`` so that
/// 1. `completion` is called exactly once, on any thread, even after ``TransportTask/cancel()``;
/// 2. cancelling at any moment (before the first byte, in the middle of the body, after the end) is safe, and ends an
///    unfinished exchange with ``/SwitchyardServices/WireFailure/cancelled``;
/// 3. the timeouts of the request are enforced.
public protocol Transport: Sendable {
    /// Starts an exchange and returns immediately.
    ///
    /// - Parameters:
    ///   - request: The request. If a transport does not support one of its settings, the exchange fails with
    ///     ``/SwitchyardServices/WireFailure/unsupported``. A transport never ignores a setting.
    ///   - progress: A closure that receives the number of bytes sent and received, in order, on a thread of the
    ///     transport. If `nil`, progress is not measured.
    ///   - completion: A closure that is called once with the response or the failure. With
    ///     `HTTPRequest.Delivery.stream`, it is called when the head has arrived, and the body follows in
    ///     ``/SwitchyardHTTP/HTTPResponse/Body/stream(_:)``.
    /// - Returns: A handle that cancels the exchange.
    func start(
        _ request: HTTPRequest,
        progress: TransferProgressHandler?,
        completion: @escaping @Sendable (Result<HTTPResponse, TransportError>) -> Void
    ) -> any TransportTask

    /// Makes later requests use new connections. Active requests continue on their connections.
    ///
    /// The client calls this method when the network path changes, because connections over the old path may never
    /// respond. The default implementation does nothing, which is right for a transport that keeps no connections.
    func retireConnections()

    /// Shuts the transport down: active exchanges and all later requests end with `TransportError.Kind.closed`.
    ///
    /// A second call has no effect. A transport that is released without a shutdown closes its connections itself.
    func shutdown()
}

extension Transport {
    /// By default, does nothing.
    public func retireConnections() {}
}

/// A started exchange.
public protocol TransportTask: Sendable {
    /// Ends the exchange with ``/SwitchyardServices/WireFailure/cancelled``, unless it has ended already.
    func cancel()

    /// Ends the exchange as ``cancel()`` does, and returns whether certainly no part of the request has been or will be
    /// sent.
    ///
    /// If `true`, the caller may send a write request to another server, or report that the request was not executed.
    /// The default implementation returns `false`.
    func withdraw() -> Bool
}

extension TransportTask {
    /// Cancels the exchange.
    ///
    /// The result is `false`, because part of the request may have been sent.
    public func withdraw() -> Bool {
        cancel()
        return false
    }
}

/// A closure that receives the progress of one exchange.
public typealias TransferProgressHandler = @Sendable (TransferProgress) -> Void

/// The progress of one direction of an exchange.
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
    /// The number of bytes transferred so far.
    ///
    /// The number never decreases between reports of one direction.
    public var completed: Int64
    /// The total number of bytes, or `nil` while it is unknown.
    public var total: Int64?

    /// Creates a report.
    public init(direction: Direction, completed: Int64, total: Int64?) {
        self.direction = direction
        self.completed = completed
        self.total = total
    }

    /// The completed fraction of the transfer, 0 to 1, or `nil` while the total is unknown.
    ///
    /// For an empty body, the fraction is 1 from the start.
    public var fraction: Double? {
        guard let total else { return nil }
        return total > 0 ? min(1, Double(completed) / Double(total)) : 1
    }
}

extension Transport {
    /// Performs one exchange and waits for the response, or for its head if the delivery is a stream.
    ///
    /// Cancelling the task cancels the exchange at any point.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - progress: A closure that receives the number of bytes sent and received. If `nil`, progress is not measured.
    /// - Returns: The response, whatever its status.
    /// - Throws: `TransportError`, of the kind `cancelled` if the task is cancelled.
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

/// Connects the task that waits for the response, the active exchange and a cancellation.
///
/// These three may arrive in any order.
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

    /// Stores the handle of the exchange.
    ///
    /// If the exchange has already been cancelled, cancels the handle.
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

    /// Resumes the waiting task with the first outcome.
    ///
    /// Later outcomes are ignored.
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
        message: "the request was cancelled before it started",
        mayHaveBeenSent: false
    )
}

/// The handle of an exchange that failed before it started.
struct RefusedExchange: TransportTask {
    /// Reports the failure asynchronously, because the calling code may hold a lock that the completion needs.
    init(
        _ error: TransportError,
        completion: @escaping @Sendable (Result<HTTPResponse, TransportError>) -> Void
    ) {
        DispatchQueue.global().async { completion(.failure(error)) }
    }

    func cancel() {}

    func withdraw() -> Bool { true }
}
