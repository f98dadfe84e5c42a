import Foundation
package import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// One call of a manager: the request to send, and the steps that make a value of its response.
///
/// The life of a call, in order, with the file of each stage:
///
/// 1. **Rules, owner, cache** (`SwitchyardAPI/Manager/APIManager+Values.swift`). The client's rules are applied. The
///    call gets an owner, which is the current environment and the current user or the owner of the earlier work that
///    the call continues. (The calls of an interceptor and those of a chain of requests continue earlier work.) The
///    call also gets a cache plan if its response may be stored (`SwitchyardAPI/Manager/Caching/CachePlan.swift`).
///    `APIManager.value(_:for:at:)` ends here with a fresh value in memory if five conditions are met. The value was
///    stored with status 200. The call's cache policy has `reading == .whenFresh`. Its `freshness` is `.lifetime`. No
///    observer is set. The call does not continue earlier work. Otherwise, an ``APICall`` is made with the
///    configuration, the owner and the cache plan. `value(_:for:at:)` makes the ``APICall`` itself. The other methods
///    of a manager that send a single request make it with `call(_:with:keepsOwner:)` in this file.
/// 2. **Stored response** (`SwitchyardAPI/Manager/Caching/CachedCall.swift`). A call that has a cache plan looks for a
///    response in memory, then on disk (`SwitchyardAPI/Manager/Caching/CachedCall+Recall.swift`). A fresh response ends
///    the call. A call that may use only stored responses ends here with an error if no response is usable. If such a
///    call has no cache plan, it ends in `sent` with the error `invalidLifetime`. For other calls, the policy decides
///    whether a stale response ends the call while it is refreshed, is first revalidated by the server, or replaces a
///    failure (`SwitchyardAPI/Manager/Caching/StoredUse.swift`). Calls that miss the same response share one fetch.
/// 3. **Request** (this file, `SwitchyardAPI/Manager/APICall+Receiving.swift`). The call is passed to the client
///    (`SwitchyardClient/Dispatch/NetworkClient+Sending.swift`) by `sent`, or by `fetched` if the call has a cache
///    plan. The client chooses the kind of the request (`ClientCore+Dispatch.swift`). A call with `sharing` is a
///    `SharedRequest` if it can share a transfer (`SharedName.swift`). The first of several equal `SharedRequest`s
///    starts their transfer, which is a request of its own without `sharing`. Any other request, with or without
///    `sharing`, that has limits, interceptors, credentials, retries, observers or an owner that is bound to a login
///    runs in rounds (`SwitchyardClient/Flow/RequestFlow+Rounds.swift`). A round is one try at the request with its
///    failovers and hedges. A request with none of these has a single round. Every request is added to the dispatch
///    table of the client (`SwitchyardClient/Client/ClientCore.swift`), unless the environment has changed, the client
///    is closed, or the identifier of the request is in use.
/// 4. **Attempts** (`SwitchyardClient/Failover/Failover.swift`, `Failover+Attempts.swift`). In each round a server is
///    chosen and an attempt is sent, and another server may follow. If the call has a `stubResponse`, the round ends
///    with that response before a server is chosen. If the call is bound to a base URL (`server = .baseURL(url)`), the
///    attempt is sent to this URL, and no server is chosen.
/// 5. **End of the request** (`SwitchyardClient/Failover/Failover+Ending.swift`,
///    `SwitchyardClient/Flow/RequestFlow.swift`, `SwitchyardClient/Dispatch/SharedRequest.swift`,
///    `SwitchyardClient/Client/ClientCore.swift`). When a round ends, the outcomes of its attempts are reported to the
///    switching core, which may eject a server because of them. If the request runs in a `RequestFlow`, the end of a
///    round does not end the request: the `RequestFlow` ends the request or starts another round. The request ends
///    once, with a response of any status or a failure, and leaves the dispatch table.
/// 6. **Validation and decoding** (`SwitchyardAPI/Manager/APICall+Decoding.swift`). Before this stage, `removeChanged`
///    removes the cache entries that the responses to a write have made outdated. If the request failed, only the
///    redirects before the failure count as responses to the write. If this stage succeeds or the server confirms a
///    stored response (304), `removeTagged` then removes the entries with the tags that the call names. Both functions
///    are in `APICall+Receiving.swift`.
/// 7. **Storage** (`SwitchyardAPI/Manager/Caching/CachedCall+Fetch.swift`). A call that has a cache plan runs stages 3
///    to 6 in its fetch, which then stores the response. There are several reasons not to store it. For example, the
///    user has changed since the request, the response comes from another environment or server than the plan requires,
///    a newer response has arrived, or HTTP's rules forbid it.
/// 8. **Owner** (`SwitchyardAPI/Manager/APICall+Decoding.swift`). If the owner of the call is bound to a login,
///    `APICall.response(through:id:among:)` in this file calls `checkOwner`. If the user of the call has logged out or
///    another user has logged in, the call fails, and the app receives no response. The user is also checked before a
///    stored response is used, before and after the attempts of each round (`RequestFlow+Rounds.swift`), before the
///    result of a round ends the request, and when the response leaves the client
///    (`SwitchyardClient/Dispatch/NetworkClient+Sending.swift`). A call with `APIConfiguration.outlivesLogout` passes
///    these checks. The environment is checked before a stored response is used and when the request enters the
///    dispatch table. If it has changed, the call is cancelled, even with `outlivesLogout`.
///
/// A call holds neither the manager nor its client, so that both can be released while the call is in flight. It is a
/// class, because it is passed through many functions and each would copy all of its fields.
package final class APICall<Value: Sendable>: Sendable {
    /// The configuration with the client's rules, the user and environment of the call, and the content types that the
    /// serializer accepts.
    let configuration: APIConfiguration
    let serializer: ResponseSerializer<Value>
    let module: APIModule
    /// The cache key and the rules for using and storing the response, or `nil` if the response is not stored.
    let cachePlan: CachePlan?
    /// A closure that returns the current user of the manager.
    let presentUser: (@Sendable () -> String?)?

    package init(
        _ configuration: consuming APIConfiguration,
        _ serializer: ResponseSerializer<Value>,
        _ module: APIModule,
        _ cachePlan: CachePlan? = nil,
        presentUser: (@Sendable () -> String?)? = nil
    ) {
        configuration.acceptedTypes = serializer.accept
        self.configuration = configuration
        self.serializer = serializer
        self.module = module
        self.cachePlan = cachePlan
        self.presentUser = presentUser
    }
}

