public import SwitchyardClient
import SwitchyardServices

extension APIManager {
    /// Makes a call and returns its value.
    ///
    /// Cancelling the task cancels the call. The answer is decoded away from the caller's executor.
    ///
    /// - Parameters:
    ///   - type: The type of the value; an optional one may be missing.
    ///   - configuration: What to ask.
    ///   - keyPath: Where the value stands in the answer, within the module's frame if it has one.
    /// - Returns: The value.
    /// - Throws: ``APIError``.
    public func value<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self,
        for configuration: APIConfiguration,
        at keyPath: String? = nil
    ) async throws(APIError) -> Value {
        let serializer = module.serializer(for: type, at: keyPath)
        return try await response(for: configuration, with: serializer).value
    }

    /// Makes a call whose answer holds nothing of interest.
    ///
    /// - Parameter configuration: What to send.
    /// - Throws: ``APIError``; also when the module's frame says that the call failed.
    public func send(_ configuration: APIConfiguration) async throws(APIError) {
        _ = try await response(for: configuration, with: nothing)
    }

    /// Makes a call and returns its value together with the answer that it came from.
    ///
    /// - Parameters:
    ///   - configuration: What to ask.
    ///   - serializer: Makes the value; ``APIModule/serializer(for:at:)`` takes the module's frame off.
    /// - Returns: The value, with status, header fields and where it comes from.
    /// - Throws: ``APIError``.
    public func response<Value: Sendable>(
        for configuration: APIConfiguration,
        with serializer: ResponseSerializer<Value>
    ) async throws(APIError) -> APIResponse<Value> {
        let call = APICall(configuration: configuration, serializer: serializer, module: module)
        guard let cached = cachedCall(call) else { return try await call.fetch(through: client).response }
        return try await cached.response(through: client.calls.client)
    }

    /// The serialiser of an answer that holds nothing of interest; a frame is read all the same.
    var nothing: ResponseSerializer<EmptyBody> {
        module.envelope == nil ? .empty : module.serializer(for: EmptyBody.self)
    }

    /// The call with its cache; `nil` when its answer is not to be stored.
    func cachedCall<Value: Sendable>(_ call: APICall<Value>) -> CachedCall<Value>? {
        guard call.configuration.usesCache else { return nil }
        let policy = call.configuration.cache
        let partition = CachePartition(
            service: client.service.name,
            environment: client.environment.rawValue,
            user: cacheUser
        )
        guard let key = CacheKey(call.configuration, policy: policy, in: partition) else { return nil }
        return CachedCall(
            call: call,
            key: key,
            policy: policy,
            cache: client.responseCache,
            flights: client.flights
        )
    }
}
