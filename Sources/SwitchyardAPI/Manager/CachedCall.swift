import Foundation
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
    nonisolated(nonsending) func response(
        through client: @autoclosure () -> NetworkClient
    ) async throws(APIError) -> APIResponse<Value> {
        guard let stored = plan.cache.entry(for: plan.key, as: Value.self) else {
            guard plan.policy.reading != .only else { throw call.module.completed(APIError(.cache(.invalidMetadata))) }
            return try await landed(Fetch(of: self, through: client()))
        }
        switch StoredUse.of(stored, plan.policy, lifetime: lifetime, request: call.configuration.headers) {
        case .answer:
            return APIResponse(stored)
        case .refuse(let reason):
            throw call.module.completed(APIError(.cache(reason)))
        case .answerAndRefresh:
            _ = flight(Fetch(of: self, through: client(), confirming: stored), needsWaiters: false)
            return APIResponse(stored)
        case .ask(let conditions):
            let fetch = Fetch(of: self, through: client(), confirming: stored, with: conditions)
            return try await fetchedOrStored(fetch, stored)
        }
    }

    private var lifetime: Duration { plan.lifetime }

    private nonisolated(nonsending) func fetchedOrStored(
        _ fetch: Fetch,
        _ stored: CachedValue<Value>
    ) async throws(APIError) -> APIResponse<Value> {
        do throws(APIError) {
            return try await landed(fetch)
        } catch {
            guard error.isRetryable, StoredUse.mayStandIn(stored, plan.policy, lifetime: lifetime) else { throw error }
            return APIResponse(stored)
        }
    }

    /// Waits for the one fetch that all who miss the same answer share.
    private nonisolated(nonsending) func landed(_ fetch: Fetch) async throws(APIError) -> APIResponse<Value> {
        while true {
            switch await flight(fetch, needsWaiters: true).ending() {
            case .landed(let result): return try result.get()
            case .gone: guard !Task.isCancelled else { throw APIError(.cancelled(.caller)) }
            }
        }
    }

    /// The fetch under way, or a new one.
    private func flight(_ fetch: Fetch, needsWaiters: Bool) -> Flight<Value> {
        flights.join(plan.key, as: Value.self, needsWaiters: needsWaiters) { await fetch.run() }
    }
}

extension CachedCall {
    /// Asks the server once, and stores what it answers.
    struct Fetch: Sendable {
        private let call: APICall<Value>
        private let plan: CachePlan
        private let client: NetworkClient
        private let stored: CachedValue<Value>?
        private let conditions: HTTPHeaders

        init(
            of cached: CachedCall,
            through client: NetworkClient,
            confirming stored: CachedValue<Value>? = nil,
            with conditions: HTTPHeaders = [:]
        ) {
            call = cached.call
            plan = cached.plan
            self.client = client
            self.stored = stored
            self.conditions = conditions
        }

        func run() async -> Result<APIResponse<Value>, APIError> {
            let start = client.time.now
            do throws(APIError) {
                let fetched = try await call.fetch(through: client, confirming: stored, with: conditions)
                store(fetched, after: start.duration(to: client.time.now))
                return .success(fetched.response)
            } catch {
                return .failure(error)
            }
        }

        private func store(_ fetched: APICall<Value>.Fetched, after delay: Duration) {
            let response = fetched.response
            guard plan.policy.stores, plan.server == nil || plan.server == response.context?.server else { return }
            var facts = CacheFacts(cost: fetched.cost, tags: plan.policy.tags)
            facts.answer = CachedAnswer(status: response.status, headers: response.headers)
            var time = plan.policy.keepingTime(plan.lifetime, response.headers)
            if plan.policy.freshness == .http {
                guard isStorable(response) else { return }
                let now = Date()
                let http = HTTPStoredAnswer(
                    status: response.status,
                    headers: response.headers,
                    request: call.configuration.headers,
                    requested: now.addingTimeInterval(-delay.inSeconds),
                    received: now
                )
                facts.http = http
                time = plan.policy.keepingTime(http)
            }
            plan.cache.store(response.value, for: plan.key, lifetime: time.fresh, staleFor: time.stale, facts)
        }

        private func isStorable(_ response: APIResponse<Value>) -> Bool {
            HTTPCacheRules.isStorable(
                method: call.configuration.method,
                request: call.configuration.headers,
                status: response.status,
                response.headers
            )
        }
    }
}

extension CachePolicy {
    /// How long an answer is fresh, and how long it is kept beyond, when the call decides.
    fileprivate func keepingTime(_ lifetime: Duration, _ headers: HTTPHeaders) -> (fresh: Duration, stale: Duration) {
        let canBeConfirmed = !HTTPCacheRules.conditions(for: headers).isEmpty
        return (lifetime, max(keepsStaleFor, canBeConfirmed ? keepsForConfirmation : .zero))
    }

    /// How long an answer is fresh, and how long it is kept beyond, when the answer decides.
    fileprivate func keepingTime(_ http: HTTPStoredAnswer) -> (fresh: Duration, stale: Duration) {
        let control = CacheControl(http.headers)
        let windows = ["stale-while-revalidate", "stale-if-error"].compactMap { control.seconds($0) }
        let fresh = control.has("no-cache") ? 0 : max(0, http.lifetime - http.age(at: http.received))
        let (_, stale) = keepingTime(.zero, http.headers)
        return (.seconds(fresh), max(stale, .seconds(windows.max() ?? 0)))
    }
}
