import SwitchyardClient
import SwitchyardServices

/// Where the answer of a call is stored, and how a stored one may be used.
struct CachePlan: Sendable {
    let key: CacheKey
    let policy: CachePolicy
    let lifetime: Duration
    let cache: ResponseCache
    /// The only server whose answer may be stored under the key; `nil` when every server's may.
    let server: String?

    /// Plans for a call; `nil` when its answer is not to be stored.
    static func of(_ configuration: APIConfiguration, through client: NetworkClient, user: String?) -> CachePlan? {
        let policy = configuration.cache
        guard let (cache, lifetime) = place(of: configuration, policy, through: client) else { return nil }
        let partition = CachePartition(
            service: client.service.name,
            environment: client.environment.rawValue,
            user: user
        )
        let server = policy.separatesServers ? preferredServer(for: configuration, of: client) : nil
        guard let key = CacheKey.of(configuration, policy: policy, in: partition, server: server) else { return nil }
        return CachePlan(key: key, policy: policy, lifetime: lifetime, cache: cache, server: server)
    }

    /// The cache of a call, and how long its answer is fresh: by the call itself, else by the cache's defaults.
    private static func place(
        of configuration: APIConfiguration,
        _ policy: CachePolicy,
        through client: NetworkClient
    ) -> (ResponseCache, Duration)? {
        guard policy.isEnabled != false else { return nil }
        if let lifetime = configuration.cacheLifetime {
            guard lifetime > .zero else { return nil }
            let cache = client.responseCache
            return policy.isEnabled ?? cache.defaults.isEnabled ? (cache, lifetime) : nil
        }
        guard let cache = policy.isEnabled == true ? client.responseCache : client.existingResponseCache,
            policy.isEnabled ?? cache.defaults.isEnabled,
            let lifetime = cache.defaults.lifetime ?? (policy.isEnabled == true ? CacheDefaults.unnamedLifetime : nil),
            lifetime > .zero
        else { return nil }
        return (cache, lifetime)
    }

    private static func preferredServer(for configuration: APIConfiguration, of client: NetworkClient) -> String {
        if case .named(let name) = configuration.server { name } else { client.currentServer }
    }

    /// The stored value, when it is fresh and the policy takes it.
    func freshValue<Value: Sendable>(of type: Value.Type) -> Value? {
        policy.reading == .whenFresh && policy.freshness == .lifetime ? cache.value(for: key, as: type) : nil
    }
}
