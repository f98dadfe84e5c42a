import SwitchyardServices

/// What the handles of one client share: the transport, the servers, and the table of the requests under way.
///
/// Every ``NetworkClient`` made from one another by ``NetworkClient/scoped()`` points here, and so does every request
/// until it has ended; nothing here points back to a handle, so that releasing one can be noticed.
final class ClientCore: Sendable {
    /// Tells apart the handles through which requests are sent.
    typealias OwnerID = UInt64
    /// The service's name, and its servers in one environment.
    typealias Target = (service: String, pool: ServerPool)

    let transport: any Transport
    let time: any TimeSource
    private let clock: TimeReader
    let options: NetworkClient.Options
    let events = EventHub<ClientEvent>()
    /// Tells observers of requests.
    let observers = ObserverQueue()
    /// Where requests wait for the network.
    let connectivity = ConnectivityGate()
    let companions = Companions()
    /// Settings for groups of calls.
    let rules: Locked<ConfigurationRules>
    /// The transfers whose bodies are still under way.
    let transfers = TransferTable()
    private let ownsTransport: Bool
    /// Whether the options surround every request with something, so that an exchange alone does not do.
    private let surroundsRequests: Bool
    private let state: Locked<State>

    private struct State {
        var service: Service
        var pool: ServerPool
        /// How often service, pool, or what is known of the network were exchanged.
        var exchanges = 0
        /// Whether the machine is known to be offline.
        var isOffline = false
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
        rules = Locked(options.rules)
        ownsTransport = transport == nil
        surroundsRequests = options.surroundsRequests
        if let problem = options.retry?.problem { throw .retry(problem) }
        do throws(TransportError) {
            self.transport = if let transport { transport } else { try Transports.systemDefault() }
        } catch {
            throw .transport(error)
        }
        try Self.checkPins(of: self.transport, for: service.servers, in: environment)
        let pool = try ServerPool(service: service, environment: environment, now: time.now, options: options)
        state = Locked(State(service: service, pool: pool))
    }

    deinit {
        events.finish()
        if ownsTransport { transport.shutdown() }
    }

    /// The time.
    var now: MonotonicTime { clock.now }

    /// The service as it is now; its list of servers can be exchanged.
    var service: Service { state.withLock { $0.service } }

    /// The servers in use now.
    ///
    /// A request keeps the pool it started with.
    var pool: ServerPool { state.withLock { $0.pool } }

    /// What a request that starts now is sent to.
    var target: Target { state.withLock { ($0.service.name, $0.pool) } }

    /// When a request that starts now ends whatever happens.
    func deadline(
        of configuration: APIConfiguration,
        in pool: ServerPool,
        startedAt: MonotonicTime
    ) -> MonotonicTime {
        let timeout = configuration.packedTimeout.or(pool.generator.timeouts.packedTotal)
        return startedAt.advanced(by: timeout) ?? .distantFuture
    }

    /// Makes an identifier for a handle.
    func makeOwner() -> OwnerID {
        state.withLock { state in
            state.lastOwner += 1
            return state.lastOwner
        }
    }
}

// MARK: - Requests

extension ClientCore {
    /// Enters the request in the table and starts it; a request that comes after the shutdown ends at once.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - continues: Whether it belongs to something that is under way, for which a shutdown may wait; asked only then.
    ///     What the renewal of a credential sends does: a call waits for it.
    func dispatch(
        _ request: some DispatchedRequest,
        continues: @autoclosure () -> Bool = CredentialBypass.isRenewing
    ) {
        do throws(RequestFailure.Reason) {
            try state.withLock { (state) throws(RequestFailure.Reason) in
                try state.table.insert(request, continues: continues())
            }
        } catch {
            return request.cancel(error)
        }
        request.start()
    }

    /// Tells the caller of a request that has ended, takes it out of the table, and then tells those who wait for the
    /// last request's end.
    func remove(_ request: some DispatchedRequest, telling completion: () -> Void = {}) {
        completion()
        for watcher in state.withLock({ $0.table.remove(request) }) { watcher.resume(returning: true) }
    }

    /// Waits until no request and no transfer is under way; `false` when the task was cancelled before.
    func waitUntilIdle() async -> Bool {
        repeat {
            guard await transfers.waitUntilIdle(), await state.waitUntilIdle(\.table.watchers, { $0.table.watch() })
            else { return false }
            // Whoever was told of a request's end may have begun a transfer.
        } while !transfers.isIdle
        return true
    }

