import Foundation
import SwitchyardClient
import SwitchyardServices

/// A call whose answer may come from the cache, and is stored there.
struct CachedCall<Value: Sendable>: Sendable {
    let call: APICall<Value>
    let plan: CachePlan
    let flights: FlightTable
    /// The user now: what comes for another than the one in the key is not stored.
    let presentUser: @Sendable () -> String?

    /// The answer: stored, fetched, or stored because fetching failed.
    ///
    /// - Parameters:
    ///   - client: The handle to fetch through, apart from the manager's: a fetch belongs to all who wait.
    ///   - calls: The calls of the manager, with which it is cancelled; those that are cancelled otherwise have none.
    /// - Returns: The answer, and where it comes from.
    /// - Throws: ``APIError``: that of the fetch, when no stored answer may stand in for it.
    nonisolated(nonsending) func response(
        through client: @autoclosure () -> NetworkClient,
        among calls: @autoclosure () -> CallTable? = nil
    ) async throws(APIError) -> APIResponse<Value> {
        let policy = policy
        let stored: CachedValue<Value>
        switch await Recall(of: self).stored() {
        case .found(let found): stored = found
        case .missing(let reason):
            guard policy.reading != .only else { throw call.module.completed(APIError(.cache(reason))) }
            return try await landed(Fetch(of: self, through: client()), among: calls())
        }
        switch StoredUse.of(stored, policy, lifetime: lifetime, request: call.configuration.headers) {
        case .answer:
            return APIResponse(stored)
        case .refuse(let reason):
            throw call.module.completed(APIError(.cache(reason)))
        case .answerAndRefresh(let conditions):
            let fetch = Fetch(of: self, through: client(), confirming: stored, with: conditions)
            _ = flight(fetch, needsWaiters: false)
            return APIResponse(stored)
        case .ask(let conditions):
            let fetch = Fetch(of: self, through: client(), confirming: stored, with: conditions)
            return try await fetchedOrStored(fetch, stored, among: calls())
        }
    }

    private var lifetime: Duration { plan.lifetime }

    /// How a stored answer may be used; where HTTP's rules decide, the request itself may ask the cache alone (RFC 9111
    /// section 5.2.1.7).
    private var policy: CachePolicy {
        var policy = plan.policy
        if policy.freshness == .http, CacheControl(call.configuration.headers).has("only-if-cached") {
            policy.reading = .only
        }
        return policy
    }

    private nonisolated(nonsending) func fetchedOrStored(
        _ fetch: Fetch,
        _ stored: CachedValue<Value>,
        among calls: CallTable?
    ) async throws(APIError) -> APIResponse<Value> {
        do throws(APIError) {
            return try await landed(fetch, among: calls)
        } catch {
            let request = call.configuration.headers
            guard error.isRetryable,
                StoredUse.mayStandIn(stored, plan.policy, lifetime: lifetime, request: request)
            else { throw error }
            return APIResponse(stored)
        }
    }

    /// Waits for the one fetch that all who miss the same answer share.
    private nonisolated(nonsending) func landed(
        _ fetch: Fetch,
        among calls: CallTable?
    ) async throws(APIError) -> APIResponse<Value> {
        while true {
            switch await flight(fetch, needsWaiters: true).ending(among: calls) {
            case .landed(let result): return try result.get()
            case .gone where !Task.isCancelled: continue
            case .gone, .cancelled: throw call.module.completed(APIError(.cancelled(.caller)))
            }
        }
    }

    /// The fetch under way, or a new one.
    private func flight(_ fetch: Fetch, needsWaiters: Bool) -> Flight<Value> {
        flights.join(
            plan.key,
            plan.stamp,
            as: Value.self,
            after: plan.removalsSoFar(),
            needsWaiters: needsWaiters
        ) { await fetch.run() }
    }
}
