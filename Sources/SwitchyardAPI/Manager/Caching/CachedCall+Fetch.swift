import Foundation
import SwitchyardClient
import SwitchyardServices

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
            let removals = plan.removalsSoFar()
            do throws(APIError) {
                let fetched = try await call.fetch(through: client, confirming: stored, with: conditions)
                if isWanted(fetched.response, since: removals) {
                    store(fetched, after: start.duration(to: client.time.now))
                }
                return .success(fetched.response)
            } catch {
                return .failure(error)
            }
        }

        /// Whether an answer is to be stored; not when entries were removed since it was asked for.
        private func isWanted(_ response: APIResponse<Value>, since removals: Int) -> Bool {
            plan.policy.stores && (plan.server == nil || plan.server == response.context?.server)
                && plan.cache.removals.withLock { $0 } == removals
        }

        private func store(_ fetched: APICall<Value>.Fetched, after transit: Duration) {
            let response = fetched.response
            guard let fields = fields(of: response, transit) else { return }
            guard let body = fetched.body else {
                plan.keep(response.value, fields, cost: fetched.cost, call.configuration.headers)
                if plan.policy.usesDisk {
                    plan.cache.disk?.confirm(plan.key, headers: response.headers, at: fields.created)
                }
                return
            }
            var answer = fields
            answer.body = body
            guard let willStore = plan.policy.willStore ?? plan.cache.defaults.willStore else {
                return keep(response.value, answer)
            }
            guard let changed = willStore(answer) else { return }
            if changed.body == body { return keep(response.value, changed) }
            // What is stored has to be what a reader of the disk would decode; what cannot be decoded is not stored.
            if let value = try? call.value(of: changed) { keep(value, changed) }
        }

        private func keep(_ value: Value, _ answer: StoredAnswer) {
            plan.keep(value, answer, cost: answer.body.count, call.configuration.headers)
            if plan.policy.usesDisk { plan.cache.disk?.store(answer, for: plan.key) }
        }

        /// The answer without its body, with the times that policy and header fields give it; `nil` when HTTP's rules
        /// forbid storing it.
        private func fields(of response: APIResponse<Value>, _ transit: Duration) -> StoredAnswer? {
            var answer = plan.answer(status: response.status, headers: response.headers)
            answer.transit = transit
            guard plan.policy.freshness == .http else { return answer }
            guard isStorable(response) else { return nil }
            let http = HTTPStoredAnswer(answer, request: call.configuration.headers)
            (answer.lifetime, answer.staleFor) = plan.policy.keepingTime(http)
            return answer
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
    func keepingTime(_ lifetime: Duration, _ headers: HTTPHeaders) -> (fresh: Duration, stale: Duration) {
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
