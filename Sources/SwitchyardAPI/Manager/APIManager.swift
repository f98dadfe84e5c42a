public import Dispatch
public import Foundation
public import SwitchyardClient
public import SwitchyardHTTP
import SwitchyardServices

/// A part of the app's API.
///
/// The manager describes calls, and returns values, or errors that can be shown to the user.
///
///     final class TopicAPI: APIManager {
///         let client: NetworkClient
///         private let pages = PageRecorder<Topic>(pageSize: 20)
///
///         init(client: NetworkClient) {
///             self.client = client.scoped()
///         }
///
///         func refreshTopics() async throws(APIError) -> [Topic] {
///             try await pages.refresh { page in
///                 try await self.value(for: .topics(page: page.number, size: page.size))
///             }
///         }
///     }
///
/// Give each manager its own client handle (`client.scoped()`). Then ``cancelAll()`` cancels only the requests of this
/// manager, and these requests are cancelled when the manager is released. All managers of a client share its cache.
public protocol APIManager: AnyObject, Sendable {
    /// The client that sends the manager's requests, preferably the manager's own handle (`client.scoped()`).
    var client: NetworkClient { get }

    /// The common properties of the module's responses, by default ``APIModule/standard``.
    ///
    /// Store the module instead of creating it in the getter.
    var module: APIModule { get }

    /// The user whose responses are stored, so that they are shown to no other user.
    ///
    /// By default, it is the client's user (`NetworkClient.Options.user`). If it is `nil`, the responses belong to no
    /// named user.
    var cacheUser: String? { get }
}

extension APIManager {
    /// A module without an envelope (an outer JSON object around each response) and without codes of its own.
    public var module: APIModule { .standard }

    /// The client's user (`NetworkClient.Options.user`).
    public var cacheUser: String? { client.user }

    /// The cache of the manager's client.
    public var cache: ResponseCache { client.responseCache }

    /// Returns a closure that returns the current user without retaining the manager.
    ///
    /// After the manager has been released, the closure returns `user`.
    package func presentUser(orLast user: String?) -> @Sendable () -> String? {
        { [weak self] in
            guard let self else { return user }
            return cacheUser
        }
    }
}

// MARK: - Cancelling

extension APIManager {
    /// Cancels a call that was made with a completion handler.
    ///
    /// If the call has ended, nothing happens.
    public func cancel(_ id: RequestID) {
        cancel(CollectionOfOne(id))
    }

    /// Cancels several calls that were made with completion handlers.
    public func cancel(_ ids: some Sequence<RequestID>) {
        client.objects.existing(CallTable.self)?.cancel(ids)
    }

    /// Cancels all calls of the manager, which are the calls that were made through its own client handle.
    public func cancelAll() {
        if let calls = client.objects.existing(CallTable.self) { calls.cancel(calls.active) }
        client.cancelAll()
    }

    /// The identifiers of the calls in flight, the oldest first.
    ///
    /// A call that a task awaits is included only while it waits for a server.
    public var activeRequests: [RequestID] {
        let calls = client.objects.existing(CallTable.self)?.active ?? []
        return Set(calls).union(client.activeRequests).sorted()
    }

    /// Whether any call is in flight.
    public var isLoading: Bool { !activeRequests.isEmpty }
}

// MARK: - Cache

extension NetworkClient {
    /// The cache that is shared by all managers of the client, including managers with `scoped()` handles.
    ///
    /// The cache is created with the standard limits on first use. To use another cache, set it before the first call.
    public var responseCache: ResponseCache {
        get {
            sharedObjects.object {
                removesResponsesOfFormerUsers()
                return ResponseCache(time: time)
            }
        }
        set {
            removesResponsesOfFormerUsers()
            // A user may have logged out before the cache was set, and the disk may still contain that user's
            // responses.
            let gone = newValue.beginsServing(place.service) ? environmentsOfOtherUsers : []
            for environment in gone {
                newValue.removeUnnamed(in: CachePartition(service: place.service, environment: environment.rawValue))
            }
            sharedObjects.replace(newValue)
        }
    }

    /// From now on, removes the responses that belong to no named user whenever the user changes.
    private func removesResponsesOfFormerUsers() {
        _ = sharedObjects.object {
            StorageObserver(
                whenUserChanges { [service = place.service, weak objects = sharedObjects] environment in
                    let partition = CachePartition(service: service, environment: environment.rawValue)
                    objects?.existing(ResponseCache.self)?.removeUnnamed(in: partition)
                }
            )
        }
    }

