public import Dispatch
public import SwitchyardAPI
public import SwitchyardClient
import SwitchyardServices

/// A call as an object: made without being started, put into groups, suspended, cancelled, asked for its state.
///
/// The plain way to make a call is `value(for:)` of a manager; a request object is for those who need more, and costs
/// more. A running one keeps itself alive, not its manager: when that goes, the request ends as cancelled.
///
/// ### Use
///
///     let request = topics.request(Topic.self, for: .topic(17))
///         .onSuccess { topic in show(topic) }
///         .onFailure { error in show(error.message) }
///     request.resume()
///
/// ### Order
/// Everything but the preprocessors comes on the request's queue, one after the other:
/// 1. `willStart` of the accessories, `reform` and `shouldCall` of the hooks, the call, `didCall`;
/// 2. preprocessors, in the background;
/// 3. `willStop`, `beforeSuccess` or `beforeFailure` of the hooks, filters, delegate, handlers of the outcome, handlers
///    of every outcome, `afterSuccess` or `afterFailure`, `didStop`;
/// 4. those who wait for the end, groups among them. All handlers have been let go by then.
///
/// It is the same order for a stored answer. A cancelled request comes with `willStop`, the delegate, the handlers of
/// cancelling and of every outcome, and `didStop`; one that was never started without the two of the accessories.
public final class APIRequest<Value: Sendable>: GroupMember {
    /// How a request ends.
    public typealias Outcome = Result<APIResponse<Value>, APIError>
    /// Makes the call, calls back once from any thread, and returns how to cancel it.
    typealias Launch =
        @Sendable (RequestID, APIConfiguration, @escaping @Sendable (Outcome) -> Void) -> @Sendable () -> Void

    /// The name of the request, the same from its making to its end.
    public let id: RequestID
    /// What is sent, as it was asked for; hooks may change the copy that is sent.
    public let configuration: APIConfiguration
    let queue: DispatchQueue
    let launch: Launch
    /// Takes the owner of the call, when the request is made.
    private let owned: @Sendable (APIConfiguration) -> APIConfiguration
    /// Puts the words of the request's module into an error that does not come from its call.
    let completed: @Sendable (APIError) -> APIError
    let startsWithFirstHandler: Bool
    let record: Locked<RequestRecord<Value>>

    convenience init(
        _ configuration: APIConfiguration,
        on queue: DispatchQueue,
        startsWithFirstHandler: Bool = false,
        completed: @escaping @Sendable (APIError) -> APIError = { $0 },
        owned: @escaping @Sendable (APIConfiguration) -> APIConfiguration = { $0 },
        launch: @escaping Launch
    ) {
        self.init(
            configuration,
            onSerial: queue.serial("switchyard.request"),
            startsWithFirstHandler: startsWithFirstHandler,
            completed: completed,
            owned: owned,
            launch: launch
        )
    }

    /// For a queue that is a request's own already: queues on queues would grow with each that is made of another.
    init(
        _ configuration: APIConfiguration,
        onSerial queue: DispatchQueue,
        startsWithFirstHandler: Bool = false,
        completed: @escaping @Sendable (APIError) -> APIError = { $0 },
        owned: @escaping @Sendable (APIConfiguration) -> APIConfiguration = { $0 },
        launch: @escaping Launch
    ) {
        id = RequestID()
        self.owned = owned
        self.configuration = owned(configuration)
        self.queue = queue
        self.startsWithFirstHandler = startsWithFirstHandler
        self.completed = completed
        self.launch = launch
        record = Locked(RequestRecord())
    }

    /// Where the request stands; `cancelled` and `finished` stay.
    public var state: RequestState { record.withLock { $0.state } }

    /// How the request ended; `nil` until then.
    public var outcome: Outcome? { record.withLock { $0.outcome } }

    /// Whether the request was cancelled, by its own ``cancel()`` or with its call.
    public var isCancelled: Bool { state == .cancelled }

    /// Whether the request is under way: started, held or not, and not ended.
    public var isExecuting: Bool { record.withLock { $0.isRunning } }

    /// The answer with its status and header fields; `nil` without one.
    public var response: APIResponse<Value>? { try? outcome?.get() }

    /// What accessories are told about it.
    public var subject: AccessorySubject { AccessorySubject(kind: .request, id: id, tags: configuration.tags) }
}

// MARK: - Starting and stopping

extension APIRequest {
    /// Starts the request, or lets one go on that was suspended; another start is ignored.
    ///
    /// - Returns: Whether this call made it go on.
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

    /// Holds the request: one that was not started will not be sent before it is resumed, one that was goes on, its
    /// deadline too, but tells nobody before it is resumed.
    ///
    /// - Returns: Whether this call suspended it.
    @discardableResult
    public func suspend() -> Bool {
        record.withLock { $0.suspend() }
    }

    /// Ends the request unless it has ended: the transfer is broken off at once, and the outcome is told as
    /// ``/SwitchyardAPI/APIError/Cancellation/caller``, never as a failure.
    ///
    /// It may be called from every callback. One that was not started ends too.
    public func cancel() {
        guard let cancelCall = record.withLock({ $0.cancel() }) else { return }
        cancelCall()
        queue.async { self.tellCancelled(.failure(self.completed(APIError(.cancelled(.caller))))) }
    }

