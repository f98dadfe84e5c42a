import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// A call whose response may come from the cache and is stored there.
struct CachedCall<Value: Sendable>: Sendable {
    let call: APICall<Value>
    let plan: CachePlan

    /// Returns the response: stored, fetched, or stored because fetching failed.
    ///
    /// - Parameters:
    ///   - client: The handle for the fetch, separate from the manager's: a fetch belongs to all its waiters.
    ///   - calls: The manager's calls, with which the call is cancelled; `nil` for any other call.
    /// - Returns: The response and its source.
    /// - Throws: ``APIError`` of the fetch, if no stored response can replace it.
    nonisolated(nonsending) func response(
        through client: @autoclosure () -> NetworkClient,
        among calls: @autoclosure () -> CallTable? = nil
    ) async throws(APIError) -> APIResponse<Value> {
        let policy = policy
        let client = client()
        // Stored responses belong to the current environment and user, and the call may be older.
        try call.checkOwner(in: client, beforeBeginningIn: environment)
        let stored: CachedValue<Value>
        switch await Recall(of: self).stored() {
        case .found(let found):
            try call.checkOwner(in: client)
            stored = found
        case .missing(let reason):
            guard policy.reading != .only else { throw call.module.completed(APIError(.cache(reason))) }
            return try await landed(Fetch(of: self, through: client), among: calls())
        }
        switch StoredUse.of(stored, policy, lifetime: lifetime, request: fields) {
        case .answer:
            return handedOut(stored)
        case .refuse(let reason):
            throw call.module.completed(APIError(.cache(reason)))
        case .respondAndRefresh(let conditions):
            let fetch = Fetch(of: self, through: client, confirming: stored, with: conditions)
            _ = flight(fetch, needsWaiters: false)
            return handedOut(stored)
        case .ask(let conditions):
            let fetch = Fetch(of: self, through: client, confirming: stored, with: conditions)
            return try await fetchedOrStored(fetch, stored, among: calls())
        }
    }

    private func handedOut(_ stored: CachedValue<Value>) -> APIResponse<Value> {
        notifyObservers(of: stored)
        return APIResponse(stored)
    }

    /// Notifies the observers that the call gets a stored response.
    func notifyObservers(of stored: CachedValue<Value>) {
        guard let clientObservers = plan.clientObservers else { return }
        let status = stored.answer?.status ?? 200
        for clientObserver in clientObservers { clientObserver.recall?(call.configuration, status, stored.isFresh) }
    }

    private var environment: ServiceEnvironment {
        ServiceEnvironment(rawValue: plan.key.parts.partition.environment)
    }

    private var lifetime: Duration { plan.lifetime }

    private var fields: HTTPHeaders { plan.selecting(call.configuration.headers) }

