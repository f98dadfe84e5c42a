public import SwitchyardAPI
import SwitchyardClient

/// The state of a request object and what hangs on it: a pure state machine behind the lock of ``APIRequest``.
struct RequestRecord<Value: Sendable> {
    typealias Outcome = Result<APIResponse<Value>, APIError>

    private enum Phase {
        case ready
        case running
        /// The outcome is decided, and those who come before the handlers are being called.
        case ending
        case ended(Outcome)
    }

    /// What follows from a resume.
    enum Step {
        case nothing
        case start
        case deliver(Outcome)
        /// Only the state has changed.
        case goOn
    }

    private var phase = Phase.ready
    private var isSuspended = false
    private var isCancelled = false
    private var hasAnnouncedStart = false
    private var held: Outcome?
    private var cancelCall: (@Sendable () -> Void)?
    var extras = RequestExtras<Value>()
    /// What took part in the request that has ended.
    private var leftExtras = RequestExtras<Value>()
    private var handlers = RequestHandlers<Value>()

    /// The state as the outside sees it.
    var state: RequestState {
        if isCancelled { return .cancelled }
        switch phase {
        case .ended, .ending: return .finished
        case .ready: return isSuspended ? .suspended : .initialized
        case .running: return isSuspended ? .suspended : .resumed
        }
    }

    /// What another request like this one needs, also after the end.
    var repeatedExtras: RequestExtras<Value> {
        if case .ended = phase { leftExtras } else { extras }
    }

    /// Whether the request was started and nothing has been decided.
    var isRunning: Bool {
        if case .running = phase { true } else { false }
    }

    /// The outcome, once it is there.
    var outcome: Outcome? {
        if case .ended(let outcome) = phase { outcome } else { nil }
    }

    mutating func resume() -> Step {
        switch phase {
        case .ready:
            isSuspended = false
            phase = .running
            return .start
        case .running where isSuspended:
            isSuspended = false
            defer { held = nil }
            return held.map(Step.deliver) ?? .goOn
        case .running, .ending, .ended:
            return .nothing
        }
    }

    mutating func suspend() -> Bool {
        switch phase {
        case .ready, .running:
            defer { isSuspended = true }
            return !isSuspended
        case .ending, .ended: return false
        }
    }

    /// Whether the call may begin; `false` when it was cancelled meanwhile.
    mutating func announceStart() -> Bool {
        guard case .running = phase else { return false }
        hasAnnouncedStart = true
        return true
    }

    /// Keeps how to cancel the call; `false` when the request wants it no more.
    mutating func attach(_ cancel: @escaping @Sendable () -> Void) -> Bool {
        guard case .running = phase else { return !isCancelled }
        cancelCall = cancel
        return true
    }

    /// Takes an answer; `nil` when it has to wait, or nobody wants it any more.
    mutating func answered(_ outcome: Outcome) -> Outcome? {
        guard case .running = phase else { return nil }
        cancelCall = nil
        guard isSuspended else { return outcome }
        held = outcome
        return nil
    }

    /// Decides the outcome; `nil` when it was decided before, or has to wait since the request was suspended meanwhile.
    mutating func beginEnding(with outcome: Outcome) -> RequestExtras<Value>? {
        guard case .running = phase else { return nil }
        guard !isSuspended else {
            held = outcome
            return nil
        }
        phase = .ending
        isCancelled = outcome.isCancellation
        return extras
    }

    /// Cancels; `nil` when the outcome is decided, otherwise what ends the call, which does nothing
    /// where no call is under way.
    mutating func cancel() -> (@Sendable () -> Void)? {
        switch phase {
        case .ending, .ended: return nil
        case .ready, .running:
            phase = .ending
            isCancelled = true
            held = nil
            defer { cancelCall = nil }
            return cancelCall ?? {}
        }
    }

    /// Whether the accessories have been told of the start.
    var wasAnnounced: Bool { hasAnnouncedStart }

    /// Ends, and hands over the handlers, each of which is called once.
    mutating func end(with outcome: Outcome) -> RequestHandlers<Value> {
        phase = .ended(outcome)
        isCancelled = outcome.isCancellation
        defer {
            handlers = RequestHandlers()
            leftExtras = extras
            leftExtras.progress = []
            extras = RequestExtras()
        }
        return handlers
    }

    /// Keeps a handler; the outcome instead when it is there already.
    mutating func add(
        _ handler: @escaping RequestHandlers<Value>.Handler,
        _ kind: RequestHandlers<Value>.Kind
    ) -> Outcome? {
        if let outcome { return outcome }
        handlers.add(handler, kind)
        return nil
    }
}

/// Where a request object stands.
///
///     initialized --resume--> resumed --answer--> finished
///          |    <--suspend-- / \ --suspend--> suspended --resume--> resumed
///          \_________________ cancel ________________ cancelled
public enum RequestState: String, Sendable, Hashable, CaseIterable {
    /// Made, and not started yet.
    case initialized
    /// Started and on its way.
    case resumed
    /// Held: one that was not started will not be sent, one that was will not report before it is resumed.
    case suspended
    /// Ended by a cancel, for good.
    case cancelled
    /// Ended with a value or an error, for good.
    case finished

    /// Whether the request has ended.
    public var isTerminal: Bool { self == .cancelled || self == .finished }
}

/// How a member of a group ended.
public enum MemberOutcome: Sendable, Hashable {
    /// With a value.
    case succeeded
    /// With an error.
    case failed(APIError.Reason)
    /// By a cancel, its own or the group's.
    case cancelled

    /// Whether it ended with a value.
    public var isSuccess: Bool { self == .succeeded }
}
