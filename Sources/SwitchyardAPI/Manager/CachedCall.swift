import SwitchyardClient
import SwitchyardServices

/// A call whose answer may come from the cache, and is stored there.
struct CachedCall<Value: Sendable>: Sendable {
    let call: APICall<Value>
    let plan: CachePlan
    let flights: FlightTable

    /// The answer: stored, fetched, or stored because fetching failed.
    ///
    /// - Parameter client: The handle to fetch through, apart from the manager's: a fetch belongs to all who wait.
    /// - Returns: The answer, and where it comes from.
    /// - Throws: ``APIError``: that of the fetch, when no stored answer may stand in for it.
    nonisolated(nonsending) func response(through client: @autoclosure () -> NetworkClient) async throws(APIError)
        -> APIResponse<Value>
    {
        let stored = plan.policy.reading == .never ? nil : plan.cache.entry(for: plan.key, as: Value.self)
        if let answer = try storedAnswer(stored, client) { return answer }
        do throws(APIError) {
            return try await fetched(client())
        } catch {
            guard error.isRetryable, let stored, isUsable(stored, for: plan.policy.staleIfError) else { throw error }
            return APIResponse(stored)
        }
    }

    /// The stored answer when the policy lets it be the answer without asking the server.
    private func storedAnswer(
        _ stored: CachedValue<Value>?,
        _ client: () -> NetworkClient
    ) throws(APIError) -> APIResponse<Value>? {
        if plan.policy.reading == .only {
            guard let stored else { throw call.module.completed(APIError(.cache(.invalidMetadata))) }
            return APIResponse(stored)
        }
        guard let stored else { return nil }
        if stored.isFresh { return APIResponse(stored) }
        guard isUsable(stored, for: plan.policy.staleWhileRevalidate) else { return nil }
        _ = flight(through: client(), needsWaiters: false)
        return APIResponse(stored)
    }

    private func isUsable(_ stored: CachedValue<Value>, for extension: Duration) -> Bool {
        let lifetime = call.configuration.cacheLifetime ?? .zero
        return stored.age < lifetime + `extension`
    }

    /// Waits for the one fetch that all who miss the same answer share.
    private nonisolated(nonsending) func fetched(_ client: NetworkClient) async throws(APIError) -> APIResponse<Value> {
        while true {
            let flight = flight(through: client, needsWaiters: true)
            switch await flight.ending() {
            case .landed(let result): return try result.get()
            case .gone: guard !Task.isCancelled else { throw APIError(.cancelled(.caller)) }
            }
        }
    }

    /// The fetch under way, or a new one.
    private func flight(through client: NetworkClient, needsWaiters: Bool) -> Flight<Value> {
        flights.join(plan.key, as: Value.self, needsWaiters: needsWaiters) {
            do throws(APIError) {
                let fetched = try await call.fetch(through: client)
                store(fetched)
                return .success(fetched.response)
            } catch {
                return .failure(error)
            }
        }
    }

    private func store(_ fetched: APICall<Value>.Fetched) {
        guard plan.policy.stores, let lifetime = call.configuration.cacheLifetime else { return }
        plan.cache.store(
            fetched.response.value,
            for: plan.key,
            lifetime: lifetime,
            staleFor: plan.policy.keepsStaleFor,
            cost: fetched.cost,
            tags: plan.policy.tags,
            answer: CachedAnswer(status: fetched.response.status, headers: fetched.response.headers)
        )
    }
}
