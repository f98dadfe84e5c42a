import SwitchyardClient
import SwitchyardServices

/// Where the answer of a call is stored, and how a stored one may be used.
struct CachePlan: Sendable {
    let key: CacheKey
    let policy: CachePolicy
    let cache: ResponseCache

    /// Plans for a call; `nil` when its answer is not to be stored.
    static func of(_ configuration: APIConfiguration, through client: NetworkClient, user: String?) -> CachePlan? {
        guard configuration.usesCache else { return nil }
        let policy = configuration.cache
        let partition = CachePartition(
            service: client.service.name,
            environment: client.environment.rawValue,
            user: user
        )
        guard let key = CacheKey.of(configuration, policy: policy, in: partition) else { return nil }
        return CachePlan(key: key, policy: policy, cache: client.responseCache)
    }

    /// The stored value, when it is fresh and the policy takes it.
    func freshValue<Value: Sendable>(of type: Value.Type) -> Value? {
        policy.reading == .whenFresh && policy.freshness == .lifetime ? cache.value(for: key, as: type) : nil
    }
}