    /// The policy for stored responses.
    ///
    /// If HTTP's rules decide, the request may require a stored response (RFC 9111 section 5.2.1.7).
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
            guard error.unformatted.isRetryable,
                StoredUse.mayStandIn(stored, plan.policy, lifetime: lifetime, request: fields)
            else { throw error }
            try call.checkOwner(in: fetch.client)
            return handedOut(stored)
        }
    }

    /// Waits, until this call's own deadline, for the one fetch that all calls with the same missing response share.
    ///
    /// A fetch has the deadline of the call that started it. When that has passed, a call with a later deadline starts
    /// another one.
    private nonisolated(nonsending) func landed(
        _ fetch: Fetch,
        among calls: CallTable?
    ) async throws(APIError) -> APIResponse<Value> {
        let time = fetch.client.time
        let deadline = fetch.client.deadline(of: call.configuration)
        var isFirst = true
        while true {
            let (flight, isOwn) = flight(fetch, needsWaiters: true)
            let isBounded = isFirst && isOwn
            isFirst = false
            let ending = await flight.ending(among: calls, until: isBounded ? nil : deadline, on: time)
            if !isOwn, let owner = flight.owner { call.configuration.callOwner?.adopt(owner) }
            switch ending {
            case .landed(.failure(let error)) where !isOwn && error.isDeadline && Self.mayGoOn(to: deadline, time):
                continue
            case .landed(let result) where !isOwn && !isByOwnRules(result): continue
            // The call that fetched may belong to another module with other messages.
            case .landed(.failure(let error)) where !isOwn: throw call.reworded(error)
            case .landed(let result): return try result.get()
            case .gone where !Task.isCancelled: continue
            case .late: throw call.module.completed(APIError(.limited(.deadline)))
            case .gone, .cancelled: throw call.module.completed(APIError(.cancelled(.caller)))
            }
        }
    }

    /// Whether the fetch of another call has ended as one of this call would, as far as its rules for the status decide.
    private func isByOwnRules(_ result: Result<APIResponse<Value>, APIError>) -> Bool {
        switch result {
        case .success(let response): call.accepts(response.status)
        case .failure(let error):
            if case .status(let status) = error.unformatted.reason { !call.accepts(status) } else { true }
        }
    }

    /// Whether enough time is left for another fetch after another call's ran out of time, so that calls that started
    /// together do not each start one.
    private static func mayGoOn(to deadline: MonotonicTime?, _ time: any TimeSource) -> Bool {
        !Task.isCancelled && deadline.map { time.now.duration(to: $0) > .milliseconds(100) } ?? true
    }

    /// Returns the fetch in flight or a new one, and whether it is new.
    private func flight(_ fetch: Fetch, needsWaiters: Bool) -> (SingleFlight<Value>, isNew: Bool) {
        fetch.client.flights.join(
            plan.key,
            plan.stamp,
            as: Value.self,
            asking: fields,
            of: call.configuration.callOwner,
            after: plan.removalsSoFar(),
            needsWaiters: needsWaiters
        ) { await fetch.run() }
    }
}

extension APIError {
    /// Whether the time of the call was up.
    fileprivate var isDeadline: Bool { unformatted.reason == .limited(.deadline) }
}

extension CachedCall {
    /// Looks for a stored response in memory, then on disk.
    struct Recall: Sendable {
        /// The result of the lookup.
        enum Outcome: Sendable {
            case found(CachedValue<Value>)
            /// Nothing that may be used, and why.
            case missing(APIError.CacheReason)
        }

        private let call: APICall<Value>
        private let plan: CachePlan

        init(of cached: CachedCall) {
            call = cached.call
            plan = cached.plan
        }

        nonisolated(nonsending) func stored() async -> Outcome {
            var reason = APIError.CacheReason.invalidMetadata
            if let entry = plan.cache.entry(for: plan.key, as: Value.self) {
                guard let refusal = refusal(of: entry) else { return .found(plan.judged(entry)) }
                reason = refusal
            }
            guard plan.policy.usesDisk, let disk = plan.cache.disk else { return .missing(reason) }
            return await recalled(from: disk)
        }

        /// Returns the matching value in memory, whether it is fresh or not.
        func remembered() -> CachedValue<Value>? {
            guard let entry = plan.cache.entry(for: plan.key, as: Value.self), refusal(of: entry) == nil else {
                return nil
            }
            return plan.judged(entry)
        }

        /// Returns the reason why a stored value does not match; `nil` if it matches.
        private func refusal(of entry: CachedValue<Value>) -> APIError.CacheReason? {
            if let refusal = entry.stamp.refusal(for: plan.stamp) { return refusal }
            // A call with other rules may have stored the value. A response on disk is decoded by this call's rules.
            guard call.accepts(entry.answer?.status) else { return .invalidData }
            // An entry with a lifetime of its call's own has no times for HTTP's rules, which may forbid its use.
            let isUnruled = plan.policy.freshness == .http && entry.answer != nil && entry.http == nil
            return isUnruled || !isToOwnFields(entry) ? .invalidMetadata : nil
        }

        /// Whether HTTP's rules, if they decide, accept the entry as the response to a request with the call's fields.
        private func isToOwnFields(_ entry: CachedValue<Value>) -> Bool {
            guard plan.policy.freshness == .http, let http = entry.http else { return true }
            return http.matches(plan.selecting(call.configuration.headers))
        }

