public import Dispatch
import SwitchyardHTTP
import SwitchyardServices
public import SwitchyardTransport

extension NetworkClient {
    /// Sends a request and returns the response, whatever its status.
    ///
    /// Cancelling the task cancels the request.
    ///
    /// - Parameters:
    ///   - configuration: The call.
    ///   - id: The identifier of the request, by which another task can cancel it. Each request needs a new one.
    ///   - progress: A handler for the progress of each attempt, called on a thread of the transport.
    /// - Returns: The response of the attempt that succeeded first.
    /// - Throws: ``RequestFailure`` if there is no response.
    public nonisolated(nonsending) func send(
        _ configuration: APIConfiguration,
        id: RequestID = RequestID(),
        progress: TransferProgressHandler? = nil
    ) async throws(RequestFailure) -> ServiceResponse {
        try await answer(to: written(configuration), id: id, progress: progress)
    }

    /// Returns the call as the app makes it now: with the client's rules, but without an owner (a user and an
    /// environment).
    package func written(_ configuration: APIConfiguration) -> APIConfiguration {
        var written = ruled(configuration) ?? configuration
        written.callOwner = nil
        return written
    }

    /// Sends a request, to which the client's rules have been applied, on the caller's executor.
    ///
    /// This saves thread switches for code that already runs on that executor.
    package nonisolated(nonsending) func answer(
        to configuration: APIConfiguration,
        id: RequestID,
        progress: TransferProgressHandler?,
        endedBy handle: DispatchHandle? = nil
    ) async throws(RequestFailure) -> ServiceResponse {
        let handle = handle ?? DispatchHandle()
        let callOwner = presentOwner(of: configuration)
        let result: Result<ServiceResponse, RequestFailure> = await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                dispatch(configuration, of: callOwner, id: id, progress: progress, holdingIn: handle) {
                    continuation.resume(returning: $0)
                }
            }
        } onCancel: {
            handle.cancel()
        }
        guard let callOwner, callOwner.isBound else { return try result.get() }
        return try result.dropped(by: configuration, of: callOwner).get()
    }

    /// Sends a request and calls its completion on the thread that ends the request.
    ///
    /// The client's rules have been applied to the configuration.
    ///
    /// The completion may be called on the caller's thread before this method returns. The request itself never
    /// switches to another thread. If the transport, the clock and all callers use one thread, every run therefore has
    /// the same sequence of events.
    package func dispatch(
        _ configuration: APIConfiguration,
        id: RequestID = RequestID(),
        progress: TransferProgressHandler? = nil,
        completion: @escaping @Sendable (Result<ServiceResponse, RequestFailure>) -> Void
    ) {
        let callOwner = presentOwner(of: configuration)
        dispatch(configuration, of: callOwner, id: id, progress: progress, completion: completion)
    }

    /// Sends a request that belongs to an owner (a user and an environment).
    ///
    /// This code is a separate function, because a suspended task reserves memory for all local variables of its
    /// function.
    @inline(never)
    private func dispatch(
        _ configuration: APIConfiguration,
        of callOwner: CallOwner?,
        id: RequestID,
        progress: TransferProgressHandler?,
        holdingIn handle: DispatchHandle? = nil,
        completion: @escaping @Sendable (Result<ServiceResponse, RequestFailure>) -> Void
    ) {
        let sender = ClientCore.Sender(owner: owner, usesCredentials: usesCredentials, pool: boundPool)
        var configuration = configuration
        configuration.callOwner = callOwner
        let request = core.makeRequest(
            configuration,
            id: id,
            sender: sender,
            progress: progress,
            completion: completion
        )
        handle?.hold(request)
        core.dispatch(request)
    }

    /// Sends a request and passes the response, whatever its status, to a completion handler.
    ///
    /// - Parameters:
    ///   - configuration: The call.
    ///   - queue: The queue on which the completion handler is called, by default the main queue.
    ///   - progress: A handler for the progress of each attempt, called on a thread of the transport.
    ///   - completion: The handler, called exactly once and always after this method has returned.
    /// - Returns: The identifier by which the request can be cancelled.
    @discardableResult
    public func send(
        _ configuration: APIConfiguration,
        on queue: DispatchQueue = .main,
        progress: TransferProgressHandler? = nil,
        completion: @escaping @Sendable (Result<ServiceResponse, RequestFailure>) -> Void
    ) -> RequestID {
        let id = RequestID()
        let gate = CallbackGate()
        let configuration = written(configuration)
        let callOwner = presentOwner(of: configuration)
        dispatch(configuration, of: callOwner, id: id, progress: progress) { result in
            gate.pass { queue.async { completion(result.dropped(by: configuration, of: callOwner)) } }
        }
        gate.open()
        return id
    }

    /// Returns the owner of a call that is dispatched now: its own or, if it has none, the user who is logged in.
    private func presentOwner(of configuration: APIConfiguration) -> CallOwner? {
        configuration.callOwner ?? callOwner(of: configuration, needsUser: true)
    }
}

extension Result where Success == ServiceResponse, Failure == RequestFailure {
    /// Returns the result for the caller.
    ///
    /// A response is replaced with a failure if the user of the call has logged out.
    fileprivate func dropped(by configuration: APIConfiguration, of owner: CallOwner?) -> Self {
        guard case .success(let response) = self, let reason = configuration.refusal(of: owner) else { return self }
        response.discardBody()
        var context = response.context
        context.mayHaveBeenExecuted = configuration.hasEffect && response.status < 400
        return .failure(RequestFailure(reason, id: response.id, context: context))
    }
}
