public import Dispatch
public import SwitchyardAPI
public import SwitchyardClient
import SwitchyardServices

/// A call as an object.
///
/// A request object can be created without being started, added to groups, suspended and cancelled, and has a
/// ``state``.
///
/// The simple way to make a call is `value(for:)` of a manager. It costs less than a request object. A running request
/// retains itself, but not its manager. If the manager is released, the request ends as cancelled.
///
/// ### Use
///
///     let request = topics.request(Topic.self, for: .topic(17))
///         .onSuccess { topic in show(topic) }
///         .onFailure { error in show(error.message) }
///     request.resume()
///
/// ### Order
/// All callbacks except preprocessors come on the request's queue, one after the other:
/// 1. `willStart` of the observers (``RequestAccessory``), `transform` and `shouldCall` of the hooks (``CallHook``),
///    the call, `didCall` of the hooks;
/// 2. preprocessors, on a background queue;
/// 3. `willStop` of the observers, `beforeSuccess` or `beforeFailure` of the hooks, filters, delegate, handlers for
///    success, failure or cancellation, handlers for every outcome, `afterSuccess` or `afterFailure` of the hooks,
///    `didStop` of the observers;
/// 4. closures passed to ``whenEnded(_:)``, including those of groups. At this point, the request has released all
///    handlers.
///
/// The order is the same for a stored response. A cancelled request calls `willStop`, the delegate, the handlers for a
/// cancellation and for every outcome, and `didStop`. If it was never started, `willStop` and `didStop` are not called.
public final class APIRequest<Value: Sendable>: GroupMember {
    /// The outcome of a request: the response with its value, or the error.
    public typealias Outcome = Result<APIResponse<Value>, APIError>
    /// Makes the call, calls the completion once on any thread, and returns a closure that cancels the call.
    typealias Launch =
        @Sendable (RequestID, APIConfiguration, @escaping @Sendable (Outcome) -> Void) -> @Sendable () -> Void

    /// The identifier of the request, which never changes.
    public let id: RequestID
    /// The description of the call as it was requested.
    ///
    /// Hooks may change the copy that is sent.
    public let configuration: APIConfiguration
    let queue: DispatchQueue
    let launch: Launch
    /// Adds the user and environment of the call to the configuration, when this request or its repetition is created.
    private let owned: @Sendable (APIConfiguration) -> APIConfiguration
    /// Adds the message of the API module to an error that does not come from the call.
    let completed: @Sendable (APIError) -> APIError
    /// Returns whether a call may change something on a server.
    private let mayHaveEffect: @Sendable (APIConfiguration) -> Bool
    let startsWithFirstHandler: Bool
    let record: Locked<RequestRecord<Value>>

    convenience init(
        _ configuration: APIConfiguration,
        on queue: DispatchQueue,
        startsWithFirstHandler: Bool = false,
        completed: @escaping @Sendable (APIError) -> APIError = { $0 },
        owned: @escaping @Sendable (APIConfiguration) -> APIConfiguration = { $0 },
        mayHaveEffect: @escaping @Sendable (APIConfiguration) -> Bool = { $0.hasEffect },
        launch: @escaping Launch
    ) {
        self.init(
            configuration,
            onSerial: queue.serial("switchyard.request"),
            startsWithFirstHandler: startsWithFirstHandler,
            completed: completed,
            owned: owned,
            mayHaveEffect: mayHaveEffect,
            launch: launch
        )
    }

    /// Creates a request whose callbacks run on a queue that is already serial, such as the queue of another request.
    init(
        _ configuration: APIConfiguration,
        onSerial queue: DispatchQueue,
        startsWithFirstHandler: Bool = false,
        completed: @escaping @Sendable (APIError) -> APIError,
        owned: @escaping @Sendable (APIConfiguration) -> APIConfiguration = { $0 },
        mayHaveEffect: @escaping @Sendable (APIConfiguration) -> Bool,
        launch: @escaping Launch
    ) {
        id = RequestID()
        self.owned = owned
        self.mayHaveEffect = mayHaveEffect
        self.configuration = owned(configuration)
        self.queue = queue
        self.startsWithFirstHandler = startsWithFirstHandler
        self.completed = completed
        self.launch = launch
        record = Locked(RequestRecord())
    }

    /// The state of the request.
    ///
    /// The states `cancelled` and `finished` are final.
    public var state: RequestState { record.withLock { $0.state } }

    /// The outcome of the request, or `nil` until it has ended.
    public var outcome: Outcome? { record.withLock { $0.outcome } }

    /// Whether the request was cancelled, by ``cancel()`` or because its call was cancelled.
    public var isCancelled: Bool { state == .cancelled }

    /// Whether the request was started and its outcome is not decided yet.
    ///
    /// A suspended request that was started counts.
    public var isExecuting: Bool { record.withLock { $0.isRunning } }

    /// The response with its value, status and header fields, or `nil` unless the request has succeeded.
    public var response: APIResponse<Value>? { try? outcome?.get() }