// MARK: - From the configuration to the call

extension APIManager {
    /// Returns the call for a configuration, with the client's rules, a user and an environment, and a cache plan.
    ///
    /// - Parameters:
    ///   - configuration: The configuration, as the app wrote it.
    ///   - serializer: The serializer of the response.
    ///   - keepsOwner: Whether the user and environment that the configuration already has are kept, because they were
    ///     set when a request object was created.
    /// - Returns: The call.
    func call<Value: Sendable>(
        _ configuration: APIConfiguration,
        with serializer: ResponseSerializer<Value>,
        keepsOwner: Bool = false
    ) -> APICall<Value> {
        let user = cacheUser
        let configuration = made(configuration, by: user, keepsOwner: keepsOwner)
        let plan = CachePlan.of(configuration, for: serializer, through: client, user: user)
        let presentUser = plan == nil ? nil : presentUser(orLast: user)
        return APICall(configuration, serializer, module, plan, presentUser: presentUser)
    }
}

// MARK: - From the call to its response

extension APICall {
    /// Returns the response of the call if its user has not logged out.
    ///
    /// - Parameters:
    ///   - client: The client that sends the request.
    ///   - id: The identifier of the request.
    ///   - calls: The manager's table of calls, through which a call that waits for a fetch can be cancelled; `nil` if
    ///     the call is in the table already.
    /// - Returns: The value with its response.
    /// - Throws: ``APIError``.
    nonisolated(nonsending) func response(
        through client: NetworkClient,
        id: RequestID = RequestID(),
        among calls: @autoclosure () -> CallTable? = nil
    ) async throws(APIError) -> APIResponse<Value> {
        guard configuration.isBoundToLogin else {
            return try await obtained(through: client, id: id, among: calls())
        }
        return try await ownedResponse(through: client, id: id, among: calls())
    }

