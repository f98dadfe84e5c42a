import Dispatch
public import SwitchyardAPI
import SwitchyardClient
import SwitchyardServices
public import SwitchyardTransport

// MARK: - Handlers

extension APIRequest {
    /// Adds a handler for the value; one that is added after the end is called soon, with the outcome that was kept.
    @discardableResult
    public func onSuccess(_ handler: @escaping @Sendable (Value) -> Void) -> APIRequest {
        add(.own) { if case .success(let response) = $0 { handler(response.value) } }
    }

    /// Adds a handler for failures, of which a cancel is none.
    @discardableResult
    public func onFailure(_ handler: @escaping @Sendable (APIError) -> Void) -> APIRequest {
        add(.own) { if case .failure(let error) = $0, !error.isCancellation { handler(error) } }
    }

    /// Adds a handler for a cancel.
    @discardableResult
    public func onCancel(_ handler: @escaping @Sendable () -> Void) -> APIRequest {
        add(.own) { if case .failure(let error) = $0, error.isCancellation { handler() } }
    }

    /// Adds a handler for every outcome; it is called after those of the one outcome.
    @discardableResult
    public func onFinish(_ handler: @escaping @Sendable (Outcome) -> Void) -> APIRequest {
        add(.finished, handler)
    }

    /// Adds a handler for the value that goes when its owner goes; it holds the owner weakly.
    @discardableResult
    public func onSuccess<Owner: AnyObject & Sendable>(
        for owner: Owner,
        _ handler: @escaping @Sendable (Owner, Value) -> Void
    ) -> APIRequest {
        onSuccess { [weak owner] value in owner.map { handler($0, value) } }
    }

    /// Adds a handler for every outcome that goes when its owner goes; it holds the owner weakly.
    @discardableResult
    public func onFinish<Owner: AnyObject & Sendable>(
        for owner: Owner,
        _ handler: @escaping @Sendable (Owner, Outcome) -> Void
    ) -> APIRequest {
        onFinish { [weak owner] outcome in owner.map { handler($0, outcome) } }
    }

    /// Calls back once when the request has ended and all handlers have been called.
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

// MARK: - What takes part

extension APIRequest {
    /// Adds an accessory; after the start it is too late.
    @discardableResult
    public func adding(_ accessory: some RequestAccessory) -> APIRequest {
        change { $0.accessories.append(accessory) }
    }

    /// The accessories, in order.
    public var accessories: [any RequestAccessory] { record.withLock { $0.extras.accessories } }

    /// Adds a hook; after the start it is too late.
    @discardableResult
    public func adding(_ hook: some CallHook) -> APIRequest {
        change { $0.hooks.append(hook) }
    }

    /// Tells a delegate, which is held weakly, before the handlers.
    @discardableResult
    public func delegating(to delegate: some APIRequestDelegate) -> APIRequest {
        change { $0.delegate = delegate }
    }

    /// Adds a change of the value that is made in the background, before anybody is told; what it throws is the failure.
    @discardableResult
    public func preprocessing(
        _ change: @escaping @Sendable (inout APIResponse<Value>) throws -> Void
    ) -> APIRequest {
        self.change { $0.preprocessors.append(change) }
    }

    /// Adds a change of the error that is made in the background, before anybody is told.
    @discardableResult
    public func preprocessingFailure(_ change: @escaping @Sendable (inout APIError) -> Void) -> APIRequest {
        self.change { $0.failurePreprocessors.append(change) }
    }

    /// Adds a change of the value that is made on the request's queue; what it throws is the failure.
    @discardableResult
    public func filtering(_ change: @escaping @Sendable (inout APIResponse<Value>) throws -> Void) -> APIRequest {
        self.change { $0.filters.append(change) }
    }

    /// Adds a change of the error that is made on the request's queue.
    @discardableResult
    public func filteringFailure(_ change: @escaping @Sendable (inout APIError) -> Void) -> APIRequest {
        self.change { $0.failureFilters.append(change) }
    }

    /// Adds a handler for the bytes of each attempt, called on a thread of the transport; after the start it is too late.
    @discardableResult
    public func onProgress(_ handler: @escaping TransferProgressHandler) -> APIRequest {
        change { $0.progress.append(handler) }
    }

    /// The progress as a sequence, of which the newest report is kept for a reader that is slow; it ends with the request.
    ///
    /// After the start it is too late to ask for it: then it has no reports.
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
        // Nothing would let it go again once the request has ended.
        record.withLock { if $0.outcome == nil { change(&$0.extras) } }
        return self
    }
}

// MARK: - Waiting

extension APIRequest {
    /// Starts the request if need be, and waits for its value.
    ///
    /// Cancelling the task cancels the request.
    ///
    /// - Returns: The value.
    /// - Throws: ``/SwitchyardAPI/APIError``.
    public func value() async throws(APIError) -> Value {
        try await answer().value
    }

    /// Starts the request if need be, and waits for its value with the answer that it came from.
    ///
    /// Cancelling the task cancels the request.
    ///
    /// - Returns: The value, with status, header fields and where it comes from.
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
    /// What an outcome is to a group.
    init<Value>(_ outcome: Result<Value, APIError>) {
        switch outcome {
        case .success: self = .succeeded
        case .failure(let error): self = error.isCancellation ? .cancelled : .failed(error.reason)
        }
    }
}
