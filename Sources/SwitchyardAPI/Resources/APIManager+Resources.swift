public import SwitchyardClient
import SwitchyardServices

extension APIManager {
    /// The resource of a call: its latest value, its latest error, and whether a load is under way.
    ///
    /// - Parameters:
    ///   - type: The type of the value; an optional one may be missing.
    ///   - configuration: What to ask, best with a lifetime; calls that change something are never shared.
    ///   - keyPath: Where the value stands in the answer, within the module's frame if it has one.
    ///   - options: How long a value is current.
    /// - Returns: The resource, the same for everybody who asks in the same environment for the same user.
    public func resource<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self,
        for configuration: APIConfiguration,
        at keyPath: String? = nil,
        options: APIResource<Value>.Options = APIResource<Value>.Options()
    ) -> APIResource<Value> {
        resource(for: configuration, with: module.serializer(for: type, at: keyPath), options: options)
    }

    /// The resource of a call, with a serialiser of its own.
    ///
    /// - Parameters:
    ///   - configuration: What to ask, best with a lifetime; calls that change something are never shared.
    ///   - serializer: Makes the value; ``APIModule/serializer(for:at:)`` takes the module's frame off.
    ///   - options: How long a value is current.
    /// - Returns: The resource, the same for everybody who asks in the same environment for the same user.
    public func resource<Value: Sendable>(
        for configuration: APIConfiguration,
        with serializer: ResponseSerializer<Value>,
        options: APIResource<Value>.Options = APIResource<Value>.Options()
    ) -> APIResource<Value> {
        let maker = ResourceMaker(
            configuration: client.ruled(configuration) ?? configuration,
            serializer: serializer,
            module: module,
            client: client.calls.client,
            user: cacheUser
        )
        guard let key = maker.key else { return maker.resource(options) }
        return client.resources.resource(key, at: serializer.part) { maker.resource(options) }
    }
}

extension NetworkClient {
    /// Lets go of the resources that nobody follows or keeps, as when the system runs out of memory.
    public func discardUnobservedResources() {
        sharedCompanions.existing(ResourceTable.self)?.discardUnobserved()
    }

    var resources: ResourceTable {
        sharedCompanions.companion { ResourceTable() }
    }
}

/// Makes the resource of a call; holds no manager.
struct ResourceMaker<Value: Sendable>: Sendable {
    let configuration: APIConfiguration
    let serializer: ResponseSerializer<Value>
    let module: APIModule
    let client: NetworkClient
    let user: String?

    /// What makes two resources one; `nil` for a call that is not to be shared.
    var key: CacheKey? {
        let partition = CachePartition(
            service: client.service.name,
            environment: client.environment.rawValue,
            user: user
        )
        return CacheKey.of(
            configuration,
            policy: configuration.cacheBox,
            in: partition,
            isAuthorized: client.authorizes(configuration)
        )
    }

    func resource(_ options: APIResource<Value>.Options) -> APIResource<Value> {
        let plan = CachePlan.of(configuration, at: serializer.part, through: client, user: user)
        return APIResource(
            plan.flatMap { $0.entry() },
            expiration: options.expiration ?? plan?.lifetime ?? .seconds(30),
            retryDelay: options.retryDelay,
            time: client.time,
            completed: { module.completed($0) },
            recall: { await stored() },
            fetch: { await fetched() }
        )
    }

    /// What is stored, however old.
    func stored() async -> CachedValue<Value>? {
        guard let cached = cached(configuration), case .found(let stored) = await CachedCall.Recall(of: cached).stored()
        else { return nil }
        return stored
    }

    /// What the server says now.
    func fetched() async -> Result<APIResponse<Value>, APIError> {
        var asking = configuration
        asking.cache.reading = .never
        do throws(APIError) {
            guard let cached = cached(asking) else {
                return .success(try await APICall(asking, serializer, module).fetch(through: client).response)
            }
            return .success(try await cached.response(through: client))
        } catch {
            return .failure(error)
        }
    }

    private func cached(_ configuration: APIConfiguration) -> CachedCall<Value>? {
        CachePlan.of(configuration, at: serializer.part, through: client, user: user).map {
            CachedCall(call: APICall(configuration, serializer, module), plan: $0, flights: client.flights)
        }
    }
}
