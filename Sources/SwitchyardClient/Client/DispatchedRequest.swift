import SwitchyardServices

/// A handler that is called once with the result of a request.
typealias RequestCompletion = @Sendable (Result<ServiceResponse, RequestFailure>) -> Void

/// A request in the dispatch table.
///
/// It is a ``Failover`` (a request with a single round), a ``RequestFlow`` (a request with several rounds, each of
/// which is a ``Failover``), or a ``SharedRequest`` (a request that waits for a transfer that equal requests share).
protocol DispatchedRequest: AnyObject, Sendable {
    /// The identifier of the request, which stays the same from dispatch to end.
    var id: RequestID { get }
    /// The identifier of the handle through which the request was sent.
    var owner: OwnerID { get }
    /// The configuration that was dispatched.
    var configuration: APIConfiguration { get }
    /// The user and environment of the call, or `nil` for a call that depends on neither a login nor cookies.
    var callOwner: CallOwner? { get }
    /// The environment that the request is built for.
    var environment: ServiceEnvironment { get }
    /// Whether the request has ended, even if its completion has not been called yet.
    var hasEnded: Bool { get }

    /// Starts the request, which must already be in the table.
    func start()
    /// Ends the request, or does nothing if the request has ended.
    func cancel(_ reason: RequestFailure.Reason)
    /// Sends the request to another server if the request waits for a server that has just been ejected (taken out of
    /// use for a time), and if sending it again is safe.
    func evacuate(_ server: Server.ID, in pool: ServerPool)
    /// Notifies the request that another server has become the preferred server.
    func serverSwitched(in pool: ServerPool)
}

extension DispatchedRequest {
    /// By default, does nothing.
    ///
    /// Only a request that waits at a limit reacts to another preferred server.
    func serverSwitched(in pool: ServerPool) {}
}

/// Connects a task to its request, so that cancelling the task cancels the request.
///
/// The task may be cancelled before the request is created.
package struct DispatchHandle: Sendable {
    private enum State {
        case empty
        case holding(any DispatchedRequest)
        case cancelled
    }

    private let state = Locked(State.empty)

    package init() {}

    /// Stores the request, or cancels it if the task has already been cancelled.
    func hold(_ request: any DispatchedRequest) {
        let wasCancelled = state.withLock { state in
            if case .cancelled = state { return true }
            state = .holding(request)
            return false
        }
        if wasCancelled { request.cancel(.cancelled) }
    }

    /// Cancels the request now if ``hold(_:)`` has stored it; otherwise, as soon as ``hold(_:)`` is called.
    package func cancel() {
        let request: (any DispatchedRequest)? = state.withLock { state in
            defer { state = .cancelled }
            if case .holding(let request) = state { return request }
            return nil
        }
        request?.cancel(.cancelled)
    }
}

/// Delays the callback of a request until the method that started the request is about to return.
///
/// The caller of that method then has the request's identifier before the response.
package struct CallbackGate: Sendable {
    private enum State {
        case closed(held: (@Sendable () -> Void)?)
        case open
    }

    private let state = Locked(State.closed(held: nil))

    /// Creates a gate that is closed.
    package init() {}

    /// Calls the callback now if the gate is open, otherwise when it opens.
    package func pass(_ callback: @escaping @Sendable () -> Void) {
        let isOpen = state.withLock { state in
            if case .open = state { return true }
            state = .closed(held: callback)
            return false
        }
        if isOpen { callback() }
    }

    /// Opens the gate permanently.
    package func open() {
        let held: (@Sendable () -> Void)? = state.withLock { state in
            defer { state = .open }
            if case .closed(let held) = state { return held }
            return nil
        }
        held?()
    }
}
