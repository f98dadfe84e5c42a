import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// A call whose answer may come from the cache, and is stored there.
struct CachedCall<Value: Sendable>: Sendable {
    let call: APICall<Value>
    let plan: CachePlan
    let flights: SingleFlightTable
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
        switch StoredUse.of(stored, policy, lifetime: lifetime, request: fields) {
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

    private var fields: HTTPHeaders { plan.selecting(call.configuration.headers) }

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
            guard error.isRetryable, StoredUse.mayStandIn(stored, plan.policy, lifetime: lifetime, request: fields)
            else { throw error }
            return APIResponse(stored)
        }
    }

    /// Waits for the one fetch that all who miss the same answer share, as long as this call's own deadline allows.
    ///
    /// A fetch has the deadline of the call that began it. Whoever came later begins another one when that has passed.
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
            switch await flight.ending(among: calls, until: isBounded ? nil : deadline, on: time) {
            case .landed(.failure(let error)) where !isOwn && error.isDeadline && Self.mayGoOn(to: deadline, time):
                continue
            case .landed(let result) where !isOwn && !isByOwnRules(result): continue
            // The one that fetched may be of another module, with other words.
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
        case .failure(let error): error.unformatted.refusedStatus.map { !call.accepts($0) } ?? true
        }
    }

    /// Whether enough time is left for another fetch, when that of another call ran out of time; those who came at about
    /// the same time do not all begin one.
    private static func mayGoOn(to deadline: MonotonicTime?, _ time: any TimeSource) -> Bool {
        !Task.isCancelled && deadline.map { time.now.duration(to: $0) > .milliseconds(100) } ?? true
    }

    /// The fetch under way, or a new one, and whether it is new.
    private func flight(_ fetch: Fetch, needsWaiters: Bool) -> (SingleFlight<Value>, isNew: Bool) {
        flights.join(
            plan.key,
            plan.stamp,
            as: Value.self,
            asking: fields,
            after: plan.removalsSoFar(),
            needsWaiters: needsWaiters
        ) { await fetch.run() }
    }
}

extension APIError {
    /// Whether the time of the call was up.
    fileprivate var isDeadline: Bool { unformatted.reason == .limited(.deadline) }
}
