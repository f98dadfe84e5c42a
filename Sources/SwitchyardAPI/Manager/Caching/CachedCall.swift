import Foundation
package import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// A call whose response may come from the cache and is stored there.
package struct CachedCall<Value: Sendable>: Sendable {
    let call: APICall<Value>
    package let plan: CachePlan

    /// Returns a stored response, or fetches a new response.
    ///
    /// If fetching fails, a stored response may be returned.
    ///
    /// - Parameters:
    ///   - client: The client handle for the fetch. It is separate from the manager's handle, because all waiters share
    ///     the fetch.
    ///   - calls: The calls of the manager, so that the call is cancelled with them, or `nil` if it has no manager.
    /// - Returns: The response and its source.
    /// - Throws: ``APIError`` of the fetch, if no stored response can replace it.
    nonisolated(nonsending) func response(
        through client: @autoclosure () -> NetworkClient,
        among calls: @autoclosure () -> CallTable? = nil
    ) async throws(APIError) -> APIResponse<Value> {
        let policy = policy
        let client = client()
        // Stored responses belong to the current environment and user, but the call may have been created for an
        // earlier environment or user.
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
            return handedOut(stored, by: client)
        case .refuse(let reason):
            throw call.module.completed(APIError(.cache(reason)))
        case .respondAndRefresh(let conditions):
            let fetch = Fetch(of: self, through: client, confirming: stored, with: conditions)
            let response = handedOut(stored, by: client)
            _ = flight(fetch, needsWaiters: false)
            return response
        case .ask(let conditions):
            let fetch = Fetch(of: self, through: client, confirming: stored, with: conditions)
            return try await fetchedOrStored(fetch, stored, among: calls())
        }
    }

    private func handedOut(_ stored: CachedValue<Value>, by client: NetworkClient) -> APIResponse<Value> {
        notifyObservers(of: stored, by: client)
        return APIResponse(stored)
    }

    /// Notifies the observers that the call gets a stored response.
    package func notifyObservers(of stored: CachedValue<Value>, by client: NetworkClient) {
        guard let observers = plan.observers else { return }
        client.notify(
            observers,
            ofCachedResponseFor: call.configuration,
            in: environment,
            status: stored.answer?.status ?? 200,
            isFresh: stored.isFresh
        )
    }

    private var environment: ServiceEnvironment {
        ServiceEnvironment(rawValue: plan.key.parts.partition.environment)
    }

    private var lifetime: Duration { plan.lifetime }

    private var fields: HTTPHeaders { plan.selecting(call.configuration.headers) }

    /// The policy of the call for stored responses.
    ///
    /// If HTTP's rules decide on freshness, `only-if-cached` in the request's `Cache-Control` forbids sending the
    /// request (RFC 9111 section 5.2.1.7).
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
            return handedOut(stored, by: fetch.client)
        }
    }

    /// Waits for the fetch that all calls with the same missing response share, until this call's own deadline.
    ///
    /// A fetch has the deadline of the call that started it. When that deadline has passed, a waiting call with a later
    /// deadline starts another fetch.
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
            // The call that started the fetch may belong to another module with other messages.
            case .landed(.failure(let error)) where !isOwn: throw call.reworded(error)
            case .landed(let result): return try result.get()
            case .gone where !Task.isCancelled: continue
            case .late: throw call.module.completed(APIError(.limited(.deadline)))
            case .gone, .cancelled: throw call.module.completed(APIError(.cancelled(.caller)))
            }
        }
    }

    /// Returns whether this call's own rules accept or reject the status like the call that started the fetch.
    private func isByOwnRules(_ result: Result<APIResponse<Value>, APIError>) -> Bool {
        switch result {
        case .success(let response): call.accepts(response.status)
        case .failure(let error):
            if case .status(let status) = error.unformatted.reason { !call.accepts(status) } else { true }
        }
    }

    /// Returns whether enough time is left to start another fetch after a fetch ran out of time.
    ///
    /// Calls that started at about the same time as the fetch have little time left, so they do not each start another
    /// fetch.
    private static func mayGoOn(to deadline: MonotonicTime?, _ time: any TimeSource) -> Bool {
        !Task.isCancelled && deadline.map { time.now.duration(to: $0) > .milliseconds(100) } ?? true
    }

    /// Joins the fetch in flight or starts a new fetch, and returns whether the fetch is new.
    ///
    /// A fetch of a call with other options is not joined, because these options, such as a shorter idle timeout, could
    /// make it fail.
    private func flight(_ fetch: Fetch, needsWaiters: Bool) -> (SingleFlight<Value>, isNew: Bool) {
        fetch.client.flights.join(
            plan.key,
            plan.stamp,
            as: Value.self,
            asking: fields,
            under: RequestIdentity.fetchOptions(of: call.configuration),
            of: call.configuration.callOwner,
            after: plan.removalsSoFar(at: call.configuration),
            needsWaiters: needsWaiters
        ) { await fetch.run() }
    }
}

extension APIError {
    /// Whether the call failed because its deadline passed.
    fileprivate var isDeadline: Bool { unformatted.reason == .limited(.deadline) }
}
