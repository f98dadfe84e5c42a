import SwitchyardHTTP
package import SwitchyardServices
import SwitchyardTransport

/// The state that all handles of one client share: the transport, the servers, and the table of active requests.
///
/// Every handle (a ``NetworkClient``, also from ``NetworkClient/scoped()``) references this core, and so does every
/// request until it has ended. The core does not reference any handle, so the release of a handle can be detected.
package final class ClientCore: Sendable {
    let transport: any Transport
    package let time: any TimeSource
    let clock: TimeReader
    let options: NetworkClient.Options
    let events = EventHub<ClientEvent>()
    /// The observers of the interceptors in the options, or `nil` if there are none.
    let ownObservers: [any CallObserver]?
    /// The queue on which observers of requests are notified.
    let observers = ObserverQueue()
    /// The gate at which requests wait for the network.
    package let connectivity = ConnectivityGate()
    let objects = AssociatedObjects()
    /// The settings that apply to calls by URL and method.
    let rules: Locked<ConfigurationRules>
    /// The active downloads, streams and resumable uploads.
    let transfers = TransferTable()
    /// The identity of the client.
    ///
    /// The owner of each call (its user and environment) stores it.
    let identity = ClientIdentity()
    /// The number of write requests that may have changed each path.
    let writtenPaths = WrittenPaths()
    /// Whether calls may have an owner (a user and an environment), because there are credentials, users or cookies.
    ///
    /// Calls may also have an owner if ``knowsEnvironments`` is `true`.
    let knowsOwners: Bool
    private let ownsTransport: Bool
    /// The observer that ends the calls of a user who has logged out.
    ///
    /// `nil` if the client has no credentials.
    private let userObserver: UserObserver?
    /// Whether the options require a ``RequestFlow`` around every failover, because they have limits, interceptors,
    /// retries, or users.
    ///
    /// ``FlowPlan`` decides whether the call itself requires one.
    let surroundsRequests: Bool
    let state: Locked<State>

    struct State {
        var service: Service
        var pool: ServerPool
        /// The observers of calls, or `nil` instead of an empty array, because the check for `nil` is cheaper.
        var clientObservers: [ClientObserver]?
        /// The number of times that the service, the pool, the zone or the offline state was replaced.
        var replacements = 0
        /// Whether the environment may change between the creation of a call and its dispatch.
        var knowsEnvironments: Bool
        /// Whether the device is known to be offline.
        var isOffline = false
        /// The zone whose servers come first.
        var zone: String?
        var table = DispatchTable()
        var lastOwner: OwnerID = 0
    }

    init(
        service: Service,
        environment: ServiceEnvironment,
        transport: (any Transport)?,
        time: any TimeSource,
        options: NetworkClient.Options
    ) throws(ClientError) {
        self.time = time
        clock = TimeReader(time)
        self.options = options
        let ownObservers = options.interceptors.compactMap(\.observer)
        self.ownObservers = ownObservers.isEmpty ? nil : ownObservers
        rules = Locked(options.rules)
        ownsTransport = transport == nil
        surroundsRequests = options.surroundsRequests
        knowsOwners = options.hasLogins || options.generator.cookies != nil || options.perEnvironment != nil
        if let problem = options.retry?.problem { throw .retry(problem) }
        do throws(TransportError) {
            self.transport = if let transport { transport } else { try Transports.systemDefault() }
        } catch {
            throw .transport(error)
        }
        // Only a transport that the app passes in can have pinned keys.
        if let transport { try Self.checkPins(of: transport, for: service.servers, in: environment) }
        let zone = options.preferredZone
        try Self.check(zone: zone, in: service)
        let pool = try options.pool(of: service, in: environment, preferring: zone, at: time.now)
        let knowsEnvironments = service.environments.count > 1
        let state = Locked(State(service: service, pool: pool, knowsEnvironments: knowsEnvironments, zone: zone))
        self.state = state
        userObserver = options.credentials?.whenUserChanges { [transfers] environment in
            Self.endCallsOfFormerUsers(in: environment, state, transfers)
        }
    }

    deinit {
        events.finish()
        if ownsTransport { transport.shutdown() }
    }

    /// The current time.
    package var now: MonotonicTime { clock.now }

    /// Whether the environment may change between the creation of a call and its dispatch.
    var knowsEnvironments: Bool { state.withLock { $0.knowsEnvironments } }

    /// The service with its current list of servers.
    var service: Service { state.withLock { $0.service } }

    /// The servers of the current environment.
    ///
    /// A request keeps the pool with which it started.
    var pool: ServerPool { state.withLock { $0.pool } }

    /// The current servers and observers, read under one lock.
    ///
    /// A new request needs no other state.
    var present: (pool: ServerPool, clientObservers: [ClientObserver]?) {
        state.withLock { ($0.pool, $0.clientObservers) }
    }

    /// Returns the deadline of a request that starts at a given time.
    func deadline(
        of configuration: APIConfiguration,
        in pool: ServerPool,
        startedAt: MonotonicTime
    ) -> MonotonicTime {
        let timeout = configuration.packedTimeout.or(pool.generator.timeouts.packedTotal)
        return startedAt.advanced(by: timeout) ?? .distantFuture
    }

    /// Returns a new identifier for a handle.
    func makeOwner() -> OwnerID {
        state.withLock { state in
            state.lastOwner += 1
            return state.lastOwner
        }
    }
}

// MARK: - Requests

