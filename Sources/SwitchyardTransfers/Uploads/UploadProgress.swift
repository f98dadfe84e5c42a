import Dispatch
import SwitchyardClient
import SwitchyardServices
import SwitchyardTransport

/// Passes the progress of an upload on: in order, never back when an attempt begins anew, and to its exact end.
final class UploadProgress: Sendable {
    private struct State {
        var completed: Int64 = -1
        var total: Int64?
    }

    private let queue: DispatchQueue
    private let handler: TransferProgressHandler
    private let state = Locked(State())

    /// - Parameters:
    ///   - queue: A serial queue on which `handler` is called.
    ///   - handler: Told about bytes sent, and bytes received of the answer.
    init(on queue: DispatchQueue, handler: @escaping TransferProgressHandler) {
        self.queue = queue
        self.handler = handler
    }

    /// Passes the progress on to a monitor as well.
    convenience init(
        on queue: DispatchQueue,
        _ monitor: TransferMonitor?,
        _ handler: @escaping TransferProgressHandler
    ) {
        self.init(on: queue) { report in
            monitor?.update(report, of: .upload)
            handler(report)
        }
    }

    /// Takes the report of one attempt.
    func report(_ report: TransferProgress) {
        guard report.direction == .upload else { return queue.async { [handler] in handler(report) } }
        state.withLock { state in
            guard report.completed > state.completed else { return }
            state.completed = report.completed
            state.total = report.total ?? state.total
            // Entered under the lock, so that reports of two attempts cannot overtake each other; called outside.
            let next = TransferProgress(direction: .upload, completed: state.completed, total: state.total)
            queue.async { [handler] in handler(next) }
        }
    }

    /// Reports that everything was sent, unless that was done.
    func finish(length: Int64?) {
        state.withLock { state in
            let end = max(length ?? state.completed, state.completed, 0)
            guard state.completed < end || state.total != end else { return }
            state.completed = end
            state.total = end
            let last = TransferProgress(direction: .upload, completed: end, total: end)
            queue.async { [handler] in handler(last) }
        }
    }

    /// Waits until everything reported has been passed on.
    func drain() async {
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }
}
