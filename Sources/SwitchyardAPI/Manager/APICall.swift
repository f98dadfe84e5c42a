import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// One call of a manager: the request to send, and the steps that make a value of its response.
///
/// This file is the life of a call, from top to bottom:
///
/// 1. **Rules, owner, cache.** ``APIManager/call(_:with:keepsOwner:)`` applies the client's rules, binds the call to the
///    user and the environment of this moment, and makes a ``CachePlan`` if the response may be stored.
/// 2. **Stored response.** ``obtained(through:id:among:)`` ends here if ``CachedCall`` finds a usable response.
/// 3. **Request.** ``received(through:id:with:about:within:)`` passes the call to the client. `RequestFlow` runs limits,
///    interceptors, credentials and retries in rounds.
/// 4. **Attempts.** In each round, `Failover` chooses a server, sends an attempt, and may continue with another server.
/// 5. **End of the request.** The request leaves the client's table with a response, whatever its status.
/// 6. **Validation and decoding.** ``decoded(_:)`` applies the rules for the response and the serializer.
/// 7. **Storage.** ``CachedCall/Fetch`` stores the response if the call has a plan.
/// 8. **Owner.** ``response(through:id:among:)`` drops a response whose user has left.
///
/// A call holds neither the manager nor its client, so that both can be released while the call is in flight. It is a
/// class, because it is passed through many functions and each would copy a configuration of two dozen fields.
final class APICall<Value: Sendable>: Sendable {
    /// The configuration with the client's rules, the owner, and the content types that the serializer accepts.
    let configuration: APIConfiguration
    let serializer: ResponseSerializer<Value>
    let module: APIModule
    /// The cached form of the call, or `nil` if its response is not stored.
    let cachePlan: CachePlan?
    /// A closure that returns the current user of the manager.
    let presentUser: (@Sendable () -> String?)?

    init(
        _ configuration: APIConfiguration,
        _ serializer: ResponseSerializer<Value>,
        _ module: APIModule,
        _ cachePlan: CachePlan? = nil,
        presentUser: (@Sendable () -> String?)? = nil
    ) {
        var accepting = configuration
        accepting.acceptedTypes = serializer.accept
        self.configuration = accepting
        self.serializer = serializer
        self.module = module
        self.cachePlan = cachePlan
        self.presentUser = presentUser
    }
}

// MARK: - The life of a call

extension APIManager {
    /// Returns a call as it is made now: with the client's rules, its owner, and its place in the cache.
    ///
    /// - Parameters:
    ///   - configuration: The configuration, as the app wrote it.
    ///   - serializer: The serializer of the response.
    ///   - keepsOwner: Whether an existing owner stays, because a request object was made earlier.
    /// - Returns: The call.
    func call<Value: Sendable>(
        _ configuration: APIConfiguration,
        with serializer: ResponseSerializer<Value>,
        keepsOwner: Bool = false
    ) -> APICall<Value> {
        let user = cacheUser
        let configuration = made(configuration, by: user, keepsOwner: keepsOwner)
        let plan = CachePlan.of(configuration, for: serializer, through: client, user: user)
        return call(configuration, serializer, plan, user)
    }

    /// Returns a call from parts that were made already.
    func call<Value: Sendable>(
        _ configuration: APIConfiguration,
        _ serializer: ResponseSerializer<Value>,
        _ plan: CachePlan?,
        _ user: String?
    ) -> APICall<Value> {
        let presentUser = plan == nil ? nil : presentUser(orLast: user)
        return APICall(configuration, serializer, module, plan, presentUser: presentUser)
    }
}

extension APICall {
    /// Returns the response of the call to its owner.
    ///
    /// - Parameters:
    ///   - client: The client that sends the request.
    ///   - id: The identifier of the request.
    ///   - calls: The calls of the manager with which a call that waits for a fetch can be cancelled; `nil` if the call
    ///     is in the table already.
    /// - Returns: The value with its response.
    /// - Throws: ``APIError``.
    nonisolated(nonsending) func response(
        through client: NetworkClient,
        id: RequestID = RequestID(),
        among calls: @autoclosure () -> CallTable? = nil
    ) async throws(APIError) -> APIResponse<Value> {
        let response = try await obtained(through: client, id: id, among: calls())
        try checkOwner(in: client)
        return response
    }

