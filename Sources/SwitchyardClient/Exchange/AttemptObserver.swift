import SwitchyardServices

/// Told about the attempts of an exchange, in the order in which they are made; must not block.
typealias AttemptObserver = @Sendable (AttemptEvent) -> Void

/// Something that happened to an attempt.
enum AttemptEvent: Sendable {
    case sent(AttemptRecord)
    case redirected(AttemptRecord, RedirectStep)
    case ended(AttemptRecord, Result<HTTPResponse, TransportError>)
}

extension Exchange {
    /// Hands a request of an attempt to the transport, and tells the observer if there is one.
    func send(
        _ request: HTTPRequest,
        of index: Int,
        to server: Server.ID?,
        at now: MonotonicTime,
        completion: @escaping @Sendable (Result<HTTPResponse, TransportError>) -> Void
    ) -> any TransportTask {
        guard let observer else { return core.transport.start(request, progress: progress, completion: completion) }
        let record = AttemptRecord(number: index + 1, server: server, request: request, startedAt: now)
        let attempt = WatchedAttempt(record, observer)
        observer(.sent(record))
        let task = core.transport.start(request, progress: progress) { result in
            attempt.tell(result)
            completion(result)
            attempt.letGo()
        }
        attempt.hold(task)
        return attempt
    }
}

/// An attempt that somebody watches: its end is told once, by the transport or by what ended the request.
///
/// A transport may take its time to end what was cancelled, and the end of an attempt is not to be heard behind that of
/// its request.
final class WatchedAttempt: TransportTask {
    private struct State {
        var task: (any TransportTask)?
        /// Whether nothing more is told.
        var isOver = false
        /// Whether the transport is done.
        var hasEnded = false
    }

    private let record: AttemptRecord
    private let observer: AttemptObserver
    private let state = Locked(State())

    init(_ record: AttemptRecord, _ observer: @escaping AttemptObserver) {
        self.record = record
        self.observer = observer
    }

    /// Keeps the handle of the transfer until that has ended.
    func hold(_ task: any TransportTask) {
        state.withLock { if !$0.hasEnded { $0.task = task } }
    }

    /// Gives the handle back: it may keep its completion for good, and with it this attempt and the whole request.
    func letGo() {
        // Behind the lock, since what goes with the handle is the transport's own.
        let task = state.withLock { state in
            state.hasEnded = true
            defer { state.task = nil }
            return state.task
        }
        withExtendedLifetime(task) {}
    }

    /// Tells the end; under the lock, so that nothing which comes after it is told before.
    ///
    /// The observer puts it into a queue and calls nobody: see ``ObserverQueue``.
    func tell(_ result: Result<HTTPResponse, TransportError>) {
        state.withLock { state in
            guard !state.isOver else { return }
            state.isOver = true
            observer(.ended(record, result))
        }
    }

    /// Ends the attempt; nothing more is told of it.
    func cancel() {
        let task = state.withLock { state in
            state.isOver = true
            return state.task
        }
        task?.cancel()
    }
}
