import SwitchyardHTTP
package import SwitchyardServices
import SwitchyardTransport

/// What the handles of one client share: the transport, the servers, and the table of the requests under way.
///
/// Every ``NetworkClient`` made from one another by ``NetworkClient/scoped()`` points here, and so does every request
/// until it has ended; nothing here points back to a handle, so that releasing one can be noticed.
package final class ClientCore: Sendable {
    let transport: any Transport
    package let time: any TimeSource
    let clock: TimeReader
    let options: NetworkClient.Options
    let events = EventHub<ClientEvent>()
    /// Tells observers of requests.
    let observers = ObserverQueue()
    /// Where requests wait for the network.
    package let connectivity = ConnectivityGate()
    let objects = AssociatedObjects()
    /// Settings for groups of calls.
    let rules: Locked<ConfigurationRules>
    /// The transfers whose bodies are still under way.
    let transfers = TransferTable()
    /// What writes have changed.
    let writtenPaths = WrittenPaths()
    /// Whether calls may have an owner: there are credentials, users or cookies.
    let knowsOwners: Bool
    /// Whether a call that waits to be sent may find another environment in use than the one that it was made in.
    let knowsEnvironments: Bool
    private let ownsTransport: Bool
    /// Ends the calls of a user who has gone; `nil` for a client without credentials.
    private let userWatch: UserWatch?
    /// Whether the options surround every request with something, so that a failover alone does not do.
    let surroundsRequests: Bool
    let state: Locked<State>

    struct State {
        var service: Service
        var pool: ServerPool
        /// Who looks on at the calls; `nil` when nobody does, which costs nothing to read.
        var onlookers: [Onlooker]?
        /// How often service, pool, or what is known of the network were replaced.
        var replacements = 0
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
        knowsOwners = options.hasLogins || options.generator.cookies != nil || options.perEnvironment != nil
        knowsEnvironments = service.environments.count > 1
        if let problem = options.retry?.problem { throw .retry(problem) }
        do throws(TransportError) {
            self.transport = if let transport { transport } else { try Transports.systemDefault() }
        } catch {
            throw .transport(error)
        }
        // The system's own has no pins.
        if let transport { try Self.checkPins(of: transport, for: service.servers, in: environment) }
        let pool = try options.pool(of: service, in: environment, at: time.now)
        let state = Locked(State(service: service, pool: pool))
        self.state = state
        userWatch = options.credentials?.whenUserChanges { [transfers] environment in
            Self.endCallsOfUsersGone(in: environment, state, transfers)
        }
    }

    deinit {
        events.finish()
        if ownsTransport { transport.shutdown() }
    }

    /// The time.
    package var now: MonotonicTime { clock.now }

    /// The service as it is now; its list of servers can be replaced.
    var service: Service { state.withLock { $0.service } }

    /// The servers in use now.
    ///
    /// A request keeps the pool it started with.
    var pool: ServerPool { state.withLock { $0.pool } }

    /// The servers in use now, and who looks on: all that a request goes by, at the cost of one lock.
    var present: (pool: ServerPool, onlookers: [Onlooker]?) { state.withLock { ($0.pool, $0.onlookers) } }

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
        // It waited for its turn, and the app has switched to another environment.
        guard request.configuration.isMade(in: request.environment) else { return request.cancel(.cancelled) }
        let isOfRenewal = options.credentials?.isBypassed ?? false
        do throws(RequestFailure.Reason) {
            try state.withLock { (state) throws(RequestFailure.Reason) in
                try state.table.insert(request, continues: continues(), isOfRenewal: isOfRenewal)
            }
        } catch {
            return request.cancel(error)
        }
        request.start()
    }

    /// Tells the caller of a request that has ended, takes it out of the table, and then tells those who wait for the
    /// last request's end.
    func finish(_ request: some DispatchedRequest, telling completion: () -> Void = {}) {
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
        try replacePool { (service, old) throws(ClientError) in
            (service, try newPool(of: service, in: old.environment))
        }
    }

    package func cancel(_ ids: some Sequence<RequestID>) {
        for request in state.withLock({ state in ids.compactMap { state.table[$0] } }) { request.cancel(.cancelled) }
        transfers.cancel(ids)
    }

    /// Cancels the requests of one owner, or all of them; a renewal of credentials goes on.
    func cancelAll(of owner: OwnerID?) {
        for request in ordinaryRequests(of: owner) { request.cancel(.cancelled) }
        transfers.cancelAll(of: owner)
    }

    /// The requests under way.
    var requests: [any DispatchedRequest] {
        state.withLock { $0.table.all }.filter { !$0.hasEnded }
    }

    /// The requests under way, of one owner or all, without those that renew a credential.
    func ordinaryRequests(of owner: OwnerID?) -> [any DispatchedRequest] {
        state.withLock { $0.table.ordinary(of: owner) }.filter { !$0.hasEnded }
    }

    /// Has something done at the shutdown; the closure returned takes it back.
    func whenShutDown(_ action: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        objects.object { ShutdownWatchers() }.add(action)
    }

    /// Refuses new requests and ends those under way.
    func shutdown() {
        for request in state.withLock({ $0.table.close() }) { request.cancel(.closed) }
        transfers.close()
        objects.existing(ShutdownWatchers.self)?.end()
        events.finish()
        transport.shutdown()
    }
}

