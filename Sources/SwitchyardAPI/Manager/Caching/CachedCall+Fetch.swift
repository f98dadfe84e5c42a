import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

extension CachedCall {
    /// Asks the server once, and stores what it answers.
    struct Fetch: Sendable {
        private let call: APICall<Value>
        private let plan: CachePlan
        private let presentUser: @Sendable () -> String?
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
            presentUser = cached.presentUser
            self.client = client
            self.stored = stored
            self.conditions = conditions
        }

        func run() async -> Result<APIResponse<Value>, APIError> {
            let start = client.time.now
            let removals = plan.removalsSoFar()
            // Before it has its turn, so that whoever has a later one knows of it.
            plan.cache.fetchedTurns.withLock { $0.begin(plan.key) }
            defer { plan.cache.fetchedTurns.withLock { $0.end(plan.key) } }
            let turn = plan.cache.nextTurn()
            let environment = ServiceEnvironment(rawValue: plan.key.parts.partition.environment)
            let userChanges = client.userChanges(in: environment)
            do throws(APIError) {
                let fetched = try await call.fetch(through: client, confirming: stored, with: conditions)
                if isWanted(fetched.response), client.userChanges(in: environment) == userChanges {
                    store(fetched, after: start.duration(to: client.time.now), since: removals + fetched.removals, turn)
                }
                return .success(fetched.response)
            } catch {
                if plan.policy.freshness == .http, error.isAnsweredGone { forgetOlder(than: turn) }
                return .failure(error)
            }
        }

        /// Whether an answer is to be stored: it came from the server and from the environment that the key stands for, and
        /// its user is still there, so that no other one's credentials went with the request.
        private func isWanted(_ response: APIResponse<Value>) -> Bool {
            guard plan.policy.stores, plan.server == nil || plan.server == response.context?.server else {
                return false
            }
            let partition = plan.key.parts.partition
            return response.context?.environment.rawValue == partition.environment && presentUser() == partition.user
        }

        /// Stores an answer, unless entries were removed since it was asked for, or another has come that is newer.
        private func store(
            _ fetched: APICall<Value>.Fetched,
            after transit: Duration,
            since removals: Int,
            _ turn: Int
        ) {
            let response = fetched.response
            // It says only that the caller has a copy already, which is nobody else's.
            guard response.status != 304 || fetched.body == nil else { return }
            guard var answer = fields(of: response, transit) else { return forgetOlder(than: turn) }
            if let body = fetched.body { answer.body = body }
            let willStore = plan.policy.willStore ?? plan.cache.defaults.willStore
            // What is stored was wanted; of its confirmation the hook may change the header fields, and no more.
            let unchanged = fetched.body == nil ? answer : nil
            guard let changed = willStore.map({ $0(answer) ?? unchanged }) ?? answer else { return }
            // What is stored has to be what a reader of the disk would decode; what cannot be decoded is not stored.
            let isOwn = fetched.body == nil || changed.body == answer.body
            guard let value = isOwn ? response.value : try? call.value(of: changed),
                plan.cache.isNewest(turn, of: plan.key)
            else { return }
            let cost = fetched.body == nil ? fetched.cost : changed.body.count
            plan.unlessRemoved(since: removals) {
                let request = call.configuration.headers
                guard plan.keep(value, changed, cost: cost, turn: turn, request) else { return }
                keepOnDisk(changed, isConfirmation: fetched.body == nil)
            }
        }

        /// Removes what is stored once a newer answer has come that is not: who has seen that one is not shown the older
        /// one again.
        private func forgetOlder(than turn: Int) {
            guard plan.cache.isNewest(turn, of: plan.key) else { return }
            plan.cache.withdraw(plan.key)
        }

        private func keepOnDisk(_ answer: StoredAnswer, isConfirmation: Bool) {
            guard plan.policy.usesDisk, let disk = plan.cache.disk,
                !plan.isAmbiguousOnDisk(answer, call.configuration.headers)
            else { return }
            guard isConfirmation else { return disk.store(answer, for: plan.key) }
            disk.confirm(plan.key, with: stored?.answer?.headers ?? [:], by: answer)
        }

        /// The answer without its body, with the times that policy and header fields give it; `nil` when HTTP's rules
        /// forbid storing it.
        private func fields(of response: APIResponse<Value>, _ transit: Duration) -> StoredAnswer? {
            var answer = plan.answer(status: response.status, headers: response.headers)
            answer.transit = transit
            answer.redirectedTo = response.context?.redirects.last?.to.text
            guard plan.policy.freshness == .http else { return answer }
            guard plan.mayStore(call.configuration, status: response.status, response.headers) else { return nil }
            let http = HTTPStoredAnswer(answer, request: call.configuration.headers)
            (answer.lifetime, answer.staleFor) = plan.policy.keepingTime(http)
            return answer
        }
    }
}

extension APIError {
    /// Whether the server has answered that there is nothing, or nothing any more.
    fileprivate var isAnsweredGone: Bool { [404, 410].contains(unformatted.context.status) }
}

extension CachePolicy {
    /// How long an answer is fresh, and how long it is kept beyond, when the call decides.
    func keepingTime(_ lifetime: Duration, _ headers: HTTPHeaders) -> (fresh: Duration, stale: Duration) {
        let canBeConfirmed = !HTTPCacheRules.conditions(for: headers).isEmpty
        return (lifetime, max(keepsStaleFor, canBeConfirmed ? keepsForConfirmation : .zero))
    }

    /// How long an answer is fresh, and how long it is kept beyond, when the answer decides.
    func keepingTime(_ http: HTTPStoredAnswer) -> (fresh: Duration, stale: Duration) {
        let control = CacheControl(http.headers)
        let windows = ["stale-while-revalidate", "stale-if-error"].compactMap { control.seconds($0) }
        let fresh = control.has("no-cache") ? 0 : max(0, http.lifetime - http.age(at: http.received))
        let (_, stale) = keepingTime(.zero, http.headers)
        return (.seconds(fresh), max(stale, .seconds(windows.max() ?? 0)))
    }
}