        /// Reads and decodes the response on disk, not on the caller's executor, and stores it in memory.
        @concurrent private func recalled(from disk: any ResponseStore) async -> Outcome {
            do throws(APIError.CacheReason) {
                let removals = plan.removalsSoFar()
                let answer = try await disk.answer(for: plan.key)
                let now = plan.cache.wallClock()
                if let refusal = answer.refusal(for: plan.policy, appVersion: disk.appVersion, now: now) {
                    throw refusal
                }
                guard answer.isFor(plan.stamp.accept) else { throw .invalidMetadata }
                if await plan.isOutdated(answer, in: disk) { throw .expired }
                if plan.isAmbiguousOnDisk(answer, call.configuration.headers) { throw .invalidMetadata }
                guard let value = try? call.value(of: answer) else { throw .invalidData }
                let age = Duration(clampingSeconds: now.timeIntervalSince(answer.created))
                // An entry that has appeared in memory since is newer.
                if let entry = remembered() { return .found(entry) }
                plan.unlessRemoved(since: removals) {
                    plan.keep(value, answer, age: age, cost: answer.body.count, call.configuration.headers)
                }
                let found = found(value, answer, age: age)
                if let refusal = refusal(of: found) { throw refusal }
                return .found(plan.judged(found))
            } catch {
                return .missing(error)
            }
        }

        private func found(_ value: Value, _ answer: StoredResponse, age: Duration) -> CachedValue<Value> {
            CachedValue(
                value: value,
                age: age,
                isFresh: age < answer.lifetime,
                tags: answer.tags,
                answer: answer.head,
                cost: answer.body.count,
                http: plan.http(of: answer, call.configuration.headers),
                stamp: plan.stamp
            )
        }
    }
}

extension CachedCall {
    /// Sends the request once and stores the response.
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
            let removals = plan.removalsSoFar()
            // The fetch is recorded before it takes its number, so that fetches with later numbers see it.
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

        /// Whether a response is stored: it came from the server and from the key's environment, and its user is still
        /// logged in, so that no other user's credentials were sent with the request.
        private func isWanted(_ response: APIResponse<Value>) -> Bool {
            guard plan.policy.stores, plan.server == nil || plan.server == response.context?.server else {
                return false
            }
            let partition = plan.key.parts.partition
            let isSameUser = call.presentUser.map { $0() == partition.user } ?? false
            return response.context?.environment.rawValue == partition.environment && isSameUser
        }

        /// Stores a response, unless entries were removed since it was requested or a newer one has arrived.
        private func store(
            _ fetched: APICall<Value>.Fetched,
            after transit: Duration,
            since removals: CacheChanges,
            _ turn: Int
        ) {
            let response = fetched.response
            // A 304 states only that the caller has a copy already, which belongs to the caller alone.
            guard response.status != 304 || fetched.body == nil else { return }
            guard var answer = fields(of: response, transit) else { return forgetOlder(than: turn) }
            if let body = fetched.body { answer.body = body }
            let willStore = plan.policy.willStore ?? plan.cache.defaults.willStore
            // The stored response stays; the hook can change only the header fields of its confirmation.
            let unchanged = fetched.body == nil ? answer : nil
            guard let changed = willStore.map({ $0(answer) ?? unchanged }) ?? answer else { return }
            // A body that a reader of the disk could not decode is not stored.
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

        /// Removes the stored response after a newer one that is not stored, so that the older one is not shown again.
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

        /// Returns the response without its body, with times from the policy and the header fields; `nil` if HTTP's
        /// rules forbid storing it.
        private func fields(of response: APIResponse<Value>, _ transit: Duration) -> StoredResponse? {
            var answer = plan.answer(status: response.status, headers: response.headers)
            answer.transit = transit
            answer.redirectedTo = response.context?.redirects.last?.to.text
            guard plan.policy.freshness == .http else { return answer }
            guard plan.mayStore(call.configuration, status: response.status, response.headers) else { return nil }
            let http = HTTPStoredResponse(answer, request: call.configuration.headers)
            (answer.lifetime, answer.staleFor) = plan.policy.keepingTime(http)
            return answer
        }
    }
}

extension APIError {
    /// Whether the server responded that there is nothing, or nothing any more.
    fileprivate var hasGoneResponse: Bool { [404, 410].contains(unformatted.context.status) }
}
