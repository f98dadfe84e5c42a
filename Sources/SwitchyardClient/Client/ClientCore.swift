import SwitchyardHTTP
package import SwitchyardServices
import SwitchyardTransport

/// What the handles of one client share: the transport, the servers, and the table of the requests under way.
///
/// Every ``NetworkClient`` made from one another by ``NetworkClient/scoped()`` points here, and so does every request
/// until it has ended; nothing here points back to a handle, so that releasing one can be noticed.
package final class ClientCore: Sendable {
    /// The service's name, and its servers in one environment.
    package typealias Target = (service: String, pool: ServerPool)

    let transport: any Transport
    package let time: any TimeSource
    let clock: TimeReader
    let options: NetworkClient.Options
    let events = EventHub<ClientEvent>()
    /// Tells observers of requests.
    let observers = ObserverQueue()
    /// Where requests wait for the network.
    package let connectivity = ConnectivityGate()
    let companions = Companions()
    /// Settings for groups of calls.
    let rules: Locked<ConfigurationRules>
    /// The transfers whose bodies are still under way.
    let transfers = TransferTable()
    private let ownsTransport: Bool
    /// Whether the options surround every request with something, so that a failover alone does not do.
    let surroundsRequests: Bool
    let state: Locked<State>

    struct State {
        var service: Service
        var pool: ServerPool
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
        if let problem = options.retry?.problem { throw .retry(problem) }
        do throws(TransportError) {
            self.transport = if let transport { transport } else { try Transports.systemDefault() }
        } catch {
            throw .transport(error)
        }
        // The system's own has no pins.
        if let transport { try Self.checkPins(of: transport, for: service.servers, in: environment) }
        let pool = try options.pool(of: service, in: environment, at: time.now)
        state = Locked(State(service: service, pool: pool))
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

    /// Refuses new requests and ends those under way.
    func shutdown() {
        for request in state.withLock({ $0.table.close() }) { request.cancel(.closed) }
        transfers.close()
        events.finish()
        transport.shutdown()
    }
}
