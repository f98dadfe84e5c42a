public import SwitchyardClient
import SwitchyardServices

extension APIManager {
    /// Returns the resource of a call: its latest value, its latest error, and whether a load is in flight.
    ///
    /// - Parameters:
    ///   - type: The type of the value; an optional value may be missing.
    ///   - configuration: The call, preferably with a lifetime; calls that change something are never shared.
    ///   - keyPath: The path of keys to the value, within the module's envelope if it has one.
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

    /// Returns the resource of a call with a serializer of its own.
    ///
    /// - Parameters:
    ///   - configuration: The call, preferably with a lifetime; calls that change something are never shared.
    ///   - serializer: The serializer of the value; ``APIModule/serializer(for:at:)`` removes the module's envelope.
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

    /// Returns the factory of a call's resource or responses for the current environment and user.
    func maker<Value: Sendable>(
        for configuration: APIConfiguration,
        with serializer: ResponseSerializer<Value>
    ) -> ResourceMaker<Value> {
        let user = cacheUser
        let environment = client.environment
        return ResourceMaker(
            configuration: client.ruled(configuration) ?? configuration,
            serializer: serializer,
            module: module,
            client: client.calls.client,
            environment: environment,
            user: user,
            // A named user is identified by the name.
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

    /// The table goes with the last handle that an app keeps, since its resources keep the client's core.
    var resources: ResourceTable {
        familyObjects.object { ResourceTable() }
    }
}

/// Makes the resource of a call; holds no manager.
struct ResourceMaker<Value: Sendable>: Sendable {
    let configuration: APIConfiguration
    let serializer: ResponseSerializer<Value>
    let module: APIModule
    /// A detached handle: resources live in a table that the manager's own keeps.
    let client: NetworkClient
    /// The environment that it was made in.
    let environment: ServiceEnvironment
    /// The user that it was made for.
    let user: String?
    /// How often the client's credentials had become another user's by then; 0 where the user has a name.
    let userChanges: UInt64
    /// The user now; the one above when the manager is gone.
    let presentUser: @Sendable () -> String?

    /// Whether environment and user are still those of the creation.
    private var isPresent: Bool {
        client.environment == environment && presentUser() == user
            && (user != nil || client.userChanges(in: environment) == userChanges)
    }

    /// Whether the call forbids a request to a server.
    var usesCacheOnly: Bool { configuration.cacheBox.value.reading == .only }

    /// The data on which the value depends besides the request.
    var stamp: CacheStamp {
        configuration.cacheBox.value.stamp(of: configuration, serializer.part, asking: serializer.accept)
    }

    /// The identity of the resource; `nil` for a call that is not shared.
    var key: CacheKey? {
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
        let cached = cached(configuration)
        return APIResource(
            cached.flatMap { CachedCall.Recall(of: $0).remembered() },
            expiration: options.expiration ?? cached?.plan.lifetime ?? .seconds(30),
            retryDelay: options.retryDelay,
            time: client.time,
            completed: { module.completed($0) },
            isPresent: { isPresent },
            writes: client.writes(at: configuration),
            recall: { await stored() },
            outdate: { leaveFetches() },
            fetch: { await fetched() }
        )
    }

    /// Returns the stored value, however old; `nil` after a change of environment or user.
    func stored() async -> CachedValue<Value>? {
        PageLoadRecorder.note(configuration, client, user: user) { presentUser }
        guard isPresent, let cached = cached(configuration),
            case .found(let stored) = await CachedCall.Recall(of: cached).stored(), isPresent
        else { return nil }
        cached.notifyObservers(of: stored)
        return stored
    }

    /// Returns the server's current response; ``APIError/Cancellation/superseded`` after a change of environment or
    /// user.
    func fetched() async -> Result<APIResponse<Value>, APIError> {
        PageLoadRecorder.note(configuration, client, user: user) { presentUser }
        // The owner is taken before the check of the user, so a user who logs in later is not the owner.
        let owner = client.callOwner(of: configuration, presentUser: user == client.user ? nil : presentUser)
        guard isPresent else { return .failure(APIError(.cancelled(.superseded), messages: module.messages)) }
        let result = await asked(by: owner)
        guard isPresent else { return .failure(APIError(.cancelled(.superseded), messages: module.messages)) }
        return result
    }

    /// Detaches the fetches in flight, so that later calls do not wait for them.
    private func leaveFetches() {
        guard let plan = cached(configuration)?.plan else { return }
        client.flights.leave(plan.key)
    }

    private func asked(by owner: CallOwner?) async -> Result<APIResponse<Value>, APIError> {
        var asking = configuration
        if owner != nil { asking.callOwner = owner }
        if !usesCacheOnly { asking.cache.reading = .never }
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
