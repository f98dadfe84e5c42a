import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTransport

/// A closure that receives the events of the attempts of one ``Failover`` in order.
///
/// The closure must not block.
typealias AttemptObserver = @Sendable (DispatchEvent.Kind) -> Void

/// Notifies an observer of the attempts of one ``Failover``.
///
/// An attached ``ClientObserver`` can also replace the transport.
final class AttemptMonitor: Sendable {
    let tell: AttemptObserver
    private let id: RequestID
    private let detours: [ClientObserver.Detour]

    init(of id: RequestID, detours: [ClientObserver.Detour], tell: @escaping AttemptObserver) {
        self.id = id
        self.detours = detours
        self.tell = tell
    }

    /// Returns the transport for a request to a server: `transport`, or the observer's replacement.
    func carrier(to server: Server.ID?, usually transport: any Transport) -> any Transport {
        detours.reduce(transport) { $1(id, server, $0) }
    }
}

/// An attempt whose start and end are reported to an observer, once each.
///
/// The end is reported either by the transport or by the code that ends the request. A transport may end a cancelled
/// transfer late, but the end of an attempt must be reported before the end of its request.
final class MonitoredAttempt: TransportTask {
    private struct State {
        var task: (any TransportTask)?
        var hasBegun = false
        /// Whether the end has been reported, so that no further event is reported.
        var isOver = false
        var isCancelled = false
        /// Whether the transport has called the completion of the transfer.
        var hasEnded = false
    }

    private let record: AttemptRecord
    private let observer: AttemptObserver
    private let state = Locked(State())

    init(_ record: AttemptRecord, _ observer: @escaping AttemptObserver) {
        self.record = record
        self.observer = observer
    }

    /// Reports the start of the attempt.
    ///
    /// If the attempt has been cancelled, nothing is reported and the result is `false`.
    func begin() -> Bool {
        state.withLock { state in
            guard !state.isOver else { return false }
            state.hasBegun = true
            observer(.attemptSent(record))
            return true
        }
    }

    /// Stores the handle of the transfer until the transfer has ended.
    ///
    /// If the attempt has been cancelled, this method cancels the transfer.
    func hold(_ task: any TransportTask) {
        let isCancelled = state.withLock { state in
            if !state.hasEnded { state.task = task }
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
    }

    /// Releases the handle of the transfer.
    ///
    /// A transport's handle may retain its completion forever. The completion retains this attempt and the whole
    /// request.
    func letGo() {
        // The handle is released after the lock, because releasing it may run code of the transport.
        let task = state.withLock { state in
            state.hasEnded = true
            defer { state.task = nil }
            return state.task
        }
        withExtendedLifetime(task) {}
    }

    /// Reports the end of the attempt under the lock, so that no later event is reported before the end.
    ///
    /// Calling the observer under the lock is safe. The observer only takes the lock of its ``RequestFlow`` and
    /// queues the event, see ``ObserverQueue``.
    func tell(_ result: Result<HTTPResponse, TransportError>) {
        state.withLock { state in
            guard !state.isOver else { return }
            state.isOver = true
            if state.hasBegun { observer(.attemptEnded(record, result)) }
        }
    }

    /// Cancels the transfer.
    ///
    /// No further event of the attempt is reported.
    func cancel() { _ = withdraw() }

    func withdraw() -> Bool {
        let (task, hasBegun) = state.withLock { state in
            state.isOver = true
            state.isCancelled = true
            return (state.task, state.hasBegun)
        }
        return task?.withdraw() ?? !hasBegun
    }
}
