public import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

extension APIManager {
    /// Makes a call and returns its value.
    ///
    /// Cancelling the task cancels the call. A stored answer is handed over on the caller's executor, without a switch of
    /// threads; one from a server is decoded away from it.
    ///
    /// - Parameters:
    ///   - type: The type of the value; an optional one may be missing.
    ///   - configuration: What to ask.
    ///   - keyPath: Where the value stands in the answer, within the module's frame if it has one.
    /// - Returns: The value.
    /// - Throws: ``APIError``.
    public nonisolated(nonsending) func value<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self,
        for configuration: APIConfiguration,
        at keyPath: String? = nil
    ) async throws(APIError) -> Value {
        if let ruled = client.ruled(configuration) { return try await value(type, for: ruled, at: keyPath) }
        let plan = CachePlan.of(
            configuration,
            at: module.part(at: keyPath),
            accepting: MediaType.jsonRange,
            through: client,
            user: cacheUser
        )
        if let plan { return try await storedValue(type, for: configuration, at: keyPath, plan) }
        return try await askedValue(type, for: configuration, at: keyPath)
    }

    /// The value of a call that no cache has to do with.
    ///
    /// Each of these ways is apart, since room for what only another one needs, and the looking up of its types, would
    /// be part of every call.
    @inline(never)
    private nonisolated(nonsending) func askedValue<Value: Decodable & Sendable>(
        _ type: Value.Type,
        for configuration: APIConfiguration,
        at keyPath: String?
    ) async throws(APIError) -> Value {
        let module = module
        guard module.envelope == nil, (keyPath ?? "").isEmpty else {
            return try await framedValue(type, for: configuration, at: keyPath)
        }
        return try await RawCall(configuration, module, accepting: MediaType.jsonRange)
            .plainValue(type, through: client)
    }

    /// The value of such a call that stands somewhere in its answer.
    @inline(never)
    private nonisolated(nonsending) func framedValue<Value: Decodable & Sendable>(
        _ type: Value.Type,
        for configuration: APIConfiguration,
        at keyPath: String?
    ) async throws(APIError) -> Value {
        try await sentValue(for: configuration, with: module.serializer(for: type, at: keyPath))
    }

    /// The stored value, which needs no serialiser and nothing else of a call, or a new one.
    @inline(never)
    private nonisolated(nonsending) func storedValue<Value: Decodable & Sendable>(
        _ type: Value.Type,
        for configuration: APIConfiguration,
        at keyPath: String?,
        _ plan: CachePlan
    ) async throws(APIError) -> Value {
        if plan.onlookers == nil, let value = plan.freshValue(of: type) { return value }
        return try await fetchedValue(type, for: configuration, at: keyPath, plan)
    }

    /// The value of a call that memory has no answer for.
    @inline(never)
    private nonisolated(nonsending) func fetchedValue<Value: Decodable & Sendable>(
        _ type: Value.Type,
        for configuration: APIConfiguration,
        at keyPath: String?,
        _ plan: CachePlan
    ) async throws(APIError) -> Value {
        let call = APICall(configuration, module.serializer(for: type, at: keyPath), module)
        return try await response(of: call, plan).value
    }

    /// Makes a call whose answer holds nothing of interest.
    ///
    /// - Parameter configuration: What to send.
    /// - Throws: ``APIError``; also when the module's frame says that the call failed.
    public nonisolated(nonsending) func send(_ configuration: APIConfiguration) async throws(APIError) {
        _ = try await value(for: configuration, with: nothing)
    }

    /// Makes a call and returns its value together with the answer that it came from, with a serialiser of its own.
    ///
    /// - Parameters:
    ///   - configuration: What to ask.
    ///   - serializer: Makes the value of the whole body: one of your own does not look at the module's frame, and takes a
    ///     refusal in it for an answer. ``APIModule/serializer(for:at:)`` takes the frame off.
    /// - Returns: The value, with status, header fields and where it comes from.
    /// - Throws: ``APIError``.
    public nonisolated(nonsending) func response<Value: Sendable>(
        for configuration: APIConfiguration,
        with serializer: ResponseSerializer<Value>
    ) async throws(APIError) -> APIResponse<Value> {
        if let ruled = client.ruled(configuration) { return try await response(for: ruled, with: serializer) }
        let plan = CachePlan.of(configuration, for: serializer, through: client, user: cacheUser)
        return try await response(of: APICall(configuration, serializer, module), plan)
    }

    /// Makes a call and returns its value together with the answer that it came from, with the module's frame taken off.
    ///
    /// - Parameters:
    ///   - type: The type of the value; an optional one may be missing.
    ///   - configuration: What to ask.
    ///   - keyPath: Where the value stands in the answer, within the module's frame if it has one.
    /// - Returns: The value, with status, header fields and where it comes from.
    /// - Throws: ``APIError``.
    public nonisolated(nonsending) func response<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self,
        for configuration: APIConfiguration,
        at keyPath: String? = nil
    ) async throws(APIError) -> APIResponse<Value> {
        try await response(for: configuration, with: module.serializer(for: type, at: keyPath))
    }

    private nonisolated(nonsending) func value<Value: Sendable>(
        for configuration: APIConfiguration,
        with serializer: ResponseSerializer<Value>
    ) async throws(APIError) -> Value {
        if let ruled = client.ruled(configuration) { return try await value(for: ruled, with: serializer) }
        if configuration.usesCache { return try await responseValue(for: configuration, with: serializer) }
        return try await sentValue(for: configuration, with: serializer)
    }

    private nonisolated(nonsending) func sentValue<Value: Sendable>(
        for configuration: APIConfiguration,
        with serializer: ResponseSerializer<Value>
    ) async throws(APIError) -> Value {
        try await RawCall(configuration, module, accepting: serializer.accept).value(serializer, through: client)
    }

    @inline(never)
    private nonisolated(nonsending) func responseValue<Value: Sendable>(
        for configuration: APIConfiguration,
        with serializer: ResponseSerializer<Value>
    ) async throws(APIError) -> Value {
        try await response(for: configuration, with: serializer).value
    }

    private nonisolated(nonsending) func response<Value: Sendable>(
        of call: APICall<Value>,
        _ plan: CachePlan?
    ) async throws(APIError) -> APIResponse<Value> {
        guard let plan else { return try await call.fetch(through: client).response }
        let cached = cachedCall(call, plan)
        return try await cached.response(through: client.calls.client, among: client.calls)
    }

    /// A call whose answer may come from the cache.
    func cachedCall<Value: Sendable>(_ call: APICall<Value>, _ plan: CachePlan) -> CachedCall<Value> {
        CachedCall(call: call, plan: plan, flights: client.flights, presentUser: presentUser(orLast: cacheUser))
    }

    /// The serialiser of an answer that holds nothing of interest; a frame is read all the same.
    var nothing: ResponseSerializer<EmptyBody> {
        module.envelope == nil ? .empty : module.serializer(for: EmptyBody.self)
    }
}

extension APIManager {
    /// The value of an answer that something else than one request brings, such as an upload that goes on where it was cut.
    ///
    /// - Parameters:
    ///   - configuration: What is asked, for the rules, the module's words and what the cache forgets.
    ///   - serializer: Makes the value.
    ///   - send: Sends the call as it is handed over and returns the answer, whatever its status.
    /// - Returns: The value with its answer.
    /// - Throws: ``APIError``.
    package func response<Value: Sendable>(
        to configuration: APIConfiguration,
        with serializer: ResponseSerializer<Value>,
        sentBy send: @Sendable (APIConfiguration) async throws(RequestFailure) -> ServiceResponse
    ) async throws(APIError) -> APIResponse<Value> {
        let call = APICall(client.ruled(configuration) ?? configuration, serializer, module)
        return try await call.response(through: client, sentBy: send)
    }
}
