public import Dispatch
public import SwitchyardAPI
public import SwitchyardClient
import SwitchyardServices

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
            completed: { module.completed($0) }
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
        get { sharedCompanions.existing(StartRule.self)?.startsWithFirstHandler ?? false }
        set { sharedCompanions.replace(StartRule(startsWithFirstHandler: newValue)) }
    }
}

private final class StartRule: Sendable {
    let startsWithFirstHandler: Bool

    init(startsWithFirstHandler: Bool) {
        self.startsWithFirstHandler = startsWithFirstHandler
    }
}
