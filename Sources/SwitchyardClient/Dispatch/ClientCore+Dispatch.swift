import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTransport

extension ClientCore {
    /// The handle that sends a request, and the settings that the handle adds to the request.
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
        /// The time may change from call to call.
        ///
        /// If `nil`, the request's own deadline applies.
        var patience: (@Sendable () -> MonotonicTime)?
    }

    /// Creates the request for a call.
    ///
    /// The result is a ``SharedRequest`` if the call coalesces with identical calls. It is a ``RequestFlow`` if the
    /// call needs limits, interceptors, credentials or retries, and otherwise a ``Failover``.
    func makeRequest(
        _ configuration: APIConfiguration,
        id: RequestID,
        sender: Sender,
        progress: TransferProgressHandler?,
        completion: @escaping RequestCompletion
    ) -> any DispatchedRequest {
        let completion = sender.usesCredentials ? completion : Self.withConfirmation(completion)
        let (pool, clientObservers) = present
        let configuration = owned(configuration, by: sender, in: sender.pool ?? pool)
        if let name = sharedName(of: configuration) {
            return SharedRequest(
                id: id,
                sender: sender,
                configuration: configuration,
                name: name,
                core: self,
                pool: sender.pool ?? pool,
                progress: progress,
                completion: completion
            )
        }
        return makeRequest(
            configuration,
            id: id,
            sender: sender,
            plan: plan(for: configuration, usesCredentials: sender.usesCredentials, clientObservers),
            pool: sender.pool ?? pool,
            progress: progress,
            completion: completion
        )
    }

    /// Creates a ``RequestFlow`` that executes a plan, or a ``Failover`` if there is no plan.
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
            return Failover(
                id: id,
                owner: sender.owner,
                configuration: configuration,
                core: self,
                pool: pool,
                round: onlyRound(of: configuration, by: sender),
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
            patience: sender.patience,
            progress: progress,
            completion: completion
        )
    }

    /// Returns the call with its owner.
    ///
    /// If the call has no owner yet, it belongs to the user who is logged in now.
    private func owned(_ configuration: APIConfiguration, by sender: Sender, in pool: ServerPool) -> APIConfiguration {
        guard configuration.rare?.value.callOwner == nil,
            let owner = callOwner(
                of: configuration,
                usesCredentials: sender.usesCredentials,
                in: pool,
                isBound: sender.pool != nil
            )
        else { return configuration }
        var owned = configuration
        owned.callOwner = owner
        return owned
    }

    /// Returns a completion that also reports the result to the credential refresh that the current task runs, if any.
    private static func withConfirmation(_ completion: @escaping RequestCompletion) -> RequestCompletion {
        guard let witness = RefreshRecorder.current else { return completion }
        return { result in
            witness.note(result)
            completion(result)
        }
    }

    /// Returns the settings of a failover that is bound to the sender's servers, or `nil` if the sender is bound to
    /// none.
    private func onlyRound(of configuration: APIConfiguration, by sender: Sender) -> Failover.Round? {
        sender.pool.map { pool in
            Failover.Round(
                deadline: deadline(of: configuration, in: pool, startedAt: now),
                patience: sender.patience,
                avoided: sender.avoided
            )
        }
    }

    /// Returns the name under which identical calls share one transfer, or `nil` if the call does not coalesce.
    private func sharedName(of configuration: APIConfiguration) -> String? {
        guard let rare = configuration.rare else { return nil }
        let isShown = options.showsConfigurations(to: pool.generator)
        return rare.value.sharing.name(of: configuration, isShown: isShown)
    }

    /// Returns the plan of a request's flow, or `nil` if a failover alone is enough.
    func plan(
        for configuration: APIConfiguration,
        usesCredentials: Bool,
        _ clientObservers: [ClientObserver]?
    ) -> FlowPlan? {
        guard surroundsRequests || configuration.rare != nil || clientObservers != nil else { return nil }
        return FlowPlan(options, configuration, usesCredentials: usesCredentials, clientObservers ?? [])
    }
}