    /// The description of the request that its observers (``RequestAccessory``) receive.
    public var subject: AccessorySubject { AccessorySubject(kind: .request, id: id, tags: configuration.tags) }
}

// MARK: - Start and stop

extension APIRequest {
    /// Starts the request, or resumes it if it was suspended.
    ///
    /// If the request is running or has ended, the call is ignored.
    ///
    /// - Returns: Whether this call started or resumed the request.
    @discardableResult
    public func resume() -> Bool {
        switch record.withLock({ $0.resume() }) {
        case .nothing: return false
        case .goOn: return true
        case .start:
            let owners = CallOwner.inherited
            queue.async { CallOwner.$inherited.withValue(owners) { self.begin() } }
        case .deliver(let outcome): queue.async { self.finish(outcome) }
        }
        return true
    }

    /// Suspends the request until ``resume()`` is called.
    ///
    /// If the request has not started, it is not sent while it is suspended. If it has started, it continues but calls
    /// no callback while it is suspended. Its deadline is not extended.
    ///
    /// - Returns: Whether this call suspended the request.
    @discardableResult
    public func suspend() -> Bool {
        record.withLock { $0.suspend() }
    }

    /// Cancels the request unless it has ended.
    ///
    /// The transfer stops immediately, and the outcome is ``/SwitchyardAPI/APIError/Cancellation/caller``, never a
    /// failure. Every callback may call this function. A request that was not started ends too. The error's
    /// ``/SwitchyardAPI/APIError/mayHaveBeenExecuted`` is `true` if the call was made and may change something on a
    /// server. POST, PUT and DELETE requests, custom operations and chained requests may change something.
    public func cancel() {
        let (call, mayHaveBeenExecuted) = record.withLock { ($0.cancel(), $0.mayHaveTakenEffect) }
        guard let call else { return }
        call()
        var error = APIError(.cancelled(.caller))
        error.context.mayHaveBeenExecuted = mayHaveBeenExecuted
        queue.async { [error] in self.tellCancelled(.failure(self.completed(error))) }
    }

    /// Returns a new unstarted request with the same observers, hooks, filters and delegate, but without handlers.
    ///
    /// Observers, hooks and filters should refer to the request weakly, because the request retains them even after its
    /// end.
    public func repeated() -> APIRequest {
        let copy = APIRequest(
            configuration,
            onSerial: queue,
            startsWithFirstHandler: startsWithFirstHandler,
            completed: completed,
            owned: owned,
            mayHaveEffect: mayHaveEffect,
            launch: launch
        )
        var extras = record.withLock { $0.repeatedExtras }
        extras.progress = []
        copy.record.withLock { $0.extras = extras }
        return copy
    }
}

// MARK: - Work on the request's queue

extension APIRequest {
    private func begin() {
        let (mayStart, extras) = record.withLock { ($0.announceStart(), $0.extras) }
        guard mayStart else { return }
        extras.accessories.willStart(subject)
        var configuration = configuration
        do throws(APIError) {
            for hook in extras.hooks { try hook.transform(&configuration) }
        } catch {
            return answered(.failure(completed(error)))
        }
        guard extras.hooks.allSatisfy({ $0.shouldCall(configuration) }) else {
            return answered(.failure(completed(APIError(.security(.forbidden("a hook refused the call"))))))
        }
        let mayHaveEffect = mayHaveEffect(configuration)
        guard record.withLock({ $0.beginCall(mayHaveEffect: mayHaveEffect) }) else { return }
        let cancel = launch(id, extras.watched(configuration)) { [self] outcome in
            guard record.withLock({ $0.isRunning }) else { return }
            answered(worded(extras.preprocessed(outcome, of: id), insteadOf: outcome))
        }
        if !record.withLock({ $0.attach(cancel) }) { cancel() }
        for hook in extras.hooks { hook.didCall(id) }
    }

    private func answered(_ outcome: Outcome) {
        guard let outcome = record.withLock({ $0.answered(outcome) }) else { return }
        queue.async { self.finish(outcome) }
    }

    private func finish(_ outcome: Outcome) {
        guard let extras = record.withLock({ $0.beginEnding(with: outcome) }) else { return }
        guard !outcome.isCancellation else { return tellCancelled(outcome) }
        extras.accessories.willStop(subject)
        let passed = vetoed(outcome, extras.hooks)
        let final = worded(extras.filtered(passed, of: id), insteadOf: passed)
        let handlers = record.withLock { $0.end(with: final) }
        tell(extras.delegate, final)
        handlers.callOwn(final)
        for hook in extras.hooks where !final.isCancellation {
            switch final {
            case .success(let response): hook.afterSuccess(id, response.map { _ in })
            case .failure(let error): hook.afterFailure(id, error)
            }
        }
        extras.accessories.didStop(subject)
        handlers.callEnded(final)
    }

