import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTransport

extension ClientCore {
    /// Switches the client to the servers of another environment.
    ///
    /// Requests that have already started keep the servers of their environment.
    func enter(_ environment: ServiceEnvironment) throws(ClientError) {
        let pools = try replacePool { (service, old) throws(ClientError) in
            guard environment != old.environment else { return nil }
            try Self.checkPins(of: transport, for: service.servers, in: environment)
            return (service, try newPool(of: service, in: environment))
        }
        guard let pools else { return }
        let change = SwitchEvent(at: time.now, .environmentChanged(from: pools.old.environment, to: environment))
        publish([change], from: pools.new)
    }

    /// Replaces the list of servers in the current environment and in environments that are entered later.
    ///
    /// - Throws: ``ClientError``, for example if no server is part of the current environment. In this case nothing has
    ///   changed.
    func replaceServers(_ servers: [Server]) throws(ClientError) {
        var told: [(events: [SwitchEvent], pool: ServerPool)] = []
        try replacePool { (old, pool) throws(ClientError) in
            let new = try old.having(servers)
            try Self.checkPins(of: transport, for: servers, in: pool.environment)
            told.append((try pool.replaceServers(with: new, at: time.now), pool))
            return (new, pool)
        }
        for (events, pool) in told { publish(events, from: pool) }
    }

    /// Checks that no server with pinned keys has an http URL.
    static func checkPins(
        of transport: any Transport,
        for servers: [Server],
        in environment: ServiceEnvironment
    ) throws(ClientError) {
        guard let pinned = transport as? PinnedTransport else { return }
        let texts = servers.flatMap { [$0.baseURLs[environment]?.text, $0.cdnURLs[environment]?.text] }
        do throws(PinRule.Problem) {
            try pinned.check(texts.compactMap { $0.flatMap { RequestURL($0) } })
        } catch {
            throw .pins(error)
        }
    }

    /// Replaces the service and the pool with a service and a pool that are created from the current ones.
    ///
    /// If another thread replaces the service or the pool while `make` runs, this method calls `make` again. Otherwise
    /// one of the two changes would be lost.
    ///
    /// - Parameter make: A closure that returns the new service and pool, or `nil` if nothing changes. It is called
    ///   without the lock.
    /// - Returns: The old and the new pool.
    /// - Throws: The error that `make` throws. In this case nothing has changed.
    @discardableResult
    func replacePool(
        _ make: (Service, ServerPool) throws(ClientError) -> (service: Service, pool: ServerPool)?
    ) throws(ClientError) -> (old: ServerPool, new: ServerPool)? {
        while true {
            let (service, pool, number) = state.withLock { ($0.service, $0.pool, $0.replacements) }
            guard let new = try make(service, pool) else { return nil }
            let knowsEnvironments = new.service.environments.count > 1
            let isDone = state.withLock { state in
                guard state.replacements == number else { return false }
                state.replacements += 1
                // Once the flag is `true`, it stays `true`, because calls that started while there were several
                // environments may still be waiting.
                state.knowsEnvironments = state.knowsEnvironments || knowsEnvironments
                (state.service, state.pool) = new
                return true
            }
            if isDone { return (pool, new.pool) }
        }
    }

    func newPool(of service: Service, in environment: ServiceEnvironment) throws(ClientError) -> ServerPool {
        let (zone, isOffline) = state.withLock { ($0.zone, $0.isOffline) }
        let pool = try options.pool(of: service, in: environment, preferring: zone, at: time.now)
        if isOffline { pool.setOffline(true, at: time.now) }
        return pool
    }

    /// The zone whose servers come first.
    var preferredZone: String? { state.withLock { $0.zone } }

    /// Puts the servers of a zone first, in the current environment and in environments that are entered later.
    func preferZone(_ zone: String?) throws(ClientError) {
        let now = time.now
        let (events, pool) = try state.withLock { (state) throws(ClientError) in
            try Self.check(zone: zone, in: state.service)
            state.zone = zone
            // The new count makes `replacePool` discard a pool that it is creating with the old zone.
            state.replacements += 1
            return (state.pool.change { $0.prefer(zone: zone, at: now) }, state.pool)
        }
        publish(events, from: pool)
    }

    /// Throws an error if no server of a service is in a zone.
    static func check(zone: String?, in service: Service) throws(ClientError) {
        let zones = Set(service.servers.compactMap(\.zone)).sorted()
        if let zone, !zones.contains(zone) { throw .unknownZone(zone, known: zones) }
    }

    /// Records whether the device is offline, for the current environment and for environments that are entered later.
    func setOffline(_ isOffline: Bool) {
        let now = time.now
        let isBack = state.withLock { state in
            defer { state.isOffline = isOffline }
            // The new count makes `replacePool` discard a pool that it is creating with the old offline state.
            state.replacements += 1
            // The pool is updated under the lock, so that the client and the pool end with the same state.
            state.pool.setOffline(isOffline, at: now)
            return state.isOffline && !isOffline
        }
        // Connections from before the outage may have failed without a report.
        if isBack { transport.retireConnections() }
    }

    /// Publishes events of the servers and moves requests to other servers if the events require it.
    ///
    /// Requests are moved from a server that has just been ejected (taken out of use for a time). If another server has
    /// become the preferred server, requests that wait for a slot of a limit wait for a slot at that server instead.
    func publish(_ switchEvents: [SwitchEvent], from pool: ServerPool) {
        for event in switchEvents {
            events.send(ClientEvent(environment: pool.environment, event: event))
            switch event.kind {
            case .ejected(let server, _, _): for request in mostUrgentFirst() { request.evacuate(server, in: pool) }
            case .switched: for request in mostUrgentFirst() { request.serverSwitched(in: pool) }
            default: continue
            }
        }
    }
}

extension ClientCore {
    /// Returns all requests, the most urgent first.
    ///
    /// Slots of limits and permissions for failovers are given to the requests in this order.
    private func mostUrgentFirst() -> [any DispatchedRequest] {
        requests.sorted { ($1.configuration.priority, $0.id) < ($0.configuration.priority, $1.id) }
    }
}

extension Service {
    /// Returns the same service with other servers.
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
