import Dispatch
public import SwitchyardAPI
import SwitchyardClient
import SwitchyardServices
public import SwitchyardTransport

// MARK: - Handlers

extension APIRequest {
    /// Adds a handler for the value; if the request has already ended, the handler is called soon with the outcome.
    @discardableResult
    public func onSuccess(_ handler: @escaping @Sendable (Value) -> Void) -> APIRequest {
        add(.own) { if case .success(let response) = $0 { handler(response.value) } }
    }

    /// Adds a handler for failures, which do not include a cancellation.
    @discardableResult
    public func onFailure(_ handler: @escaping @Sendable (APIError) -> Void) -> APIRequest {
        add(.own) { if case .failure(let error) = $0, !error.isCancellation { handler(error) } }
    }

    /// Adds a handler for a cancellation.
    @discardableResult
    public func onCancel(_ handler: @escaping @Sendable () -> Void) -> APIRequest {
        add(.own) { if case .failure(let error) = $0, error.isCancellation { handler() } }
    }

    /// Adds a handler for every outcome, which is called after the handlers for a specific outcome.
    @discardableResult
    public func onFinish(_ handler: @escaping @Sendable (Outcome) -> Void) -> APIRequest {
        add(.finished, handler)
    }

    /// Adds a handler for the value that is not called after its owner has been released; the owner is held weakly.
    @discardableResult
    public func onSuccess<Owner: AnyObject & Sendable>(
        for owner: Owner,
        _ handler: @escaping @Sendable (Owner, Value) -> Void
    ) -> APIRequest {
        onSuccess { [weak owner] value in owner.map { handler($0, value) } }
    }

    /// Adds a handler for every outcome that is not called after its owner has been released; the owner is held weakly.
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

// MARK: - Accessories, hooks, filters and progress

extension APIRequest {
    /// Adds an accessory, which is possible only before the start.
    @discardableResult
    public func adding(_ accessory: some RequestAccessory) -> APIRequest {
        change { $0.accessories.append(accessory) }
    }

    /// The accessories, in order.
    public var accessories: [any RequestAccessory] { record.withLock { $0.extras.accessories } }

    /// Adds a hook, which is possible only before the start.
    @discardableResult
    public func adding(_ hook: some CallHook) -> APIRequest {
        change { $0.hooks.append(hook) }
    }

    /// Sets a delegate, which is called before the handlers and held weakly.
    @discardableResult
    public func delegating(to delegate: some APIRequestDelegate) -> APIRequest {
        change { $0.delegate = delegate }
    }

    /// Adds a closure that changes the response in the background, before any handler is called; if it throws, the
    /// request fails.
    @discardableResult
    public func preprocessing(
        _ change: @escaping @Sendable (inout APIResponse<Value>) throws -> Void
    ) -> APIRequest {
        self.change { $0.preprocessors.append(change) }
    }

    /// Adds a closure that changes the error in the background, before any handler is called.
    @discardableResult
    public func preprocessingFailure(_ change: @escaping @Sendable (inout APIError) -> Void) -> APIRequest {
        self.change { $0.failurePreprocessors.append(change) }
    }

    /// Adds a closure that changes the response on the request's queue; if it throws, the request fails.
    @discardableResult
    public func filtering(_ change: @escaping @Sendable (inout APIResponse<Value>) throws -> Void) -> APIRequest {
        self.change { $0.filters.append(change) }
    }

    /// Adds a closure that changes the error on the request's queue.
    @discardableResult
    public func filteringFailure(_ change: @escaping @Sendable (inout APIError) -> Void) -> APIRequest {
        self.change { $0.failureFilters.append(change) }
    }

    /// Adds a handler for the progress of each attempt, which is possible only before the start.
    ///
    /// The handler is called on a thread of the transport.
    @discardableResult
    public func onProgress(_ handler: @escaping TransferProgressHandler) -> APIRequest {
        change { $0.progress.append(handler) }
    }

    /// Returns a stream of the progress, which buffers the newest report and ends with the request.
    ///
    /// It must be called before the start, otherwise the stream has no reports.
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
        // After the end nothing would release the extras.
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

    /// Starts the request if necessary, and waits for its value with the response that it came from.
    ///
    /// Cancelling the task cancels the request.
    ///
    /// - Returns: The value, with status, header fields and origin.
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
    /// Creates the outcome of a member from its result.
    init<Value>(_ outcome: Result<Value, APIError>) {
        switch outcome {
        case .success: self = .succeeded
        case .failure(let error): self = error.isCancellation ? .cancelled : .failed(error.reason)
        }
    }
}
