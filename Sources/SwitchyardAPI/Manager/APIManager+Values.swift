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
        if let plan, plan.onlookers == nil, let value = plan.freshValue(of: type) { return value }
        let module = module
        if plan == nil, module.envelope == nil, (keyPath ?? "").isEmpty {
            let call = RawCall(configuration, module, accepting: MediaType.jsonRange)
            let value = try await call.plainValue(type, through: client)
            try call.checkOwner(in: client)
            return value
        }
        return try await value(of: configuration, with: module.serializer(for: type, at: keyPath), plan)
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
        let user = cacheUser
        let configuration = made(configuration, by: user)
        let plan = CachePlan.of(configuration, for: serializer, through: client, user: user)
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
        let user = cacheUser
        let configuration = made(configuration, by: user)
        guard configuration.usesCache else { return try await value(of: configuration, with: serializer, nil) }
        let plan = CachePlan.of(configuration, for: serializer, through: client, user: user)
        return try await value(of: configuration, with: serializer, plan)
    }

    /// The value of a call to which the rules were applied, and a plan if its answer may be stored.
    ///
    /// Not inlined, as the next one, since room for what only some calls need would be part of every call.
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

    /// A call whose answer may come from the cache.
    func cachedCall<Value: Sendable>(_ call: APICall<Value>, _ plan: CachePlan) -> CachedCall<Value> {
        CachedCall(call: call, plan: plan, flights: client.flights, presentUser: presentUser(orLast: cacheUser))
    }

    /// A call as it is made now: with its owner, and known to the list that it is made for.
    ///
    /// - Parameters:
    ///   - configuration: The call, with the client's rules.
    ///   - user: The manager's user.
    ///   - keepsOwner: Whether an owner that the call has stays: a request object was made earlier.
    /// - Returns: The call.
    func made(_ configuration: APIConfiguration, by user: String?, keepsOwner: Bool = false) -> APIConfiguration {
        let client = client
        PageWitness.note(configuration, client, user: user) { presentUser(orLast: user) }
        return keepsOwner && configuration.callOwner != nil ? configuration : owned(configuration)
    }

    /// A call with the owner of this moment, for one that is made now and carried out later.
    package func owned(_ configuration: APIConfiguration) -> APIConfiguration {
        let user = cacheUser
        let present = user == nil || user == client.user ? nil : presentUser(orLast: user)
        let owner = client.callOwner(of: configuration, presentUser: present)
        guard owner != nil || configuration.callOwner != nil else { return configuration }
        var owned = configuration
        owned.callOwner = owner
        return owned
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
    package nonisolated(nonsending) func response<Value: Sendable>(
        to configuration: APIConfiguration,
        with serializer: ResponseSerializer<Value>,
        sentBy send: OwnedSending
    ) async throws(APIError) -> APIResponse<Value> {
        let call = APICall(client.ruled(configuration) ?? configuration, serializer, module)
        return try await call.response(through: client, sentBy: send)
    }
}
