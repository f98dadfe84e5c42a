public import SwitchyardAPI
import SwitchyardClient

/// A pure state machine for the state and handlers of a request object.
///
/// ``APIRequest`` protects it with its lock.
struct RequestRecord<Value: Sendable> {
    typealias Outcome = Result<APIResponse<Value>, APIError>

    private enum Phase {
        case ready
        case running
        /// The outcome is decided, but the handlers have not been called yet.
        case ending
        case ended(Outcome)
    }

    /// The step that `APIRequest.resume()` must take.
    enum Step {
        case nothing
        case start
        case deliver(Outcome)
        /// There is nothing to do, because only the state has changed.
        case goOn
    }

    private var phase = Phase.ready
    private var isSuspended = false
    private var isCancelled = false
    /// Whether a call that may change something on a server has been made.
    private(set) var mayHaveTakenEffect = false
    private var hasAnnouncedStart = false
    private var held: Outcome?
    private var cancelCall: (@Sendable () -> Void)?
    var extras = RequestExtras<Value>()
    /// The observers, hooks and filters that remain for ``APIRequest/repeated()`` after the request has ended.
    private var leftExtras = RequestExtras<Value>()
    private var handlers = RequestHandlers<Value>()

    /// The public state of the request.
    var state: RequestState {
        if isCancelled { return .cancelled }
        switch phase {
        case .ended, .ending: return .finished
        case .ready: return isSuspended ? .suspended : .initialized
        case .running: return isSuspended ? .suspended : .resumed
        }
    }

    /// The extras for ``APIRequest/repeated()``, available before and after the end.
    var repeatedExtras: RequestExtras<Value> {
        if case .ended = phase { leftExtras } else { extras }
    }

    /// Whether the request was started and its outcome is not decided yet.
    var isRunning: Bool {
        if case .running = phase { true } else { false }
    }

    /// The outcome, or `nil` until the request has ended.
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

    /// Records that the observers are notified of the start.
    ///
    /// Returns `false` if the request has been cancelled.
    mutating func announceStart() -> Bool {
        guard case .running = phase else { return false }
        hasAnnouncedStart = true
        return true
    }

    /// Records that a call is about to be made.
    ///
    /// - Parameter mayHaveEffect: Whether the call may change something on a server.
    /// - Returns: `false` if the request has been cancelled.
    mutating func beginCall(mayHaveEffect: Bool) -> Bool {
        guard case .running = phase else { return false }
        mayHaveTakenEffect = mayHaveEffect
        return true
    }

    /// Stores the closure that cancels the call.
    ///
    /// Returns `false` if the request has already been cancelled, so that the call must be cancelled too.
    mutating func attach(_ cancel: @escaping @Sendable () -> Void) -> Bool {
        guard case .running = phase else { return !isCancelled }
        cancelCall = cancel
        return true
    }

    /// Returns the outcome of the call if the request can end with it now.
    ///
    /// Returns `nil` if the request is suspended or already ending. If the request is suspended, the outcome is kept
    /// until the request is resumed.
    mutating func answered(_ outcome: Outcome) -> Outcome? {
        guard case .running = phase else { return nil }
        cancelCall = nil
        guard isSuspended else { return outcome }
        held = outcome
        return nil
    }

    /// Decides the outcome and returns the extras.
    ///
    /// Returns `nil` if the outcome was decided before or the request has been suspended.
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

    /// Cancels the request and returns a closure that cancels its call.
    ///
    /// Returns `nil` if the outcome is already decided.
    ///
    /// If no call is running, the returned closure does nothing.
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

    /// Whether the observers have been notified of the start.
    var wasAnnounced: Bool { hasAnnouncedStart }

    /// Ends the request and returns its handlers.
    ///
    /// `APIRequest` must call each handler once.
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

    /// Adds a handler, or returns the outcome if the request has already ended.
    mutating func add(
        _ handler: @escaping RequestHandlers<Value>.Handler,
        _ kind: RequestHandlers<Value>.Kind
    ) -> Outcome? {
        if let outcome { return outcome }
        handlers.add(handler, kind)
        return nil
    }
}

/// The state of a request object.
///
///     initialized --resume--> resumed --response--> finished
///          |    <--suspend-- / \ --suspend--> suspended --resume--> resumed
///          \_________________ cancel ________________ cancelled
public enum RequestState: String, Sendable, Hashable, CaseIterable {
    /// The request was created and has not been started.
    case initialized
    /// The request was started and is running.
    case resumed
    /// The request is suspended.
    ///
    /// If it has not been started, it is not sent until it is resumed. If it has been started, it does not report its
    /// outcome until it is resumed.
    case suspended
    /// The request was cancelled. This state is final.
    case cancelled
    /// The request ended with a value or an error. This state is final.
    case finished

    /// Whether the request has ended.
    public var isTerminal: Bool { self == .cancelled || self == .finished }
}

/// The outcome of one member of a group.
public enum MemberOutcome: Sendable, Hashable {
    /// The member succeeded with a value.
    case succeeded
    /// The member failed with an error.
    case failed(APIError.Reason)
    /// The member was cancelled, by itself or by the group.
    case cancelled

    /// Whether the member succeeded with a value.
    public var isSuccess: Bool { self == .succeeded }
}
