import Dispatch
import SwitchyardClient
import SwitchyardServices
import SwitchyardTransport

/// The progress of an upload over all attempts.
///
/// The reports are in order, never decrease when another attempt starts, and end with the exact total.
final class UploadProgress: Sendable {
    private struct State {
        var completed: Int64 = -1
        var total: Int64?
    }

    private let queue: DispatchQueue
    private let handler: TransferProgressHandler
    private let state = Locked(State())

    /// - Parameters:
    ///   - queue: The serial queue on which `handler` is called.
    ///   - handler: A closure that receives the number of bytes sent and, separately, the number of response bytes
    ///     received.
    init(on queue: DispatchQueue, handler: @escaping TransferProgressHandler) {
        self.queue = queue
        self.handler = handler
    }

    /// Creates a progress that reports to the handler and to a monitor.
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

    /// Adds a report of the current attempt.
    func report(_ report: TransferProgress) {
        guard report.direction == .upload else { return queue.async { [handler] in handler(report) } }
        state.withLock { state in
            guard report.completed > state.completed else { return }
            state.completed = report.completed
            state.total = report.total ?? state.total
            // The report is enqueued under the lock so that the reports of two attempts keep their order. The handler
            // itself runs outside the lock.
            let next = TransferProgress(direction: .upload, completed: state.completed, total: state.total)
            queue.async { [handler] in handler(next) }
        }
    }

    /// Reports that all bytes were sent, unless that was already reported.
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

    /// Waits until the handler has received all reports.
    func drain() async {
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }
}