    /// The cache, or `nil` if it has not been created yet.
    var existingResponseCache: ResponseCache? {
        sharedObjects.existing(ResponseCache.self)
    }

    /// The fetches in flight, each of which several calls can share.
    package var flights: SingleFlightTable {
        sharedObjects.object { SingleFlightTable() }
    }
}

/// Retains the observer of the client's users until the client is released.
private final class StorageObserver: Sendable {
    private let watch: UserObserver?

    init(_ watch: UserObserver?) {
        self.watch = watch
    }
}

extension APIManager {
    /// Stores a response for a call in memory and on disk, as if a server had sent it.
    ///
    /// Use it for responses that are contained in other responses: for example, the list of topics may contain the
    /// response for each topic. The response is checked and decoded like a response from a server, so nothing is stored
    /// that a call could not use. If HTTP's rules decide on freshness, the header fields define how long the response
    /// is fresh, and a response whose header fields forbid storing is not stored. ``CachePolicy/willStore`` is called
    /// too. A response to an earlier request does not replace this response.
    ///
    /// - Parameters:
    ///   - body: The whole body, including the module's envelope (outer JSON object) if it has one.
    ///   - headers: The header fields of the response.
    ///   - configuration: The call for which the response is stored. Its lifetime and policy apply.
    ///   - serializer: The serializer of the value.
    /// - Returns: The value.
    /// - Throws: ``APIError`` if the call does not accept the response or is not cached.
    @discardableResult
    public func storeResponse<Value: Sendable>(
        _ body: Data,
        headers: HTTPHeaders = ["Content-Type": "application/json"],
        for configuration: APIConfiguration,
        with serializer: ResponseSerializer<Value>
    ) throws(APIError) -> Value {
        let configuration = client.ruled(configuration) ?? configuration
        guard let plan = CachePlan.of(configuration, for: serializer, through: client, user: cacheUser) else {
            throw module.completed(APIError(.cache(.invalidLifetime)))
        }
        let call = APICall(configuration, serializer, module)
        let answer = plan.answer(HTTPResponse(status: 200, headers: headers, body: .whole(body)))
        do throws(APIError) {
            let value = try call.value(of: answer)
            if plan.mayStore(configuration, headers) { try store(answer, with: value, of: call, plan) }
            return value
        } catch {
            throw module.completed(error)
        }
    }

    private func store<Value: Sendable>(
        _ given: StoredResponse,
        with value: Value,
        of call: APICall<Value>,
        _ plan: CachePlan
    ) throws(APIError) {
        let request = call.configuration.headers
        var answer = given
        if let http = plan.http(of: answer, request) {
            (answer.lifetime, answer.staleFor) = plan.policy.keepingTime(http)
        }
        let willStore = plan.policy.willStore ?? plan.cache.defaults.willStore
        guard let changed = willStore.map({ $0(answer) }) ?? answer else { return }
        let value = changed.body == given.body ? value : try call.value(of: changed)
        plan.followRules()
        let turn = plan.cache.nextTurn()
        _ = plan.cache.isNewest(turn, of: plan.key)
        guard plan.keep(value, changed, cost: changed.body.count, turn: turn, request) else { return }
        if plan.policy.usesDisk, !plan.isAmbiguousOnDisk(changed, request) {
            plan.cache.disk?.store(changed, for: plan.key)
        }
    }

    /// Removes the stored response of a call from memory and disk.
    public func removeResponse(for configuration: APIConfiguration) {
        var configuration = client.ruled(configuration) ?? configuration
        // Only the cache key is needed. The varying header fields are not computed, because the app may be unable to
        // compute them.
        configuration.cache.freshness = .lifetime
        guard let plan = CachePlan.of(configuration, accepting: nil, through: client, user: cacheUser) else { return }
        plan.cache.remove(plan.key)
    }

    /// Removes all stored responses of the manager's user in the current environment, for a logout.
    ///
    /// If the manager has no user, the responses of all users are removed.
    public func removeResponses() {
        let environment = client.environment.rawValue
        cache.removeAll(in: CachePartition(service: client.service.name, environment: environment, user: cacheUser))
    }
}

