public import SwitchyardAPI
public import SwitchyardClient
import SwitchyardServices

extension APIManager {
    /// Returns the resource of a call: its latest value, its latest error, and whether a load is in flight.
    ///
    /// - Parameters:
    ///   - type: The type of the value. If it is optional, the value may be missing.
    ///   - configuration: The call, preferably with a lifetime. The resource of a call that changes something is not
    ///     shared.
    ///   - keyPath: The key path of the value. If the module has an `APIModule.envelope`, the path starts in its data.
    ///   - options: The options, such as the time for which a value is current.
    /// - Returns: The resource, which is the same for all callers in the same environment with the same user.
    public func resource<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self,
        for configuration: APIConfiguration,
        at keyPath: String? = nil,
        options: APIResource<Value>.Options = APIResource<Value>.Options()
    ) -> APIResource<Value> {
        resource(for: configuration, with: module.serializer(for: type, at: keyPath), options: options)
    }

    /// Returns the resource of a call with a custom serializer.
    ///
    /// - Parameters:
    ///   - configuration: The call, preferably with a lifetime. The resource of a call that changes something is not
    ///     shared.
    ///   - serializer: The serializer of the value. ``APIModule/serializer(for:at:)`` returns one that removes the
    ///     module's envelope.
    ///   - options: The options, such as the time for which a value is current.
    /// - Returns: The resource, which is the same for all callers in the same environment with the same user.
    public func resource<Value: Sendable>(
        for configuration: APIConfiguration,
        with serializer: ResponseSerializer<Value>,
        options: APIResource<Value>.Options = APIResource<Value>.Options()
    ) -> APIResource<Value> {
        let maker = maker(for: configuration, with: serializer)
        guard let key = maker.key else { return maker.resource(options) }
        return client.resources.resource(key, maker.stamp, after: maker.userChanges) { maker.resource(options) }
    }

    /// Returns the factory for the resource or the responses of a call, for the current environment and user.
    func maker<Value: Sendable>(
        for configuration: APIConfiguration,
        with serializer: ResponseSerializer<Value>
    ) -> ResourceMaker<Value> {
        let user = cacheUser
        let environment = client.environment
        return ResourceMaker(
            written: configuration,
            serializer: serializer,
            module: module,
            client: client.calls.client,
            environment: environment,
            user: user,
            // If the user has a name, the name alone identifies the user.
            userChanges: user == nil ? client.userChanges(in: environment) : 0,
            presentUser: presentUser(orLast: user)
        )
    }
}

extension NetworkClient {
    /// Releases the resources that are neither observed nor retained, for example when memory is low.
    public func discardUnobservedResources() {
        familyObjects.existing(ResourceTable.self)?.discardUnobserved()
    }

    /// The table of the client's resources.
    ///
    /// The table is released with the last client handle that the app retains. The resources in it retain only the
    /// client's core.
    var resources: ResourceTable {
        familyObjects.object { ResourceTable() }
    }
}

/// A factory for the resource of a call.
///
/// The factory does not retain the manager.
struct ResourceMaker<Value: Sendable>: Sendable {
    /// The call as the app wrote it.
    let written: APIConfiguration
    let serializer: ResponseSerializer<Value>
    let module: APIModule
    /// A detached client handle, which does not retain the manager's handle.
    ///
    /// That handle retains the table of resources.
    let client: NetworkClient
    /// The environment at the creation of the factory.
    let environment: ServiceEnvironment
    /// The user at the creation of the factory.
    let user: String?
    /// The number of times that the client's credentials had changed to another user at the creation, or 0 if the user
    /// has a name.
    let userChanges: UInt64
    /// Returns the current user.
    ///
    /// After the manager has been released, returns ``user``.
    let presentUser: @Sendable () -> String?

    /// The configuration of the call with the client's current rules.
    private var configuration: APIConfiguration { client.ruled(written) ?? written }

    /// Whether the environment and user are still the same as at the creation.
    private var isPresent: Bool {
        client.environment == environment && presentUser() == user
            && (user != nil || client.userChanges(in: environment) == userChanges)
    }

    /// Whether the call forbids sending a request to a server.
    var usesCacheOnly: Bool { configuration.cacheBox.value.reading == .only }

    /// What the value depends on besides the request: version, sensitive data, part of the response, content types.
    var stamp: CacheStamp {
        let configuration = configuration
        return configuration.cacheBox.value.stamp(of: configuration, serializer.part, asking: serializer.accept)
    }

    /// The cache key that identifies the resource, or `nil` if the resource is not shared.
    var key: CacheKey? {
        let configuration = configuration
        let partition = CachePartition(service: client.service.name, environment: environment.rawValue, user: user)
        return CacheKey.of(
            configuration,
            policy: configuration.cacheBox,
            in: partition,
            base: client.base(for: configuration),
            isAuthorized: client.authorizes(configuration)
        )
    }

    func resource(_ options: APIResource<Value>.Options) -> APIResource<Value> {
        let configuration = configuration
        let cached = cached(configuration)
        return APIResource(
            cached.flatMap { CachedCall.Recall(of: $0).remembered() },
            expiration: options.expiration ?? cached?.plan.lifetime ?? .seconds(30),
            retryDelay: options.retryDelay,
            time: client.time,
            completed: { module.completed($0) },
            isPresent: { isPresent },
            writes: client.pathCounters.writes(at: configuration),
            recall: { await stored() },
            outdate: { leaveFetches() },
            fetch: { await fetched() }
        )
    }

    /// Returns the stored value whatever its age, or `nil` if the environment or user has changed.
    func stored() async -> CachedValue<Value>? {
        let configuration = configuration
        PageLoadRecorder.present?.note(configuration, client, user: user, presentUser)
        guard isPresent, let cached = cached(configuration),
            case .found(let stored) = await CachedCall.Recall(of: cached).stored(), isPresent
        else { return nil }
        cached.notifyObservers(of: stored, by: client)
        return stored
    }

    /// Returns the server's current response.
    ///
    /// If the environment or user has changed, the result is ``/SwitchyardAPI/APIError/Cancellation/superseded``.
    func fetched() async -> Result<APIResponse<Value>, APIError> {
        var configuration = configuration
        PageLoadRecorder.present?.note(configuration, client, user: user, presentUser)
        // The owner (user and environment) is determined before the user is checked, so that a user who logs in later
        // does not become the owner.
        let owner = client.callOwner(of: configuration, presentUser: user == client.user ? nil : presentUser)
        guard isPresent else { return .failure(APIError(.cancelled(.superseded), messages: module.messages)) }
        if owner != nil { configuration.callOwner = owner }
        let result = await asked(configuration)
        guard isPresent else { return .failure(APIError(.cancelled(.superseded), messages: module.messages)) }
        return result
    }

    /// Detaches the fetches in flight for the call, so that later calls do not join them.
    private func leaveFetches() {
        guard let plan = cached(configuration)?.plan else { return }
        client.flights.leave(plan.key)
    }

    private func asked(_ configuration: APIConfiguration) async -> Result<APIResponse<Value>, APIError> {
        var asking = configuration
        if asking.cacheBox.value.reading != .only { asking.cache.reading = .never }
        do throws(APIError) {
            return .success(try await call(asking).obtained(through: client))
        } catch {
            return .failure(error)
        }
    }

    private func call(_ configuration: APIConfiguration) -> APICall<Value> {
        let plan = CachePlan.of(configuration, for: serializer, through: client, user: user)
        return APICall(configuration, serializer, module, plan, presentUser: presentUser)
    }

    private func cached(_ configuration: APIConfiguration) -> CachedCall<Value>? { call(configuration).cached }
}