    /// Refuses new requests and transfers; those under way may ask for what they still need.
    func refuseRequests() {
        transfers.refuse()
        state.withLock { $0.table.refuse() }
    }

    /// Forgets what is known of the servers' health.
    func forgetHealth() throws(ClientError) {
        try exchange { (service, old) throws(ClientError) in
            (service, try newPool(of: service, in: old.environment))
        }
    }

    func cancel(_ ids: some Sequence<RequestID>) {
        for request in state.withLock({ state in ids.compactMap { state.table[$0] } }) { request.cancel(.cancelled) }
        transfers.cancel(ids)
    }

    /// Cancels the requests of one owner, or all of them.
    func cancelAll(of owner: OwnerID?) {
        for request in requests(of: owner) { request.cancel(.cancelled) }
        transfers.cancelAll(of: owner)
    }

    /// The requests under way, of one owner or all.
    func requests(of owner: OwnerID? = nil) -> [any DispatchedRequest] {
        state.withLock { $0.table.requests(of: owner) }.filter { !$0.hasEnded }
    }

    /// Refuses new requests and ends those under way.
    func shutdown() {
        for request in state.withLock({ $0.table.close() }) { request.cancel(.closed) }
        transfers.close()
        events.finish()
        transport.shutdown()
    }
}

// MARK: - Building

extension ClientCore {
    /// What surrounds a request; `nil` when it is an exchange and nothing more.
    func plan(for configuration: APIConfiguration, usesCredentials: Bool) -> FlowPlan? {
        guard surroundsRequests || configuration.rare != nil else { return nil }
        return FlowPlan(options, configuration, usesCredentials: usesCredentials)
    }
}

extension ClientCore {
    /// Where the first attempt of a request goes, and which server is due for a probe or a warm-up.
    func firstRoute(
        for configuration: APIConfiguration,
        avoiding avoided: [Server.ID] = [],
        in pool: ServerPool,
        at now: MonotonicTime
    ) throws(RequestFailure.Reason) -> (route: ServerPool.Route, probe: ServerPool.Route?) {
        switch configuration.server {
        case .baseURL(let url):
            return (ServerPool.Route(to: ServerPool.Place(BaseURL(url))), nil)
        case .named(let name):
            guard let route = pool.fixed(name, for: configuration, at: now) else { throw .unknownServer(name) }
            return (route, nil)
        case .automatic:
            if let url = configuration.prebuiltRequest?.url {
                return (pool.route(to: url, for: configuration, at: now) ?? pool.foreignRoute, nil)
            }
            guard configuration.leavesChoice else { return (pool.foreignRoute, nil) }
            return try pool.first(for: configuration, excluding: avoided, at: now)
        }
    }

    /// Builds the request of one attempt.
    ///
    /// Its total timeout is that of the whole request. The caller puts its own in the place: none for an exchange, which
    /// keeps that time over all attempts, another for a probe.
    func request(
        for configuration: APIConfiguration,
        on route: ServerPool.Route,
        in pool: ServerPool
    ) throws(RequestError) -> HTTPRequest {
        let request = try pool.generator.request(for: configuration, on: route.base, home: route.home)
        // The base URLs of the service were checked when the client was made; whatever leads elsewhere is checked here.
        if route.attempt == nil || !request.url.isBelow(route.base), !request.url.isSecure {
            try options.insecureHTTP.check(request.url)
        }
        return request
    }
}

// MARK: - Servers

extension ClientCore {
    /// Exchanges the pool; requests that have started keep theirs.
    func enter(_ environment: ServiceEnvironment) throws(ClientError) {
        let pools = try exchange { (service, old) throws(ClientError) in
            guard environment != old.environment else { return nil }
            try Self.checkPins(of: transport, for: service.servers, in: environment)
            return (service, try newPool(of: service, in: environment))
        }
        guard let pools else { return }
        let change = SwitchEvent(at: time.now, .environmentChanged(from: pools.old.environment, to: environment))
        publish([change], from: pools.new)
    }

    /// Exchanges the list of servers, in the environment in use and in those entered later.
    func replaceServers(_ servers: [Server]) throws(ClientError) {
        var told: [(events: [SwitchEvent], pool: ServerPool)] = []
        try exchange { (old, pool) throws(ClientError) in
            let new = try old.having(servers)
            try Self.checkPins(of: transport, for: servers, in: pool.environment)
            told.append((try pool.replace(servers, at: time.now), pool))
            return (new, pool)
        }
        for (events, pool) in told { publish(events, from: pool) }
    }

