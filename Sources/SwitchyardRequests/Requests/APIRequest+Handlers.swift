import Dispatch
public import SwitchyardAPI
import SwitchyardClient
import SwitchyardServices
public import SwitchyardTransport

// MARK: - Handlers

extension APIRequest {
    /// Adds a handler for the value.
    ///
    /// If the request has already ended with a value, the handler is called soon.
    @discardableResult
    public func onSuccess(_ handler: @escaping @Sendable (Value) -> Void) -> APIRequest {
        add(.own) { if case .success(let response) = $0 { handler(response.value) } }
    }

    /// Adds a handler for failures.
    ///
    /// A cancellation is not a failure.
    @discardableResult
    public func onFailure(_ handler: @escaping @Sendable (APIError) -> Void) -> APIRequest {
        add(.own) { if case .failure(let error) = $0, !error.isCancellation { handler(error) } }
    }

    /// Adds a handler for a cancellation.
    @discardableResult
    public func onCancel(_ handler: @escaping @Sendable () -> Void) -> APIRequest {
        add(.own) { if case .failure(let error) = $0, error.isCancellation { handler() } }
    }

    /// Adds a handler for every outcome.
    ///
    /// It is called after the handlers for success, failure or cancellation.
    @discardableResult
    public func onFinish(_ handler: @escaping @Sendable (Outcome) -> Void) -> APIRequest {
        add(.finished, handler)
    }

    /// Adds a handler for the value, for as long as an object (the owner of the handler) exists.
    ///
    /// The owner is held weakly, and the handler is not called after the owner has been released.
    @discardableResult
    public func onSuccess<Owner: AnyObject & Sendable>(
        for owner: Owner,
        _ handler: @escaping @Sendable (Owner, Value) -> Void
    ) -> APIRequest {
        onSuccess { [weak owner] value in owner.map { handler($0, value) } }
    }

    /// Adds a handler for every outcome, for as long as an object (the owner of the handler) exists.
    ///
    /// The owner is held weakly, and the handler is not called after the owner has been released.
    @discardableResult
    public func onFinish<Owner: AnyObject & Sendable>(
        for owner: Owner,
        _ handler: @escaping @Sendable (Owner, Outcome) -> Void
    ) -> APIRequest {
        onFinish { [weak owner] outcome in owner.map { handler($0, outcome) } }
    }

    /// Calls the observer once, when the request has ended and all handlers have been called.
    public func whenEnded(_ observer: @escaping @Sendable (MemberOutcome) -> Void) {
        keep(.ended) { observer(MemberOutcome($0)) }
    }

    private func add(_ kind: RequestHandlers<Value>.Kind, _ handler: @escaping @Sendable (Outcome) -> Void)
        -> APIRequest
    {
        keep(kind, handler)
        if startsWithFirstHandler, state == .initialized { resume() }
        return self
    }

    private func keep(_ kind: RequestHandlers<Value>.Kind, _ handler: @escaping @Sendable (Outcome) -> Void) {
        guard let outcome = record.withLock({ $0.add(handler, kind) }) else { return }
        queue.async { handler(outcome) }
    }
}

// MARK: - Observers, hooks, filters and progress

extension APIRequest {
    /// Adds an observer (``RequestAccessory``) of the request.
    ///
    /// The observer must be added before the start.
    @discardableResult
    public func adding(_ accessory: some RequestAccessory) -> APIRequest {
        change { $0.accessories.append(accessory) }
    }

    /// The observers of the request, in the order in which they were added.
    public var accessories: [any RequestAccessory] { record.withLock { $0.extras.accessories } }

    /// Adds a hook into the call.
    ///
    /// The hook must be added before the start.
    @discardableResult
    public func adding(_ hook: some CallHook) -> APIRequest {
        change { $0.hooks.append(hook) }
    }

    /// Sets a delegate.
    ///
    /// The delegate is held weakly, and its methods are called before the handlers.
    @discardableResult
    public func delegating(to delegate: some APIRequestDelegate) -> APIRequest {
        change { $0.delegate = delegate }
    }

    /// Adds a closure that changes the response on a background queue, before any handler is called.
    ///
    /// If the closure throws, the request fails.
    @discardableResult
    public func preprocessing(
        _ change: @escaping @Sendable (inout APIResponse<Value>) throws -> Void
    ) -> APIRequest {
        self.change { $0.preprocessors.append(change) }
    }

    /// Adds a closure that changes the error on a background queue, before any handler is called.
    @discardableResult
    public func preprocessingFailure(_ change: @escaping @Sendable (inout APIError) -> Void) -> APIRequest {
        self.change { $0.failurePreprocessors.append(change) }
    }

    /// Adds a closure that changes the response on the request's queue.
    ///
    /// If the closure throws, the request fails.
    @discardableResult
    public func filtering(_ change: @escaping @Sendable (inout APIResponse<Value>) throws -> Void) -> APIRequest {
        self.change { $0.filters.append(change) }
    }

    /// Adds a closure that changes the error on the request's queue.
    @discardableResult
    public func filteringFailure(_ change: @escaping @Sendable (inout APIError) -> Void) -> APIRequest {
        self.change { $0.failureFilters.append(change) }
    }

    /// Adds a handler for the transfer progress of each attempt.
    ///
    /// The handler must be added before the start.
    ///
    /// The handler is called on a thread of the transport.
    @discardableResult
    public func onProgress(_ handler: @escaping TransferProgressHandler) -> APIRequest {
        change { $0.progress.append(handler) }
    }

    /// Returns a stream of the transfer progress.
    ///
    /// The stream buffers only the newest report, and ends with the request.
    ///
    /// Call this function before the start, otherwise the stream has no reports.
    public func progressUpdates() -> AsyncStream<TransferProgress> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: TransferProgress.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        _ = onProgress { continuation.yield($0) }
        whenEnded { _ in continuation.finish() }
        return stream
    }

    private func change(_ change: (inout RequestExtras<Value>) -> Void) -> APIRequest {
        // A change after the end of the request is ignored, because nothing would release the added closures.
        record.withLock { if $0.outcome == nil { change(&$0.extras) } }
        return self
    }
}

// MARK: - Waiting

extension APIRequest {
    /// Starts the request if necessary, and waits for its value.
    ///
    /// Cancelling the task cancels the request.
    ///
    /// - Returns: The value.
    /// - Throws: ``/SwitchyardAPI/APIError``.
    public func value() async throws(APIError) -> Value {
        try await answer().value
    }

    /// Starts the request if necessary, and waits for its value and response.
    ///
    /// Cancelling the task cancels the request.
    ///
    /// - Returns: The value, with the status, header fields and origin of the response.
    /// - Throws: ``/SwitchyardAPI/APIError``.
    public func answer() async throws(APIError) -> APIResponse<Value> {
        resume()
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Outcome, Never>) in
                keep(.ended) { continuation.resume(returning: $0) }
            }
        } onCancel: {
            cancel()
        }
        return try outcome.get()
    }
}

extension MemberOutcome {
    /// Creates the outcome of a group member from the result of its request.
    init<Value>(_ outcome: Result<Value, APIError>) {
        switch outcome {
        case .success: self = .succeeded
        case .failure(let error): self = error.isCancellation ? .cancelled : .failed(error.reason)
        }
    }
}