    /// Returns the response of a call that is bound to a login, if its user has not logged out.
    ///
    /// `@inline(never)` keeps the response out of the frame of other calls.
    @inline(never)
    private nonisolated(nonsending) func ownedResponse(
        through client: NetworkClient,
        id: RequestID,
        among calls: CallTable?
    ) async throws(APIError) -> APIResponse<Value> {
        let response = try await obtained(through: client, id: id, among: calls)
        try checkOwner(in: client)
        return response
    }

    /// Returns the stored response or the server's, even if the user of the call has logged out.
    package nonisolated(nonsending) func obtained(
        through client: NetworkClient,
        id: RequestID = RequestID(),
        among calls: @autoclosure () -> CallTable? = nil
    ) async throws(APIError) -> APIResponse<Value> {
        if let cachePlan { return try await response(storedBy: cachePlan, through: client, among: calls()) }
        // Without the `do`, an error is thrown on the executor of `sent` instead of the caller's (Swift 6.3).
        do throws(APIError) {
            return try await sent(through: client, id: id)
        } catch {
            throw error
        }
    }

    /// Returns the response of a call that has a cache plan, from the cache or the server.
    ///
    /// `@inline(never)` keeps the local variables of this function out of the frame of calls without a cache plan.
    @inline(never)
    private nonisolated(nonsending) func response(
        storedBy plan: CachePlan,
        through client: NetworkClient,
        among calls: CallTable?
    ) async throws(APIError) -> APIResponse<Value> {
        // The fetch uses the client handle of the `CallTable` instead of the manager's, because all waiters share the
        // fetch.
        try await CachedCall(call: self, plan: plan).response(through: calls?.client ?? client, among: calls)
    }

    /// The call with its cache plan, or `nil` if its response is not stored.
    package var cached: CachedCall<Value>? { cachePlan.map { CachedCall(call: self, plan: $0) } }

    /// The result of a fetch.
    struct Fetched: Sendable {
        var response: APIResponse<Value>
        /// The size of the body in bytes.
        var cost: Int
        /// The number of times that the call itself has removed entries of the cache.
        var removals: Int

        /// Whether the server confirmed a stored response, so that there is no new body.
        var isConfirmation: Bool { response.source == .revalidated }
    }

    /// Sends the request of a call whose response is not stored, validates the response and decodes it.
    ///
    /// This function does not run on the caller's executor.
    @concurrent private func sent(
        through client: NetworkClient,
        id: RequestID
    ) async throws(APIError) -> APIResponse<Value> {
        let cache = configuration.cacheBox
        // Nothing is stored for such a call, because it has no lifetime or changes something on the server.
        guard cache.value.reading != .only else { throw module.completed(APIError(.cache(.invalidLifetime))) }
        if module.errors != nil { try module.check() }
        let response: ServiceResponse
        do throws(RequestFailure) {
            response = try await client.answer(to: configuration, id: id, progress: configuration.progress)
        } catch {
            throw failed(error, in: client)
        }
        let received = try await whole(response, in: client)
        return try cache.value.removesTags.isEmpty ? decoded(received) : decoded(received, removingTaggedIn: client)
    }

    /// Decodes a response and then removes the stored responses with the tags that the call names.
    ///
    /// `@inline(never)` keeps the decoded response out of the frame of other calls.
    @inline(never)
    private func decoded(
        _ received: ReceivedResponse,
        removingTaggedIn client: NetworkClient
    ) throws(APIError) -> APIResponse<Value> {
        let response = try decoded(received)
        removeTagged(in: client)
        return response
    }

