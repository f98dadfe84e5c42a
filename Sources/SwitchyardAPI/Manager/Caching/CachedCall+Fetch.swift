import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

extension CachedCall {
    /// Sends the request, again without a condition if a 304 does not match, and stores the response.
    struct Fetch: Sendable {
        private let call: APICall<Value>
        private let plan: CachePlan
        let client: NetworkClient
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
            let removals = plan.removalsSoFar(at: call.configuration)
            // The fetch is recorded before it gets its number, so that fetches with later numbers take it into account.
            plan.cache.fetchedTurns.withLock { $0.begin(plan.key) }
            defer { plan.cache.fetchedTurns.withLock { $0.end(plan.key) } }
            let turn = plan.cache.nextTurn()
            let environment = ServiceEnvironment(rawValue: plan.key.parts.partition.environment)
            let userChanges = client.userChanges(in: environment)
            do throws(APIError) {
                let fetched = try await call.fetched(through: client, confirming: stored, with: conditions)
                if isWanted(fetched.response), client.userChanges(in: environment) == userChanges {
                    store(
                        fetched,
                        after: start.duration(to: client.time.now),
                        since: removals.having(fetched.removals),
                        turn
                    )
                }
                return .success(fetched.response)
            } catch {
                if plan.policy.freshness == .http, error.hasGoneResponse { forgetOlder(than: turn) }
                return .failure(error)
            }
        }

        /// Returns whether a response is stored.
        ///
        /// The policy must allow storing. The response must come from the key's environment, and from the key's server
        /// if the key has a server. The user must still be logged in, so that the request did not carry another user's
        /// credentials.
        private func isWanted(_ response: APIResponse<Value>) -> Bool {
            guard plan.policy.stores, plan.server == nil || plan.server == response.context?.server else {
                return false
            }
            let partition = plan.key.parts.partition
            let isSameUser = call.presentUser.map { $0() == partition.user } ?? false
            return response.context?.environment.rawValue == partition.environment && isSameUser
        }

        /// Stores a response, unless entries were removed since the response was requested or a newer response has
        /// arrived.
        private func store(
            _ fetched: APICall<Value>.Fetched,
            after transit: Duration,
            since removals: CacheChanges,
            _ turn: Int
        ) {
            let response = fetched.response
            // The app has set the conditional header field, so this 304 states only that the app's own copy is current.
            // The 304 is not stored.
            guard response.status != 304 || fetched.isConfirmation else { return }
            guard let answer = fields(of: response, transit) else { return forgetOlder(than: turn) }
            let willStore = plan.policy.willStore ?? plan.cache.defaults.willStore
            // After a 304, the stored response is kept even if the closure ``CachePolicy/willStore`` returns `nil`. The
            // closure can change only the header fields of the 304 response.
            let unchanged = fetched.isConfirmation ? answer : nil
            guard let changed = willStore.map({ $0(answer) ?? unchanged }) ?? answer else { return }
            // If the closure ``CachePolicy/willStore`` has changed the body, the new body is stored only if it can be
            // decoded.
            let isOwn = fetched.isConfirmation || changed.body == answer.body
            guard let value = isOwn ? response.value : try? call.value(of: changed),
                plan.cache.isNewest(turn, of: plan.key)
            else { return }
            let cost = fetched.isConfirmation ? fetched.cost : changed.body.count
            plan.unlessRemoved(since: removals, at: call.configuration) {
                let request = call.configuration.headers
                guard plan.keep(value, changed, cost: cost, turn: turn, request) else { return }
                keepOnDisk(changed, isConfirmation: fetched.isConfirmation)
            }
        }

        /// Removes the stored response if a newer response that is not stored has arrived, so that the older response
        /// is not shown again.
        private func forgetOlder(than turn: Int) {
            guard plan.cache.isNewest(turn, of: plan.key) else { return }
            plan.cache.withdraw(plan.key)
        }

        private func keepOnDisk(_ answer: StoredResponse, isConfirmation: Bool) {
            guard plan.policy.usesDisk, let disk = plan.cache.disk,
                !plan.isAmbiguousOnDisk(answer, call.configuration.headers)
            else { return }
            guard isConfirmation else { return disk.store(answer, for: plan.key) }
            disk.confirm(plan.key, with: stored?.answer?.headers ?? [:], by: answer)
        }

        /// Returns the ``StoredResponse`` for a response, with times from the policy and the header fields, or `nil` if
        /// HTTP's rules forbid storing it.
        private func fields(of response: APIResponse<Value>, _ transit: Duration) -> StoredResponse? {
            var answer = plan.answer(response.response)
            answer.transit = transit
            answer.redirectedTo = response.context?.redirects.last?.to.text
            guard plan.policy.freshness == .http else { return answer }
            guard plan.mayStore(call.configuration, status: response.status, response.headers) else { return nil }
            let http = HTTPFreshness(answer, request: call.configuration.headers)
            (answer.lifetime, answer.staleFor) = plan.policy.keepingTime(http)
            return answer
        }
    }
}

extension APIError {
    /// Whether the server responded that the resource does not exist (404) or no longer exists (410).
    fileprivate var hasGoneResponse: Bool { [404, 410].contains(unformatted.context.status) }
}
