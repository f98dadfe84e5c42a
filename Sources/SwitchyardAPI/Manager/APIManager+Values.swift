public import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

extension APIManager {
    /// Makes a call and returns its value.
    ///
    /// Cancelling the task cancels the call. A stored response is returned on the caller's executor without a thread
    /// switch; a server's response is decoded elsewhere.
    ///
    /// - Parameters:
    ///   - type: The type of the value; an optional value may be missing.
    ///   - configuration: The call.
    ///   - keyPath: The path of keys to the value, within the module's envelope if it has one.
    /// - Returns: The value.
    /// - Throws: ``APIError``.
    public nonisolated(nonsending) func value<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self,
        for configuration: APIConfiguration,
        at keyPath: String? = nil
    ) async throws(APIError) -> Value {
        let client = client
        if let ruled = client.ruled(configuration) { return try await value(type, for: ruled, at: keyPath) }
        let user = cacheUser
        let configuration = made(configuration, by: user)
        let plan = CachePlan.of(
            configuration,
            at: module.data.at(keyPath),
            accepting: MediaType.jsonRange,
            through: client,
            user: user
        )
        // A call that continues earlier work may have another owner than the current user.
        if let plan, plan.clientObservers == nil, CallOwner.inherited.isEmpty, let value = plan.freshValue(of: type) {
            return value
        }
        let module = module
        if plan == nil, module.envelope == nil, (keyPath ?? "").isEmpty {
            let call = RawCall(configuration, module, accepting: MediaType.jsonRange)
            let value = try await call.plainValue(type, through: client)
            try call.checkOwner(in: client)
            return value
        }
        return try await value(of: configuration, with: module.serializer(for: type, at: keyPath), plan)
    }

    /// Makes a call whose response contains nothing of interest.
    ///
    /// - Parameter configuration: The call.
    /// - Throws: ``APIError``, also if the module's envelope reports a failure.
    public nonisolated(nonsending) func send(_ configuration: APIConfiguration) async throws(APIError) {
        _ = try await value(for: configuration, with: nothing)
    }

    /// Makes a call with a serializer of its own and returns its value together with the response.
    ///
    /// - Parameters:
    ///   - configuration: The call.
    ///   - serializer: The serializer of the whole body. A custom serializer does not read the module's envelope and
    ///     treats a refusal in it as a success; ``APIModule/serializer(for:at:)`` removes the envelope.
    /// - Returns: The value, with status, header fields and source.
    /// - Throws: ``APIError``.
    public nonisolated(nonsending) func response<Value: Sendable>(
        for configuration: APIConfiguration,
        with serializer: ResponseSerializer<Value>
    ) async throws(APIError) -> APIResponse<Value> {
        if let ruled = client.ruled(configuration) { return try await response(for: ruled, with: serializer) }
        let user = cacheUser
        let configuration = made(configuration, by: user)
        let plan = CachePlan.of(configuration, for: serializer, through: client, user: user)
        return try await response(of: APICall(configuration, serializer, module), plan)
    }

    /// Makes a call, removes the module's envelope and returns the value together with the response.
    ///
    /// - Parameters:
    ///   - type: The type of the value; an optional value may be missing.
    ///   - configuration: The call.
    ///   - keyPath: The path of keys to the value, within the module's envelope if it has one.
    /// - Returns: The value, with status, header fields and source.
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
        let user = cacheUser
        let configuration = made(configuration, by: user)
        guard configuration.usesCache else { return try await value(of: configuration, with: serializer, nil) }
        let plan = CachePlan.of(configuration, for: serializer, through: client, user: user)
        return try await value(of: configuration, with: serializer, plan)
    }

    /// Returns the value of a call whose rules have been applied, with a cache plan if its response may be stored.
    ///
    /// `@inline(never)`, like the next function, keeps the locals that only some calls need out of every call's frame.
    @inline(never)
    private nonisolated(nonsending) func value<Value: Sendable>(
        of configuration: APIConfiguration,
        with serializer: ResponseSerializer<Value>,
        _ plan: CachePlan?
    ) async throws(APIError) -> Value {
        if let plan { return try await cachedValue(of: configuration, with: serializer, plan) }
        let call = RawCall(configuration, module, accepting: serializer.accept)
        let value = try await call.value(serializer, through: client)
        try call.checkOwner(in: client)
        return value
    }

    @inline(never)
    private nonisolated(nonsending) func cachedValue<Value: Sendable>(
        of configuration: APIConfiguration,
        with serializer: ResponseSerializer<Value>,
        _ plan: CachePlan
    ) async throws(APIError) -> Value {
        try await response(of: APICall(configuration, serializer, module), plan).value
    }

    private nonisolated(nonsending) func response<Value: Sendable>(
        of call: APICall<Value>,
        _ plan: CachePlan?
    ) async throws(APIError) -> APIResponse<Value> {
        let response =
            if let plan {
                try await cachedCall(call, plan).response(through: client.calls.client, among: client.calls)
            } else {
                try await call.fetch(through: client).response
            }
        try call.checkOwner(in: client)
        return response
    }

    /// Returns a call whose response may come from the cache.
    func cachedCall<Value: Sendable>(_ call: APICall<Value>, _ plan: CachePlan) -> CachedCall<Value> {
        CachedCall(call: call, plan: plan, flights: client.flights, presentUser: presentUser(orLast: cacheUser))
    }

    /// Returns a call as it is made now: with its owner, and recorded by the list that it is made for.
    ///
    /// - Parameters:
    ///   - configuration: The call, with the client's rules applied.
    ///   - user: The manager's user.
    ///   - keepsOwner: Whether an existing owner of the call stays, because a request object was made earlier.
    /// - Returns: The call.
    func made(_ configuration: APIConfiguration, by user: String?, keepsOwner: Bool = false) -> APIConfiguration {
        let client = client
        PageLoadRecorder.note(configuration, client, user: user) { presentUser(orLast: user) }
        return keepsOwner && configuration.callOwner != nil ? configuration : owned(configuration)
    }

    /// Returns a call with the current owner, for a call that is made now and executed later.
    package func owned(_ configuration: APIConfiguration) -> APIConfiguration {
        let user = cacheUser
        let present = user == nil || user == client.user ? nil : presentUser(orLast: user)
        let owner = client.callOwner(of: configuration, presentUser: present)
        guard owner != nil || configuration.callOwner != nil else { return configuration }
        var owned = configuration
        owned.callOwner = owner
        return owned
    }

    /// The serializer of a response that contains nothing of interest; an envelope is read nevertheless.
    var nothing: ResponseSerializer<EmptyBody> {
        module.envelope == nil ? .empty : module.serializer(for: EmptyBody.self)
    }
}

extension APIManager {
    /// Returns the value of the response of an operation that is more than one request, such as a resumable upload.
    ///
    /// - Parameters:
    ///   - configuration: The call, for its rules, the module's messages and the cache entries that it removes.
    ///   - serializer: The serializer of the value.
    ///   - send: Sends the call and returns the response, whatever its status.
    /// - Returns: The value with its response.
    /// - Throws: ``APIError``.
    package nonisolated(nonsending) func response<Value: Sendable>(
        to configuration: APIConfiguration,
        with serializer: ResponseSerializer<Value>,
        sentBy send: OwnedSending
    ) async throws(APIError) -> APIResponse<Value> {
        let call = APICall(client.ruled(configuration) ?? configuration, serializer, module)
        return try await call.response(through: client, sentBy: send)
    }
}
