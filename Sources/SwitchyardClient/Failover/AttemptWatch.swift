import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTransport

/// Told about the attempts of a round, in the order in which they are made; must not block.
typealias AttemptObserver = @Sendable (AttemptEvent) -> Void

/// Something that happened to an attempt.
enum AttemptEvent: Sendable {
    case sent(AttemptRecord)
    case redirected(AttemptRecord, RedirectStep)
    case ended(AttemptRecord, Result<HTTPResponse, TransportError>)
}

/// Who watches the attempts of a round, and what may carry them in the place of the transport.
final class AttemptWatch: Sendable {
    let tell: AttemptObserver
    private let id: RequestID
    private let detours: [Onlooker.Detour]

    init(of id: RequestID, detours: [Onlooker.Detour], tell: @escaping AttemptObserver) {
        self.id = id
        self.detours = detours
        self.tell = tell
    }

    /// What carries a request to a server.
    func carrier(to server: Server.ID?, usually transport: any Transport) -> any Transport {
        detours.reduce(transport) { $1(id, server, $0) }
    }
}

extension Failover {
    /// Hands a request of an attempt to the transport, and tells the observer if there is one.
    ///
    /// - Returns: The handle of the transfer; `nil` when the request has ended before it could be watched.
    func send(
        _ request: HTTPRequest,
        of index: Int,
        _ activity: BodyActivity? = nil,
        hop: Int = 0,
        to server: Server.ID?,
        at now: MonotonicTime,
        completion: @escaping @Sendable (Result<HTTPResponse, TransportError>) -> Void
    ) -> (any TransportTask)? {
        let progress = if let activity { activity.watching(self.progress) } else { self.progress }
        guard let watch else { return core.transport.start(request, progress: progress, completion: completion) }
        let record = AttemptRecord(number: index + 1, server: server, request: request, startedAt: now)
        let attempt = WatchedAttempt(record, watch.tell)
        // In reach before it starts, so that whatever ends the request meanwhile can tell its end.
        let isWanted = state.withLock { $0.attach(attempt, to: index, hop: hop) } == .waiting
        guard isWanted, attempt.begin() else { return nil }
        let carrier = watch.carrier(to: server, usually: core.transport)
        let task = carrier.start(request, progress: progress) { result in
            attempt.tell(result)
            completion(result)
            attempt.letGo()
        }
        attempt.hold(task)
        return attempt
    }
}

/// An attempt that somebody watches: its beginning and its end are told once each, the end by the transport or by what
/// ended the request.
///
/// A transport may take its time to end what was cancelled, and the end of an attempt is not to be heard behind that of
/// its request.
final class WatchedAttempt: TransportTask {
    private struct State {
        var task: (any TransportTask)?
        var hasBegun = false
        /// Whether nothing more is told.
        var isOver = false
        var isCancelled = false
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

    /// Tells the beginning; `false` when the attempt was cancelled before, and nothing is to be sent or told.
    func begin() -> Bool {
        state.withLock { state in
            guard !state.isOver else { return false }
            state.hasBegun = true
            observer(.sent(record))
            return true
        }
    }

    /// Keeps the handle of the transfer until that has ended; cancels it if the attempt was cancelled before.
    func hold(_ task: any TransportTask) {
        let isCancelled = state.withLock { state in
            if !state.hasEnded { state.task = task }
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
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
    /// The observer takes the lock of its flow, puts the event into a queue and calls nobody: see ``ObserverQueue``.
    func tell(_ result: Result<HTTPResponse, TransportError>) {
        state.withLock { state in
            guard !state.isOver else { return }
            state.isOver = true
            if state.hasBegun { observer(.ended(record, result)) }
        }
    }

    /// Ends the attempt; nothing more is told of it.
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