extension APIManager {
    /// Makes a call and passes its value to a completion handler.
    ///
    /// The call does not retain the manager. If the manager is released, the call fails with
    /// ``APIError/Cancellation/ownerReleased``.
    ///
    /// - Parameters:
    ///   - type: The type of the value. If it is optional, the value may be missing.
    ///   - configuration: The call.
    ///   - keyPath: The key path of the value. If the module has an ``APIModule/envelope``, the path starts in its
    ///     data.
    ///   - queue: The queue of the handler, the main queue by default.
    ///   - completion: The handler. It is called exactly once, after this method has returned.
    /// - Returns: The identifier with which the call can be cancelled, even if the response comes from the cache.
    @discardableResult
    public func value<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self,
        for configuration: APIConfiguration,
        at keyPath: String? = nil,
        on queue: DispatchQueue = .main,
        completion: @escaping @Sendable (Result<Value, APIError>) -> Void
    ) -> RequestID {
        let serializer = module.serializer(for: type, at: keyPath)
        return response(for: configuration, with: serializer, on: queue) { result in
            completion(result.map(\.value))
        }
    }

    /// Makes a call with a custom serializer, and passes its value and the response to a completion handler.
    ///
    /// - Parameters:
    ///   - configuration: The call.
    ///   - serializer: The serializer of the value. ``APIModule/serializer(for:at:)`` returns a serializer that
    ///     removes the module's envelope.
    ///   - queue: The queue of the handler, the main queue by default.
    ///   - completion: The handler. It is called exactly once, after this method has returned.
    /// - Returns: The identifier with which the call can be cancelled.
    @discardableResult
    public func response<Value: Sendable>(
        for configuration: APIConfiguration,
        with serializer: ResponseSerializer<Value>,
        on queue: DispatchQueue = .main,
        completion: @escaping @Sendable (Result<APIResponse<Value>, APIError>) -> Void
    ) -> RequestID {
        let id = RequestID()
        let gate = CallbackGate()
        let call = call(configuration, with: serializer)
        begin(call, id: id) { [scope = client.calls.client] result in
            gate.pass { queue.async { completion(call.delivered(result, in: scope)) } }
        }
        gate.open()
        return id
    }

    /// Applies the client's rules to a call, and starts the call under an identifier.
    ///
    /// The completion is called once, on any thread.
    package func begin<Value: Sendable>(
        _ configuration: APIConfiguration,
        with serializer: ResponseSerializer<Value>,
        id: RequestID,
        completion: @escaping @Sendable (Result<APIResponse<Value>, APIError>) -> Void
    ) {
        begin(call(configuration, with: serializer, keepsOwner: true), id: id, completion: completion)
    }

    /// Starts a call under an identifier.
    ///
    /// The completion is called once, on any thread.
    func begin<Value: Sendable>(
        _ call: APICall<Value>,
        id: RequestID,
        completion: @escaping @Sendable (Result<APIResponse<Value>, APIError>) -> Void
    ) {
        let calls = client.calls
        calls.enter(id)
        let task = Task { [weak calls, scope = calls.client] in
            var result = await call.result(through: scope, id: id)
            if calls == nil {
                result = .failure(call.cancelled(.ownerReleased, insteadOf: result))
            } else if calls?.leave(id) == true {
                result = .failure(call.cancelled(.caller, insteadOf: result))
            }
            completion(result)
        }
        calls.attach(task, to: id)
    }
}

extension APICall {
    /// Returns the cancellation error that replaces the outcome of a call.
    ///
    /// A server may still have executed the call.
    fileprivate func cancelled(
        _ reason: APIError.Cancellation,
        insteadOf result: Result<APIResponse<Value>, APIError>
    ) -> APIError {
        var error = APIError(.cancelled(reason))
        switch result {
        case .success(let response):
            response.context.map { error.context = APIError.Context($0) }
        case .failure(let own): error.context = own.context
        }
        return module.completed(error)
    }

    /// Returns the outcome for the caller.
    ///
    /// If the user of the call has logged out or changed, the outcome is replaced by a cancellation.
    fileprivate func delivered(
        _ result: Result<APIResponse<Value>, APIError>,
        in client: NetworkClient
    ) -> Result<APIResponse<Value>, APIError> {
        guard case .success = result else { return result }
        do throws(APIError) {
            try checkOwner(in: client)
            return result
        } catch {
            return .failure(error)
        }
    }

    /// Returns the outcome of the call, from the cache if the call is cached.
    fileprivate func result(through client: NetworkClient, id: RequestID) async -> Result<APIResponse<Value>, APIError>
    {
        do throws(APIError) {
            return .success(try await obtained(through: client, id: id))
        } catch {
            return .failure(error)
        }
    }
}
