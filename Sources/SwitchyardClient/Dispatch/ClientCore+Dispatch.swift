import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTransport

extension ClientCore {
    /// The client handle that sends a request, and the handle's settings for the request.
    struct Sender {
        let owner: OwnerID
        let usesCredentials: Bool
        /// The servers that the request is bound to.
        ///
        /// If `nil`, the request uses the servers of the current environment.
        var pool: ServerPool?
        /// The servers that the request uses only if no other server is available.
        var avoided: [Server.ID] = []
        /// A closure that returns the time until which a caller waits for the request.
        ///
        /// The time may change while the request runs. If the closure is `nil`, the request's own deadline applies.
        var callersDeadline: (@Sendable () -> MonotonicTime)?
    }

    /// Creates the request for a call whose owner (its user and environment) is already set.
    ///
    /// The result is a ``SharedRequest`` if the call has ``APIConfiguration/sharing`` and can share a transfer
    /// (``RequestCoalescing/name(of:isShown:)`` returns a name). It is a ``RequestFlow`` if the call has limits,
    /// interceptors, credentials, retries, observers or an owner that is bound to a login (``FlowPlan``), and otherwise
    /// a ``Failover``.
    func makeRequest(
        _ configuration: APIConfiguration,
        id: RequestID,
        sender: Sender,
        progress: TransferProgressHandler?,
        completion: @escaping RequestCompletion
    ) -> any DispatchedRequest {
        if configuration.idempotencyKey == .automatic {
            return makeRequest(
                configuration.snapshot(),
                id: id,
                sender: sender,
                progress: progress,
                completion: completion
            )
        }
        let completion = sender.usesCredentials ? completion : Self.withConfirmation(completion)
        let (present, observers) = present
        let pool = sender.pool ?? present
        if let rare = configuration.rare?.value, rare.sharing != .off,
            let name = rare.sharing.name(of: configuration, isShown: options.showsConfigurations(to: pool.generator))
        {
            return SharedRequest(
                id: id,
                sender: sender,
                configuration: configuration,
                name: name,
                core: self,
                pool: pool,
                progress: progress,
                completion: completion
            )
        }
        let isPlain =
            configuration.rare == nil && observers == nil && !surroundsRequests && !configuration.isBoundToLogin
        let usesCredentials = sender.usesCredentials
        return makeRequest(
            configuration,
            id: id,
            sender: sender,
            plan: isPlain ? nil : FlowPlan(configuration, in: self, usesCredentials: usesCredentials, observers),
            pool: pool,
            progress: progress,
            completion: completion
        )
    }

    /// Creates a ``RequestFlow`` with its flow plan, or a ``Failover`` if there is no flow plan.
    func makeRequest(
        _ configuration: APIConfiguration,
        id: RequestID,
        sender: Sender,
        plan: FlowPlan?,
        pool: ServerPool,
        progress: TransferProgressHandler?,
        completion: @escaping RequestCompletion
    ) -> any DispatchedRequest {
        guard let plan else {
            // Only a sender that is bound to its servers can have servers to avoid or callers with their own deadlines.
            let isBound = sender.pool != nil
            return Failover(
                id: id,
                owner: sender.owner,
                configuration: configuration,
                core: self,
                pool: pool,
                round: isBound ? Failover.Round(callersDeadline: sender.callersDeadline, avoided: sender.avoided) : nil,
                progress: progress,
                completion: completion
            )
        }
        return RequestFlow(
            id: id,
            owner: sender.owner,
            configuration: configuration,
            plan: plan,
            core: self,
            pool: pool,
            avoiding: sender.avoided,
            callersDeadline: sender.callersDeadline,
            progress: progress,
            completion: completion
        )
    }

    /// Returns a completion that also reports the result to the credential refresh that the current task runs, if any.
    private static func withConfirmation(_ completion: @escaping RequestCompletion) -> RequestCompletion {
        guard let recorder = RefreshRecorder.current else { return completion }
        return { result in
            recorder.note(result)
            completion(result)
        }
    }
}