    /// Returns the stored response or the server's, whatever has become of the owner.
    nonisolated(nonsending) func obtained(
        through client: NetworkClient,
        id: RequestID = RequestID(),
        among calls: @autoclosure () -> CallTable? = nil
    ) async throws(APIError) -> APIResponse<Value> {
        guard let cached else { return try await fetched(through: client, id: id).response }
        // A fetch belongs to all its waiters, so it uses a handle of its own.
        return try await cached.response(through: calls()?.client ?? client, among: calls())
    }

    /// The call with its place in the cache, or `nil` if its response is not stored.
    var cached: CachedCall<Value>? { cachePlan.map { CachedCall(call: self, plan: $0) } }

    /// The result of a fetch.
    struct Fetched: Sendable {
        var response: APIResponse<Value>
        /// The body, or `nil` if the server confirmed a stored response.
        var body: Data?
        /// The size of the body in bytes.
        var cost: Int
        /// The number of times that the call itself has removed entries of the cache.
        var removals = 0
    }

    /// Sends the request, validates the response and decodes it, not on the caller's executor.
    ///
    /// - Parameters:
    ///   - client: The client that sends the request.
    ///   - id: The identifier of the request.
    ///   - stored: The stored response that the server may confirm.
    ///   - conditions: The header fields by which the server may confirm it.
    /// - Returns: The value with its response.
    /// - Throws: ``APIError``.
    @concurrent func fetched(
        through client: NetworkClient,
        id: RequestID = RequestID(),
        confirming stored: CachedValue<Value>? = nil,
        with conditions: HTTPHeaders = [:]
    ) async throws(APIError) -> Fetched {
        // A condition of the caller's own refers to the caller's copy, so its confirmation is returned to the caller.
        let mayConfirm = HTTPCacheRules.mayConfirm(configuration.method, configuration.headers)
        let conditions = mayConfirm ? conditions : [:]
        // One call has one deadline, also if it takes two requests.
        let deadline = conditions.isEmpty ? nil : client.deadline(of: configuration)
        var received = try await received(through: client, id: id, with: conditions, about: stored?.answer)
        if received.service.status == 304, let stored, !conditions.isEmpty {
            if isConfirmed(stored, by: received.service) { return confirmed(stored, by: received.service, in: client) }
            // The conditions were met by another URL or other content than they refer to, so the result proves nothing.
            received = try await receivedUnconditionally(through: client, id: id, by: deadline)
        }
        let response = try decoded(received)
        let removals = received.removals + removeTagged(in: client)
        return Fetched(response: response, body: received.data, cost: received.data.count, removals: removals)
    }

    /// Returns the response of an operation that is more than one request, such as a resumable upload.
    ///
    /// The operation starts on the caller's executor, where the owner of the call is known. The response is decoded
    /// elsewhere.
    ///
    /// - Parameters:
    ///   - client: The client of the operation.
    ///   - send: A closure that sends the call and returns the response, whatever its status.
    /// - Returns: The value with its response.
    /// - Throws: ``APIError``.
    nonisolated(nonsending) func response(
        through client: NetworkClient,
        sentBy send: OwnedSending
    ) async throws(APIError) -> APIResponse<Value> {
        let response = try await decodedElsewhere(try await received(through: client, sentBy: send))
        removeTagged(in: client)
        return response
    }

    @concurrent private func decodedElsewhere(_ received: Received) async throws(APIError) -> APIResponse<Value> {
        try decoded(received)
    }
}

// MARK: - Confirmation

extension APICall {
    /// Returns whether a response with the status 304 concerns the stored response: the same URL and the same content.
    private func isConfirmed(_ stored: CachedValue<Value>, by response: ServiceResponse) -> Bool {
        let place = response.context.redirects.last?.to.normalForm
        return stored.answer?.redirectedTo.map({ RequestURL($0)?.normalForm ?? $0 }) == place
            && HTTPCacheRules.concerns(stored.answer?.headers ?? [:], confirmation: response.headers)
    }

    private func confirmed(
        _ stored: CachedValue<Value>,
        by confirmation: ServiceResponse,
        in client: NetworkClient
    ) -> Fetched {
        let response = APIResponse(
            value: stored.value,
            status: stored.answer?.status ?? 200,
            headers: HTTPCacheRules.confirmed(stored.answer?.headers ?? [:], by: confirmation.headers),
            source: .revalidated,
            context: confirmation.context
        )
        return Fetched(response: response, body: nil, cost: stored.cost, removals: removeTagged(in: client))
    }
}