    private func tellCancelled(_ outcome: Outcome) {
        let (extras, wasAnnounced) = record.withLock { ($0.extras, $0.wasAnnounced) }
        if wasAnnounced { extras.accessories.willStop(subject) }
        let handlers = record.withLock { $0.end(with: outcome) }
        extras.delegate?.requestWasCancelled(id)
        handlers.callOwn(outcome)
        if wasAnnounced { extras.accessories.didStop(subject) }
        handlers.callEnded(outcome)
    }

    private func vetoed(_ outcome: Outcome, _ hooks: [any CallHook]) -> Outcome {
        switch outcome {
        case .success(let response):
            guard hooks.allSatisfy({ $0.beforeSuccess(id, response.map { _ in }) }) else {
                let veto = APIError(.security(.forbidden("a hook rejected the response")))
                return .failure(completed(response.failure(veto, of: id)))
            }
        case .failure(let error):
            for hook in hooks { hook.beforeFailure(id, error) }
        }
        return outcome
    }

    /// Adds the message of the API module to an error with which a filter or hook has replaced a success.
    private func worded(_ outcome: Outcome, insteadOf earlier: Outcome) -> Outcome {
        guard case .success = earlier else { return outcome }
        return outcome.mapError(completed)
    }

    private func tell(_ delegate: (any APIRequestDelegate)?, _ outcome: Outcome) {
        switch outcome {
        case .success: delegate?.requestDidFinish(id)
        case .failure(let error) where error.isCancellation: delegate?.requestWasCancelled(id)
        case .failure(let error): delegate?.request(id, didFailWith: error)
        }
    }
}

extension DispatchQueue {
    /// Returns a serial queue that targets this queue.
    ///
    /// For the main queue, which is already serial, returns the queue itself.
    func serial(_ label: String) -> DispatchQueue {
        self === DispatchQueue.main ? self : DispatchQueue(label: label, target: self)
    }
}

extension APIManager {
    /// Creates a request without starting it.
    ///
    /// The call uses the manager's cache like every other call. If the manager is released, the request ends as
    /// cancelled.
    ///
    /// - Parameters:
    ///   - type: The type of the value. If it is optional, the value may be missing.
    ///   - configuration: The description of the call.
    ///   - keyPath: The key path of the value. If the module has an `APIModule.envelope`, the path starts in its data.
    ///   - queue: The queue for all callbacks, the main queue by default.
    ///   - startsWithFirstHandler: Whether adding the first handler starts the request. If `nil`, the client's
    ///     `NetworkClient.startsRequestsWithFirstHandler` applies.
    /// - Returns: The request.
    public func request<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self,
        for configuration: APIConfiguration,
        at keyPath: String? = nil,
        on queue: DispatchQueue = .main,
        startsWithFirstHandler: Bool? = nil
    ) -> APIRequest<Value> {
        request(
            for: configuration,
            with: module.serializer(for: type, at: keyPath),
            on: queue,
            startsWithFirstHandler: startsWithFirstHandler
        )
    }

    /// Creates a request with a custom serializer, without starting it.
    ///
    /// - Parameters:
    ///   - configuration: The description of the call.
    ///   - serializer: The serializer of the value. ``APIModule/serializer(for:at:)`` returns a serializer that removes
    ///     the module's envelope.
    ///   - queue: The queue for all callbacks, the main queue by default.
    ///   - startsWithFirstHandler: Whether adding the first handler starts the request. If `nil`, the client's
    ///     `NetworkClient.startsRequestsWithFirstHandler` applies.
    /// - Returns: The request.
    public func request<Value: Sendable>(
        for configuration: APIConfiguration,
        with serializer: ResponseSerializer<Value>,
        on queue: DispatchQueue = .main,
        startsWithFirstHandler: Bool? = nil
    ) -> APIRequest<Value> {
        let module = module
        return APIRequest(
            configuration,
            on: queue,
            startsWithFirstHandler: startsWithFirstHandler ?? client.startsRequestsWithFirstHandler,
            completed: { module.completed($0) },
            owned: { [weak self] configuration in self?.ownedByRules(configuration) ?? configuration },
            mayHaveEffect: { [weak self] in (self?.client.ruled($0) ?? $0).hasEffect }
        ) { [weak self] id, configuration, completion in
            guard let self else {
                completion(.failure(module.completed(APIError(.cancelled(.ownerReleased)))))
                return {}
            }
            begin(configuration, with: serializer, id: id, completion: completion)
            return { [weak self] in self?.cancel(id) }
        }
    }
}

extension NetworkClient {
    /// Whether adding the first handler to a request object starts the request, `false` by default.
    ///
    /// A change applies to request objects that are created afterwards, by all managers of the client.
    public var startsRequestsWithFirstHandler: Bool {
        get { sharedObjects.existing(StartRule.self)?.startsWithFirstHandler ?? false }
        set { sharedObjects.replace(StartRule(startsWithFirstHandler: newValue)) }
    }
}

private final class StartRule: Sendable {
    let startsWithFirstHandler: Bool

    init(startsWithFirstHandler: Bool) {
        self.startsWithFirstHandler = startsWithFirstHandler
    }
}
