public import Dispatch
public import SwitchyardClient
import SwitchyardHTTP

extension APIManager {
    /// Makes a call and calls back with its value.
    ///
    /// The call does not keep the manager: when the manager goes, the call ends with
    /// ``APIError/Cancellation/ownerReleased``.
    ///
    /// - Parameters:
    ///   - type: The type of the value; an optional one may be missing.
    ///   - configuration: What to ask.
    ///   - keyPath: Where the value stands in the answer, within the module's frame if it has one.
    ///   - queue: Where to call back; the main queue unless given.
    ///   - completion: Called exactly once, always after this method has returned.
    /// - Returns: The name of the call, with which it can be cancelled; answers from the cache have one too.
    @discardableResult
    public func value<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self,
        for configuration: APIConfiguration,
        at keyPath: String? = nil,
        on queue: DispatchQueue = .main,
        completion: @escaping @Sendable (Result<Value, APIError>) -> Void
    ) -> RequestID {
        let serializer = module.serializer(for: type, at: keyPath)
        return response(for: configuration, with: serializer, on: queue) { result in
            completion(result.map(\.value))
        }
    }

    /// Makes a call and calls back with its value together with the answer that it came from, with a serialiser of its own.
    ///
    /// - Parameters:
    ///   - configuration: What to ask.
    ///   - serializer: Makes the value; ``APIModule/serializer(for:at:)`` takes the module's frame off.
    ///   - queue: Where to call back; the main queue unless given.
    ///   - completion: Called exactly once, always after this method has returned.
    /// - Returns: The name of the call, with which it can be cancelled.
    @discardableResult
    public func response<Value: Sendable>(
        for configuration: APIConfiguration,
        with serializer: ResponseSerializer<Value>,
        on queue: DispatchQueue = .main,
        completion: @escaping @Sendable (Result<APIResponse<Value>, APIError>) -> Void
    ) -> RequestID {
        let id = RequestID()
        let configuration = client.ruled(configuration) ?? configuration
        let gate = CallbackGate()
        begin(APICall(configuration, serializer, module), id: id) { result in
            gate.pass { queue.async { completion(result) } }
        }
        gate.open()
        return id
    }

    /// Begins a call under a name, with the client's rules for it, and calls back once, from any thread.
    package func begin<Value: Sendable>(
        _ configuration: APIConfiguration,
        with serializer: ResponseSerializer<Value>,
        id: RequestID,
        completion: @escaping @Sendable (Result<APIResponse<Value>, APIError>) -> Void
    ) {
        let ruled = client.ruled(configuration) ?? configuration
        begin(APICall(ruled, serializer, module), id: id, completion: completion)
    }

    /// Begins a call under a name and calls back once, from any thread.
    func begin<Value: Sendable>(
        _ call: APICall<Value>,
        id: RequestID,
        completion: @escaping @Sendable (Result<APIResponse<Value>, APIError>) -> Void
    ) {
        let plan = CachePlan.of(call.configuration, for: call.serializer, through: client, user: cacheUser)
        let cached = plan.map { cachedCall(call, $0) }
        let calls = client.calls
        calls.enter(id)
        let task = Task { [weak calls, scope = calls.client] in
            var result = await call.result(cached, through: scope, id: id)
            if calls == nil {
                result = .failure(call.cancelled(.ownerReleased, insteadOf: result))
            } else if calls?.leave(id) == true {
                result = .failure(call.cancelled(.caller, insteadOf: result))
            }
            completion(result)
        }
        calls.attach(task, to: id)
    }
}

extension APICall {
    /// The error of a call whose outcome nobody wants any more, which may have been executed all the same.
    fileprivate func cancelled(
        _ reason: APIError.Cancellation,
        insteadOf result: Result<APIResponse<Value>, APIError>
    ) -> APIError {
        var error = APIError(.cancelled(reason))
        switch result {
        case .success(let response):
            response.context.map { error.context = APIError.Context($0) }
            error.context.mayHaveBeenExecuted = !configuration.method.isSafe
        case .failure(let own): error.context = own.context
        }
        return module.completed(error)
    }

    /// The outcome of the call, from the cache if it has one.
    fileprivate func result(
        _ cached: CachedCall<Value>?,
        through client: NetworkClient,
        id: RequestID
    ) async -> Result<APIResponse<Value>, APIError> {
        do throws(APIError) {
            guard let cached else { return .success(try await fetch(through: client, id: id).response) }
            return .success(try await cached.response(through: client))
        } catch {
            return .failure(error)
        }
    }
}