    /// Refuses servers that would be asked over http although their keys are pinned.
    private static func checkPins(
        of transport: any Transport,
        for servers: [Server],
        in environment: ServiceEnvironment
    ) throws(ClientError) {
        guard let pinned = transport as? PinnedTransport else { return }
        let texts = servers.flatMap { [$0.baseURLs[environment]?.text, $0.cdnURLs[environment]?.text] }
        do throws(PinRuleError) {
            try pinned.check(texts.compactMap { $0.flatMap { RequestURL($0) } })
        } catch {
            throw .pins(error)
        }
    }

    /// Exchanges service and pool for what is made of them, and begins anew when somebody else was faster: else one of
    /// the two changes would be lost.
    ///
    /// - Parameter make: Makes the new ones, outside the lock; `nil` when there is nothing to change.
    /// - Returns: The pool that was there and the one that is.
    /// - Throws: What `make` throws; then nothing has changed.
    @discardableResult
    private func exchange(
        _ make: (Service, ServerPool) throws(ClientError) -> (service: Service, pool: ServerPool)?
    ) throws(ClientError) -> (old: ServerPool, new: ServerPool)? {
        while true {
            let (service, pool, number) = state.withLock { ($0.service, $0.pool, $0.exchanges) }
            guard let new = try make(service, pool) else { return nil }
            let isDone = state.withLock { state in
                guard state.exchanges == number else { return false }
                state.exchanges += 1
                (state.service, state.pool) = new
                return true
            }
            if isDone { return (pool, new.pool) }
        }
    }

    private func newPool(of service: Service, in environment: ServiceEnvironment) throws(ClientError) -> ServerPool {
        let pool = try ServerPool(service: service, environment: environment, now: time.now, options: options)
        if state.withLock({ $0.isOffline }) { pool.setOffline(true, at: time.now) }
        return pool
    }

    /// Takes note of whether the machine is offline, for the servers in use and for those entered later.
    func setOffline(_ isOffline: Bool) {
        let now = time.now
        state.withLock { state in
            state.isOffline = isOffline
            // A pool that is being made with the old answer is made anew.
            state.exchanges += 1
            // Within the lock, so that what was said last is what both go by.
            state.pool.setOffline(isOffline, at: now)
        }
    }

    /// Tells the listeners, and moves the requests that wait for a server which has just been taken out of service, or
    /// for a place at one that is not preferred any more.
    func publish(_ switchEvents: [SwitchEvent], from pool: ServerPool) {
        for event in switchEvents {
            events.send(ClientEvent(environment: pool.environment, event: event))
            switch event.kind {
            case .ejected(let server, _, _): for request in requests() { request.evacuate(server, in: pool) }
            case .switched: for request in mostUrgentFirst() { request.serverSwitched(in: pool) }
            default: continue
            }
        }
    }
}

extension ClientCore {
    /// All requests in the order in which they would get places.
    private func mostUrgentFirst() -> [any DispatchedRequest] {
        requests().sorted { ($1.configuration.priority, $0.id) < ($0.configuration.priority, $1.id) }
    }
}

extension Service {
    /// The same service with other servers.
    fileprivate func having(_ servers: [Server]) throws(ClientError) -> Service {
        do throws(CatalogError) {
            return try Service(
                name: name,
                servers: servers,
                defaultEnvironment: defaultEnvironment,
                switching: switching
            )
        } catch {
            throw .catalog(error)
        }
    }
}

extension APIConfiguration {
    /// Whether the path is an absolute URL, with scheme and host: then it belongs to no server of the service.
    private var hasAbsoluteURL: Bool { URLParts.areAbsolute(in: path) }

    /// Whether the servers of the service are to be chosen from: what the call says names no place of its own.
    var leavesChoice: Bool {
        guard case .automatic = server, !hasAbsoluteURL else { return false }
        guard let rare else { return true }
        return rare.value.prebuiltRequest == nil && !(usesCDN && rare.value.cdnURL != nil)
    }

    /// What the choice of a server may depend on.
    var traits: RequestTraits {
        RequestTraits(priority: RequestTraits.Priority(priority))
    }
}

extension RequestTraits.Priority {
    fileprivate init(_ priority: RequestPriority) {
        switch priority {
        case .low: self = .low
        case .normal: self = .normal
        case .high: self = .high
        }
    }
}
