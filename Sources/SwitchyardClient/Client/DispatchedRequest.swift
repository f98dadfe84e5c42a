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