extension ClientCore {
    /// The owner of transfers that several requests share, and of the parts of a transfer: nobody's handle.
    static let ownerOfShared: OwnerID = 0

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
                return (pool.route(to: url, for: configuration, at: now) ?? pool.foreignRoute(to: url), nil)
            }
            guard configuration.leavesChoice else {
                return (pool.foreignRoute(to: RequestURL(configuration.path)), nil)
            }
            return try pool.first(for: configuration, excluding: avoided, at: now)
        }
    }

    /// Builds the request of one attempt.
    ///
    /// Its total timeout is that of the whole request. The caller puts its own in the place: none for a failover, which
    /// keeps that time over all attempts, another for a probe.
    func request(
        for configuration: APIConfiguration,
        on route: ServerPool.Route,
        in pool: ServerPool
    ) throws(RequestError) -> HTTPRequest {
        var request = try pool.generator.request(for: configuration, on: route.base, home: route.home)
        request.skipsRedirectBody = (configuration.redirects ?? options.redirects).decidesByHead
        // The base URLs of the service were checked when the client was made; whatever leads elsewhere is checked here.
        if route.attempt == nil || !request.url.isBelow(route.base), !request.url.isSecure {
            try options.insecureHTTP.check(request.url)
        }
        return request
    }
}

extension ClientCore {
    /// Sends a shadow request to a server that is out of service, to see whether it is back.
    ///
    /// Nobody waits for it.
    ///
    /// A read that the app is sending anyway is copied, so that what is tested is what is needed.
    func probe(_ route: ServerPool.Route, copying configuration: APIConfiguration, in pool: ServerPool) {
        guard let attempt = route.attempt else { return }
        let limit = max(options.probeTimeout, pool.patience(with: attempt))
        // The kept connections to a server that was taken out of service are those on which it did not answer.
        let isNew = attempt.role == .probe
        send(shadow(of: configuration), to: route, in: pool, within: limit, onNewConnection: isNew) { [self] outcome in
            publish(pool.settleProbe(attempt, outcome, resumedAt: time.resumedAt, at: time.now), from: pool)
        }
    }

    /// Asks a server that is slow to answer, or failed to answer, and another one, the same harmless question: if only the
    /// other answers, the fault is the server's.
    ///
    /// For requests that must not be repeated; of one that the other has refused, by a read of the base URL.
    func compare(
        _ route: ServerPool.Route,
        becauseOf configuration: APIConfiguration,
        atBase isAtBase: Bool = false,
        in pool: ServerPool
    ) {
        let question = isAtBase ? shadow(of: configuration.baseURLRead) : shadow(of: configuration)
        let endpoint = isAtBase ? question.traits.endpoint : nil
        guard let suspicion = pool.suspicion(of: route, asking: endpoint, at: time.now) else { return }
        let outcomes = Locked<(suspect: AttemptOutcome?, witness: AttemptOutcome?)>((nil, nil))
        let compareOutcomes: @Sendable () -> Void = { [self] in
            guard case (let suspect?, let witness?) = outcomes.withLock({ $0 }) else { return }
            let events = pool.settle(
                suspicion,
                suspect: suspect,
                witness: witness,
                resumedAt: time.resumedAt,
                at: time.now
            )
            publish(events, from: pool)
            // One that answers is slow with this request only, and where nobody does it is the path or the question:
            // asking again would be for nothing.
            guard suspect.failureKind != nil, witness.isAnswer else { return }
            compare(route, becauseOf: configuration, atBase: isAtBase, in: pool)
        }
        send(question, to: suspicion.suspect, in: pool, within: suspicion.probe.limit) { outcome in
            outcomes.withLock { $0.suspect = outcome }
            compareOutcomes()
        }
        send(question, to: suspicion.witness, in: pool, within: suspicion.probe.limit) { outcome in
            outcomes.withLock { $0.witness = outcome }
            compareOutcomes()
        }
    }

    /// A harmless request that resembles another one: a read as it is, of a write its path, and nothing but the base URL
    /// of a read that must not be repeated.
    private func shadow(of configuration: APIConfiguration) -> APIConfiguration {
        if let probePath = options.probePath { return APIConfiguration(path: probePath) }
        let isRead = configuration.sentMethod.isSafe
        if isRead, !configuration.hasEffect, configuration.delivery == .whole { return configuration }
        var question = configuration.baseURLRead
        if !isRead || !configuration.hasEffect {
            question.path = configuration.path
            question.pathValues = configuration.pathValues
            question.apiVersion = configuration.apiVersion
        }
        return question
    }

    private func send(
        _ configuration: APIConfiguration,
        to route: ServerPool.Route,
        in pool: ServerPool,
        within limit: Duration,
        onNewConnection needsNewConnection: Bool = false,
        completion: @escaping @Sendable (AttemptOutcome) -> Void
    ) {
        let start = time.now
        var request: HTTPRequest
        do throws(RequestError) {
            request = try self.request(for: configuration, on: route, in: pool)
        } catch {
            return completion(.neutral)
        }
        // An answer from elsewhere says nothing about the server, and what a modifier has made a write is no question.
        guard request.url.isAt(route.base), request.method.isSafe else { return completion(.neutral) }
        request.timeouts.total = limit
        request.needsNewConnection = needsNewConnection
        _ = transport.start(request, progress: nil) { [time] result in
            let latency = start.duration(to: time.now)
            completion(AttemptOutcome(of: result, latency: latency, tooManyRequests: pool.tooManyRequests))
        }
    }
}

extension APIConfiguration {
    /// A read of nothing but the base URL, by the same way.
    var baseURLRead: APIConfiguration {
        var question = APIConfiguration()
        question.upgradesToHTTPS = upgradesToHTTPS
        question.tls = tls
        return question
    }
}
