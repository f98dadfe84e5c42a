import SwitchyardServices

/// Told once how a request ended.
typealias RequestCompletion = @Sendable (Result<ServiceResponse, RequestFailure>) -> Void

/// A request in the dispatch table: a failover by itself, or a flow of several, one after the other.
protocol DispatchedRequest: AnyObject, Sendable {
    /// The name of the request, the same from its dispatch to its end.
    var id: RequestID { get }
    /// The handle through which it was sent.
    var owner: OwnerID { get }
    /// What was dispatched.
    var configuration: APIConfiguration { get }
    /// The environment it is built for.
    var environment: ServiceEnvironment { get }
    /// Whether it has ended; its caller may not have been told yet.
    var hasEnded: Bool { get }

    /// Begins; the request must be in the table by then.
    func start()
    /// Ends the request unless it has ended.
    func cancel(_ reason: RequestFailure.Reason)
    /// Leaves a server that has just been taken out of service, if the request waits for it and may be sent again.
    func evacuate(_ server: Server.ID, in pool: ServerPool)
    /// Takes note that another server is preferred.
    func serverSwitched(in pool: ServerPool)
}

extension DispatchedRequest {
    /// Nothing waits for a server that was not asked yet, unless a limit holds it up.
    func serverSwitched(in pool: ServerPool) {}
}

/// Lets a task that may be cancelled at any moment find its request, whichever of the two comes first.
package struct DispatchHandle: Sendable {
    private enum State {
        case empty
        case holding(any DispatchedRequest)
        case cancelled
    }

    private let state = Locked(State.empty)

    package init() {}

    /// Takes the request in; cancels it if the task was cancelled before.
    func hold(_ request: any DispatchedRequest) {
        let wasCancelled = state.withLock { state in
            if case .cancelled = state { return true }
            state = .holding(request)
            return false
        }
        if wasCancelled { request.cancel(.cancelled) }
    }

    /// Cancels the request, now or when it comes.
    package func cancel() {
        let request: (any DispatchedRequest)? = state.withLock { state in
            defer { state = .cancelled }
            if case .holding(let request) = state { return request }
            return nil
        }
        request?.cancel(.cancelled)
    }
}

/// Holds a callback back until the method that has begun the work is about to return, so that its caller has the name
/// before the answer.
package struct CallbackGate: Sendable {
    private enum State {
        case closed(held: (@Sendable () -> Void)?)
        case open
    }

    private let state = Locked(State.closed(held: nil))

    /// Creates a gate that is closed.
    package init() {}

    /// Calls back: at once when the gate is open, else when it opens.
    package func pass(_ callback: @escaping @Sendable () -> Void) {
        let isOpen = state.withLock { state in
            if case .open = state { return true }
            state = .closed(held: callback)
            return false
        }
        if isOpen { callback() }
    }

    /// Opens the gate for good.
    package func open() {
        let held: (@Sendable () -> Void)? = state.withLock { state in
            defer { state = .open }
            if case .closed(let held) = state { return held }
            return nil
        }
        held?()
    }
}
