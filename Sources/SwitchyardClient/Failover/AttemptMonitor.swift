import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTransport

/// Receives the attempts of a round in the order in which they are made; must not block.
typealias AttemptObserver = @Sendable (AttemptEvent) -> Void

/// An event of an attempt.
enum AttemptEvent: Sendable {
    case sent(AttemptRecord)
    case redirected(AttemptRecord, RedirectStep)
    case ended(AttemptRecord, Result<HTTPResponse, TransportError>)
}

/// The observer of a round's attempts, and a carrier that may replace the transport.
final class AttemptMonitor: Sendable {
    let tell: AttemptObserver
    private let id: RequestID
    private let detours: [ClientObserver.Detour]

    init(of id: RequestID, detours: [ClientObserver.Detour], tell: @escaping AttemptObserver) {
        self.id = id
        self.detours = detours
        self.tell = tell
    }

    /// Returns the transport that carries a request to a server.
    func carrier(to server: Server.ID?, usually transport: any Transport) -> any Transport {
        detours.reduce(transport) { $1(id, server, $0) }
    }
}

extension Failover {
    /// Passes a request of an attempt to the transport, and notifies the observer if there is one.
    ///
    /// - Returns: The handle of the transfer; `nil` if the request ended before it could be observed.
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
        let attempt = MonitoredAttempt(record, watch.tell)
        // The attempt is attached before it starts, so that the code that ends the request can report the end of the
        // attempt.
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

/// An observed attempt: its start and its end are reported once each, the end by the transport or by the code that
/// ended the request.
///
/// A transport may end a cancelled transfer late, and the end of an attempt must not be reported after that of its
/// request.
final class MonitoredAttempt: TransportTask {
    private struct State {
        var task: (any TransportTask)?
        var hasBegun = false
        /// Whether nothing more is reported.
        var isOver = false
        var isCancelled = false
        /// Whether the transport has called its completion.
        var hasEnded = false
    }

    private let record: AttemptRecord
    private let observer: AttemptObserver
    private let state = Locked(State())

    init(_ record: AttemptRecord, _ observer: @escaping AttemptObserver) {
        self.record = record
        self.observer = observer
    }

    /// Reports the start; returns `false` if the attempt was cancelled before, and nothing is sent or reported.
    func begin() -> Bool {
        state.withLock { state in
            guard !state.isOver else { return false }
            state.hasBegun = true
            observer(.sent(record))
            return true
        }
    }

    /// Stores the handle of the transfer until the transfer has ended, or cancels it if the attempt was cancelled
    /// before.
    func hold(_ task: any TransportTask) {
        let isCancelled = state.withLock { state in
            if !state.hasEnded { state.task = task }
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
    }

    /// Releases the handle of the transfer.
    ///
    /// The handle may retain its completion forever, and with the completion this attempt and the whole request.
    func letGo() {
        // Released after the lock, because releasing the handle may run code of the transport.
        let task = state.withLock { state in
            state.hasEnded = true
            defer { state.task = nil }
            return state.task
        }
        withExtendedLifetime(task) {}
    }

    /// Reports the end under the lock, so that no later event is reported before it.
    ///
    /// The observer takes the lock of its flow, queues the event and calls no other code: see ``ObserverQueue``.
    func tell(_ result: Result<HTTPResponse, TransportError>) {
        state.withLock { state in
            guard !state.isOver else { return }
            state.isOver = true
            if state.hasBegun { observer(.ended(record, result)) }
        }
    }

    /// Ends the attempt; nothing more is reported about it.
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