extension ClientCore {
    /// Adds the request to the table and starts it.
    ///
    /// After a shutdown, the request ends immediately.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - continues: Whether the request belongs to an active operation that a shutdown with a grace period waits for.
    ///     It is evaluated only while new requests are refused. By default this is `true` for the requests of a
    ///     credential refresh, because a call waits for them.
    func dispatch(
        _ request: some DispatchedRequest,
        continues: @autoclosure () -> Bool = CredentialBypass.isRefreshing
    ) {
        // The app has switched to another environment while the request waited for its turn.
        if let owner = request.callOwner, owner.environment != request.environment {
            return request.cancel(.cancelled)
        }
        let isOfRefresh = options.credentials?.isBypassed ?? false
        do throws(RequestFailure.Reason) {
            try state.withLock { (state) throws(RequestFailure.Reason) in
                try state.table.insert(request, continues: continues(), isOfRefresh: isOfRefresh)
            }
        } catch {
            return request.cancel(error)
        }
        request.start()
    }

    /// Calls the completion of a request that has ended and removes the request from the table.
    ///
    /// If no request is left, the callers of ``waitUntilIdle()`` are resumed.
    func finish(_ request: some DispatchedRequest, telling completion: () -> Void = {}) {
        completion()
        for waiter in state.withLock({ $0.table.remove(request) }) { waiter.resume(returning: true) }
    }

    /// Waits until no request and no transfer is active.
    ///
    /// Returns `false` if the task was cancelled first.
    func waitUntilIdle() async -> Bool {
        repeat {
            guard await transfers.waitUntilIdle(), await state.wait(in: \.table.waiters, unless: { $0.table.isIdle })
            else { return false }
            // A completion handler of a request may have started a transfer.
        } while !transfers.isIdle
        return true
    }

    /// Refuses new requests and transfers, except requests that active operations still need.
    func refuseRequests() {
        transfers.refuse()
        state.withLock { $0.table.refuse() }
    }

    /// Resets the health of all servers.
    func forgetHealth() throws(ClientError) {
        try replacePool { (service, old) throws(ClientError) in
            (service, try newPool(of: service, in: old.environment))
        }
    }

    package func cancel(_ ids: some Sequence<RequestID>) {
        for request in state.withLock({ state in ids.compactMap { state.table[$0] } }) { request.cancel(.cancelled) }
        transfers.cancel(ids)
    }

    /// Cancels the requests sent through the handle with the identifier `owner`, or through all handles if `owner` is
    /// `nil`.
    ///
    /// The requests of a credential refresh are not cancelled.
    func cancelAll(of owner: OwnerID?) {
        for request in ordinaryRequests(of: owner) { request.cancel(.cancelled) }
        transfers.cancelAll(of: owner)
    }

    /// The active requests.
    var requests: [any DispatchedRequest] {
        state.withLock { $0.table.all }.filter { !$0.hasEnded }
    }

    /// Returns the active requests sent through the handle with the identifier `owner`, or through all handles if
    /// `owner` is `nil`.
    ///
    /// The requests of a credential refresh are left out.
    func ordinaryRequests(of owner: OwnerID?) -> [any DispatchedRequest] {
        state.withLock { $0.table.ordinary(of: owner) }.filter { !$0.hasEnded }
    }

    /// Adds an action that runs at the shutdown, and returns a closure that removes the action.
    func whenShutDown(_ action: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        objects.object { ShutdownHandlers() }.add(action)
    }

    /// Refuses new requests and ends active ones.
    func shutdown() {
        for request in state.withLock({ $0.table.close() }) { request.cancel(.closed) }
        transfers.close()
        objects.existing(ShutdownHandlers.self)?.end()
        events.finish()
        transport.shutdown()
    }
}

extension ClientCore {
    /// The owner of transfers that several requests share, and of the parts of a transfer.
    ///
    /// These transfers belong to no handle, so no handle has this identifier.
    static let ownerOfShared: OwnerID = 0

    /// Returns the route of the first attempt of a request.
    ///
    /// If another server is due for a probe or a warm-up request (both are copies of a read whose responses are
    /// discarded), the result also has that copy. Servers in `barred` are not chosen, because they do not serve the
    /// request as it was built.
    func firstRoute(
        for configuration: APIConfiguration,
        avoiding avoided: [Server.ID] = [],
        barring barred: [Server.ID] = [],
        in pool: ServerPool,
        at now: MonotonicTime
    ) throws(RequestFailure.Reason) -> (route: ServerPool.Route, probe: ServerPool.Probe?) {
        switch configuration.server {
        case .baseURL(let url):
            return (ServerPool.Route(to: ServerPool.Place(BaseURL(url))), nil)
        case .named(let name):
            return (try pool.fixed(name, for: configuration, at: now), nil)
        case .automatic:
            if let url = configuration.prebuiltRequest?.url {
                return (try pool.route(to: url, for: configuration, at: now) ?? pool.foreignRoute(to: url), nil)
            }
            guard configuration.leavesChoice else {
                return (pool.foreignRoute(to: RequestURL(configuration.path)), nil)
            }
            return try pool.first(
                for: configuration,
                excluding: avoided,
                barring: barred,
                probing: options.probePath,
                at: now
            )
        }
    }

    /// Builds the request of one attempt.
    ///
    /// The total timeout in the result is that of the whole call, so the caller of this method replaces it. A
    /// ``Failover`` removes it, because it measures the time over all attempts itself. A probe sets its own timeout.
    func request(
        for configuration: APIConfiguration,
        on route: ServerPool.Route,
        in pool: ServerPool
    ) throws(RequestError) -> HTTPRequest {
        var request = try pool.generator.request(
            for: configuration,
            on: route.base,
            home: route.home,
            as: route.role
        )
        request.skipsRedirectBody = (configuration.redirects ?? options.redirects).decidesByHead
        // The base URLs were checked when the client was created, so only a URL that is not below the base URL is
        // checked here.
        if route.attempt == nil || !request.url.isBelow(route.base), !request.url.isSecure {
            try options.insecureHTTP.check(request.url)
        }
        return consume request
    }
}
