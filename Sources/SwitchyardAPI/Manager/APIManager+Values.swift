public import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

extension APIManager {
    /// Makes a call and returns its value.
    ///
    /// Cancelling the task cancels the call. A stored response is returned on the caller's executor without a thread
    /// switch. A server's response is decoded on another executor.
    ///
    /// - Parameters:
    ///   - type: The type of the value. If it is optional, the value may be missing.
    ///   - configuration: The call.
    ///   - keyPath: The key path of the value. If the module has an ``APIModule/envelope``, the path starts in its
    ///     data.
    /// - Returns: The value.
    /// - Throws: ``APIError``.
    public nonisolated(nonsending) func value<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self,
        for configuration: APIConfiguration,
        at keyPath: String? = nil
    ) async throws(APIError) -> Value {
        let user = cacheUser
        let configuration = made(configuration, by: user)
        let plan = CachePlan.of(
            configuration,
            at: module.data.at(keyPath),
            accepting: MediaType.jsonRange,
            through: client,
            user: user
        )
        // If the stored value is fresh, no serializer is needed (benchmark `cache`).
        if let value = plan?.freshValue(of: type) { return value }
        let call = APICall(
            configuration,
            module.serializer(for: type, at: keyPath),
            module,
            plan,
            presentUser: plan == nil ? nil : presentUser(orLast: user)
        )
        return try await call.response(through: client, among: client.calls).value
    }

    /// Makes a call and ignores the value of its response.
    ///
    /// - Parameter configuration: The call.
    /// - Throws: ``APIError`` if the call fails, or if the response has the envelope of ``APIModule/envelope`` and it
    ///   reports a failure.
    public nonisolated(nonsending) func send(_ configuration: APIConfiguration) async throws(APIError) {
        _ = try await response(for: configuration, with: nothing)
    }

    /// Makes a call with a custom serializer, and returns its value together with the response.
    ///
    /// - Parameters:
    ///   - configuration: The call.
    ///   - serializer: The serializer of the whole body. A custom serializer does not read the module's envelope, so a
    ///     failure that the envelope reports counts as a success. ``APIModule/serializer(for:at:)`` returns a
    ///     serializer that reads the envelope.
    /// - Returns: The value, with the status, header fields and source.
    /// - Throws: ``APIError``.
    public nonisolated(nonsending) func response<Value: Sendable>(
        for configuration: APIConfiguration,
        with serializer: ResponseSerializer<Value>
    ) async throws(APIError) -> APIResponse<Value> {
        try await call(configuration, with: serializer).response(through: client, among: client.calls)
    }

    /// Makes a call and returns its value, without the module's envelope, together with the response.
    ///
    /// - Parameters:
    ///   - type: The type of the value. If it is optional, the value may be missing.
    ///   - configuration: The call.
    ///   - keyPath: The key path of the value. If the module has an ``APIModule/envelope``, the path starts in its
    ///     data.
    /// - Returns: The value, with the status, header fields and source.
    /// - Throws: ``APIError``.
    public nonisolated(nonsending) func response<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self,
        for configuration: APIConfiguration,
        at keyPath: String? = nil
    ) async throws(APIError) -> APIResponse<Value> {
        try await response(for: configuration, with: module.serializer(for: type, at: keyPath))
    }

    /// Returns the configuration of a call that is about to be made, with the client's rules and with the user and
    /// environment of the call.
    ///
    /// If a ``PageRecorder`` is loading a page in the current task, the call's environment and user are recorded with
    /// that load.
    ///
    /// - Parameters:
    ///   - configuration: The configuration as the app wrote it.
    ///   - user: The manager's user.
    ///   - keepsOwner: Whether an existing user and environment are kept, because they were set when a request object
    ///     was created.
    /// - Returns: The configuration.
    func made(_ configuration: APIConfiguration, by user: String?, keepsOwner: Bool = false) -> APIConfiguration {
        let client = client
        var made = client.ruled(configuration) ?? configuration
        PageLoadRecorder.present?.note(made, client, user: user, presentUser(orLast: user))
        if !keepsOwner || made.callOwner == nil { made.callOwner = owner(of: made, by: user) }
        return made
    }

    /// Returns the current user and environment of a call.
    private func owner(of configuration: APIConfiguration, by user: String?) -> CallOwner? {
        let present = user == nil || user == client.user ? nil : presentUser(orLast: user)
        return client.callOwner(of: configuration, presentUser: present)
    }

    /// Returns the configuration with the user and environment that its call will have.
    ///
    /// The client's rules decide on them, but are not applied to the returned configuration. A rule may
    /// stop the call from using the client's credentials, and the call then belongs to no user.
    package func ownedByRules(_ configuration: APIConfiguration) -> APIConfiguration {
        var copy = configuration
        copy.callOwner = owner(of: client.ruled(configuration) ?? configuration, by: cacheUser)
        return copy
    }

    /// The serializer of a response whose value is ignored.
    ///
    /// If the module has an envelope (an outer JSON object with a code), the serializer still reads the code.
    var nothing: ResponseSerializer<EmptyBody> {
        module.envelope == nil ? .empty : module.serializer(for: EmptyBody.self)
    }
}

extension APIManager {
    /// Returns the value of an operation that consists of several requests, such as a resumable upload.
    ///
    /// - Parameters:
    ///   - configuration: The call, which defines the rules, the module's messages and the cache entries to remove.
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
        // The operation applies the rules to each of its requests.
        var written = configuration
        written.acceptedTypes = serializer.accept
        return try await call.response(through: client, sending: written, by: send)
    }
}