    /// A new request like this one, not started; it has the accessories, hooks and filters, and no handlers.
    ///
    /// A request keeps them for that beyond its end, so one of them that holds the request should hold it weakly.
    public func repeated() -> APIRequest {
        let copy = APIRequest(
            configuration,
            onSerial: queue,
            startsWithFirstHandler: startsWithFirstHandler,
            completed: completed,
            owned: owned,
            launch: launch
        )
        var extras = record.withLock { $0.repeatedExtras }
        extras.progress = []
        copy.record.withLock { $0.extras = extras }
        return copy
    }
}

// MARK: - On the queue

extension APIRequest {
    private func begin() {
        let (mayStart, extras) = record.withLock { ($0.announceStart(), $0.extras) }
        guard mayStart else { return }
        extras.accessories.willStart(subject)
        var configuration = configuration
        do throws(APIError) {
            for hook in extras.hooks { try hook.reform(&configuration) }
        } catch {
            return answered(.failure(completed(error)))
        }
        guard extras.hooks.allSatisfy({ $0.shouldCall(configuration) }) else {
            return answered(.failure(completed(APIError(.security(.forbidden("a hook refused the call"))))))
        }
        guard record.withLock({ $0.isRunning }) else { return }
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
                let veto = APIError(.security(.forbidden("a hook vetoed the success")))
                return .failure(completed(response.failure(veto, of: id)))
            }
        case .failure(let error):
            for hook in hooks { hook.beforeFailure(id, error) }
        }
        return outcome
    }

    /// Puts the words of the module into an error that has come of a success.
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
    /// A serial queue that runs on this one; the main queue is serial already.
    func serial(_ label: String) -> DispatchQueue {
        self === DispatchQueue.main ? self : DispatchQueue(label: label, target: self)
    }
}

extension APIManager {
    /// Makes a call without starting it.
    ///
    /// It goes the same way as every other call of the manager, the cache included, and ends when the manager goes.
    ///
    /// - Parameters:
    ///   - type: The type of the value; an optional one may be missing.
    ///   - configuration: What to ask.
    ///   - keyPath: Where the value stands in the answer, within the module's frame if it has one.
    ///   - queue: Where everything of the request comes; the main queue unless given.
    ///   - startsWithFirstHandler: Whether the first handler starts it; the client's
    ///     `NetworkClient.startsRequestsWithFirstHandler` unless given.
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

    /// Makes a call with a serialiser of its own without starting it.
    ///
    /// - Parameters:
    ///   - configuration: What to ask.
    ///   - serializer: Makes the value; ``APIModule/serializer(for:at:)`` takes the module's frame off.
    ///   - queue: Where everything of the request comes; the main queue unless given.
    ///   - startsWithFirstHandler: Whether the first handler starts it; the client's
    ///     `NetworkClient.startsRequestsWithFirstHandler` unless given.
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
            owned: { [weak self] configuration in self?.owned(configuration) ?? configuration }
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

extension APIRequest {
    /// Makes a request of an operation of your own, so that it can join groups, batches and chains.
    ///
    /// - Parameters:
    ///   - tags: Names for accessories.
    ///   - queue: Where everything of the request comes; the main queue unless given.
    ///   - operation: Makes the value. Its task is cancelled with the request.
    public convenience init(
        tags: Set<String> = [],
        on queue: DispatchQueue = .main,
        _ operation: @escaping @Sendable () async throws -> Value
    ) {
        var configuration = APIConfiguration()
        configuration.tags = tags
        self.init(configuration, on: queue) { _, _, completion in
            let task = Task {
                do {
                    completion(.success(APIResponse(value: try await operation(), status: 200)))
                } catch {
                    completion(.failure(APIError(error)))
                }
            }
            return { task.cancel() }
        }
    }

    /// What becomes of an answer that another request may follow.
    public enum ChainAction: Sendable {
        /// Another request is made, and its outcome is the outcome.
        case pass(to: APIRequest)
        /// Another answer is the outcome.
        case use(Outcome)
        /// The answer is the outcome.
        case useThis
    }

    /// A request that makes this one and then decides by its outcome.
    ///
    /// What is ``repeated()`` of it repeats this one too.
    ///
    /// - Parameter decide: Decides, on the queue of this request; not called when it was cancelled.
    /// - Returns: The request; cancelling it cancels whichever is under way.
    public func chained(_ decide: @escaping @Sendable (Outcome) -> ChainAction) -> APIRequest {
        let wasMade = Locked(false)
        return APIRequest(configuration, onSerial: queue, completed: completed) { [self] _, _, completion in
            let isAgain = wasMade.withLock { wasMade in
                defer { wasMade = true }
                return wasMade
            }
            let first = isAgain ? repeated() : self
            let current = CurrentMember(first)
            first.onFinish { outcome in
                if case .failure(let error) = outcome, error.isCancellation { return completion(outcome) }
                switch decide(outcome) {
                case .useThis: completion(outcome)
                case .use(let other): completion(other)
                case .pass(let next):
                    current.replace(with: next)
                    next.onFinish(completion)
                    next.resume()
                }
            }
            first.resume()
            return { current.cancel() }
        }
    }
}

extension NetworkClient {
    /// Whether the first handler that is added to a request object of this client starts it; off unless set.
    ///
    /// It concerns the objects made from then on, of all managers of the client.
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
