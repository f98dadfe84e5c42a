public import Dispatch
import SwitchyardHTTP
import SwitchyardServices
public import SwitchyardTransport

extension NetworkClient {
    /// Sends a request and returns the answer, whatever its status.
    ///
    /// Cancelling the task cancels the request.
    ///
    /// - Parameters:
    ///   - configuration: What to send.
    ///   - id: The name of the request, with which another task can cancel it. Each request takes a new one.
    ///   - progress: Told about the bytes of each attempt, from a thread of the transport.
    /// - Returns: The answer of the attempt that won.
    /// - Throws: ``RequestFailure`` when there is no answer.
    public nonisolated(nonsending) func send(
        _ configuration: APIConfiguration,
        id: RequestID = RequestID(),
        progress: TransferProgressHandler? = nil
    ) async throws(RequestFailure) -> ServiceResponse {
        try await answer(to: configuration.ownerless, id: id, progress: progress)
    }

    /// The same on the caller's executor: what is built on it has left the caller's already, and is spared the switches.
    package nonisolated(nonsending) func answer(
        to configuration: APIConfiguration,
        id: RequestID,
        progress: TransferProgressHandler?,
        endedBy handle: DispatchHandle? = nil
    ) async throws(RequestFailure) -> ServiceResponse {
        let handle = handle ?? DispatchHandle()
        let configuration = owned(configuration)
        let result: Result<ServiceResponse, RequestFailure> = await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                dispatch(configuration, id: id, progress: progress, holdingIn: handle) {
                    continuation.resume(returning: $0)
                }
            }
        } onCancel: {
            handle.cancel()
        }
        return try result.dropped(by: configuration).get()
    }

    /// Sends a request and calls back on the thread that ends it, which may be the caller's, from within this call.
    ///
    /// Nothing changes threads on the way, so whoever has one thread for transport, clock and callers has the same course
    /// of events every time. Apart from what waits for it: a task keeps room for all that its function uses as long as it
    /// waits.
    @inline(never)
    package func dispatch(
        _ configuration: APIConfiguration,
        id: RequestID = RequestID(),
        progress: TransferProgressHandler? = nil,
        holdingIn handle: DispatchHandle = DispatchHandle(),
        completion: @escaping @Sendable (Result<ServiceResponse, RequestFailure>) -> Void
    ) {
        let request = makeRequest(configuration, id: id, progress: progress, completion: completion)
        handle.hold(request)
        core.dispatch(request)
    }

    /// Sends a request and calls back with the answer, whatever its status.
    ///
    /// - Parameters:
    ///   - configuration: What to send.
    ///   - queue: Where to call back; the main queue unless given.
    ///   - progress: Told about the bytes of each attempt, from a thread of the transport.
    ///   - completion: Called exactly once, always after this method has returned.
    /// - Returns: The name of the request, with which it can be cancelled.
    @discardableResult
    public func send(
        _ configuration: APIConfiguration,
        on queue: DispatchQueue = .main,
        progress: TransferProgressHandler? = nil,
        completion: @escaping @Sendable (Result<ServiceResponse, RequestFailure>) -> Void
    ) -> RequestID {
        let id = RequestID()
        let gate = CallbackGate()
        let configuration = owned(configuration.ownerless)
        let request = makeRequest(configuration, id: id, progress: progress) { result in
            gate.pass { queue.async { completion(result.dropped(by: configuration)) } }
        }
        core.dispatch(request)
        gate.open()
        return id
    }

    /// The call with its owner, who is whoever is logged in now unless it was made before.
    private func owned(_ configuration: APIConfiguration) -> APIConfiguration {
        guard configuration.rare?.value.callOwner == nil,
            let owner = core.callOwner(
                of: configuration,
                usesCredentials: usesCredentials,
                in: pool,
                isBound: boundPool != nil
            )
        else { return configuration }
        var owned = configuration
        owned.callOwner = owner
        return owned
    }

    private func makeRequest(
        _ configuration: APIConfiguration,
        id: RequestID,
        progress: TransferProgressHandler?,
        completion: @escaping RequestCompletion
    ) -> any DispatchedRequest {
        core.makeRequest(
            (ruled(configuration) ?? configuration).snapshot(),
            id: id,
            sender: ClientCore.Sender(owner: owner, usesCredentials: usesCredentials, pool: boundPool),
            progress: progress,
            completion: completion
        )
    }
}

extension APIConfiguration {
    /// The call as one that is made now: an owner that it has is that of an earlier one.
    fileprivate var ownerless: APIConfiguration {
        guard rare?.value.callOwner != nil else { return self }
        var copy = self
        copy.callOwner = nil
        return copy
    }
}

extension Result where Success == ServiceResponse, Failure == RequestFailure {
    /// The end of a call as its caller gets it: a response to a user who has gone meanwhile is dropped.
    fileprivate func dropped(by configuration: APIConfiguration) -> Self {
        guard case .success(let response) = self, let owner = configuration.rare?.value.callOwner,
            let reason = configuration.refusal(in: owner.environment)
        else { return self }
        response.discardBody()
        var context = response.context
        context.mayHaveBeenExecuted = configuration.hasEffect && response.status < 400
        return .failure(RequestFailure(reason, id: response.id, context: context))
    }
}

// MARK: - Targets

extension NetworkClient {
    /// Sends the request of a target and returns the answer, whatever its status.
    ///
    /// Cancelling the task cancels the request.
    ///
    /// - Parameters:
    ///   - target: What to send.
    ///   - id: The name of the request, with which another task can cancel it.
    ///   - progress: Told about the bytes of each attempt, from a thread of the transport.
    /// - Returns: The answer of the attempt that won.
    /// - Throws: ``RequestFailure`` when there is no answer.
    public nonisolated(nonsending) func send(
        _ target: any APITarget,
        id: RequestID = RequestID(),
        progress: TransferProgressHandler? = nil
    ) async throws(RequestFailure) -> ServiceResponse {
        try await send(target.configuration, id: id, progress: progress)
    }
}