    /// Sends the request of a call that has a cache plan, validates the response and decodes it.
    ///
    /// This function does not run on the caller's executor.
    ///
    /// - Parameters:
    ///   - client: The client that sends the request.
    ///   - stored: The stored response that the server may confirm.
    ///   - conditions: The conditional header fields by which the server may confirm it.
    /// - Returns: The value with its response.
    /// - Throws: ``APIError``.
    @concurrent func fetched(
        through client: NetworkClient,
        confirming stored: CachedValue<Value>? = nil,
        with conditions: HTTPHeaders = HTTPHeaders()
    ) async throws(APIError) -> Fetched {
        let send: OwnedSending = { (call) throws(RequestFailure) in
            try await client.answer(to: call, id: RequestID(), progress: call.progress)
        }
        var received: ReceivedResponse
        // If the caller has set a conditional header field, that field refers to the caller's copy, so the 304 response
        // is returned to the caller.
        if let stored, !conditions.isEmpty, HTTPCacheRules.mayConfirm(configuration.method, configuration.headers) {
            // One call has one deadline, even if it takes two requests.
            let deadline = client.deadline(of: configuration)
            let conditional = asking(conditions, about: stored)
            received = try await self.received(through: client, sending: conditional, by: send)
            if received.service.status == 304 {
                if isConfirmed(stored, by: received.service) {
                    return confirmed(stored, by: received.service, in: client)
                }
                // The 304 response belongs to another URL or to other content than the stored response, so it proves
                // nothing about the stored response.
                let rest = deadline.map { max(.milliseconds(1), client.time.now.duration(to: $0)) }
                received = try await self.received(through: client, sending: asking(within: rest), by: send)
            }
        } else {
            received = try await self.received(through: client, sending: configuration, by: send)
        }
        let response = try decoded(received)
        let removals = received.removals + removeTagged(in: client)
        return Fetched(response: response, cost: response.response.data?.count ?? 0, removals: removals)
    }

    /// Returns the response of an operation that is more than one request, such as a resumable upload.
    ///
    /// The operation starts on the caller's executor, where the user of the call is known. The response is decoded
    /// elsewhere.
    ///
    /// - Parameters:
    ///   - client: The client of the operation.
    ///   - configuration: The configuration that the operation sends.
    ///   - send: A closure that sends the call and returns the response, whatever its status.
    /// - Returns: The value with its response.
    /// - Throws: ``APIError``.
    nonisolated(nonsending) func response(
        through client: NetworkClient,
        sending configuration: APIConfiguration,
        by send: OwnedSending
    ) async throws(APIError) -> APIResponse<Value> {
        let received = try await received(through: client, sending: configuration, by: send)
        // Without the `do`, an error is thrown on another executor than the caller's (Swift 6.3).
        do throws(APIError) {
            let response = try await decodedElsewhere(received)
            removeTagged(in: client)
            return response
        } catch {
            throw error
        }
    }

    @concurrent private func decodedElsewhere(
        _ received: ReceivedResponse
    ) async throws(APIError) -> APIResponse<Value> {
        try decoded(received)
    }
}

// MARK: - Confirmation

extension APICall {
    /// Returns whether a 304 response belongs to the stored response: it must be for the same URL and the same content.
    private func isConfirmed(_ stored: CachedValue<Value>, by response: ServiceResponse) -> Bool {
        let place = response.context.redirects.last?.to.normalForm
        return stored.redirectedTo.map({ RequestURL($0)?.normalForm ?? $0 }) == place
            && HTTPCacheRules.concerns(stored.answer?.headers ?? [:], confirmation: response.headers)
    }

    private func confirmed(
        _ stored: CachedValue<Value>,
        by confirmation: ServiceResponse,
        in client: NetworkClient
    ) -> Fetched {
        let response = APIResponse(
            value: stored.value,
            response: HTTPResponse(
                status: stored.answer?.status ?? 200,
                headers: HTTPCacheRules.confirmed(stored.answer?.headers ?? [:], by: confirmation.headers)
            ),
            source: .revalidated,
            sharedContext: confirmation.sharedContext
        )
        return Fetched(response: response, cost: stored.cost, removals: removeTagged(in: client))
    }
}
