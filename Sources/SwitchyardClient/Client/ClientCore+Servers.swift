import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTransport

extension ClientCore {
    /// Replaces the pool; requests that have started keep theirs.
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

    /// Replaces the list of servers, in the environment in use and in those entered later.
    func replaceServers(_ servers: [Server]) throws(ClientError) {
        var told: [(events: [SwitchEvent], pool: ServerPool)] = []
        try replacePool { (old, pool) throws(ClientError) in
            let new = try old.having(servers)
            try Self.checkPins(of: transport, for: servers, in: pool.environment)
            told.append((try pool.replace(servers, at: time.now), pool))
            return (new, pool)
        }
        for (events, pool) in told { publish(events, from: pool) }
    }

    /// Refuses servers that would be asked over http although their keys are pinned.
    static func checkPins(
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

    /// Replaces service and pool by what is made of them, and begins anew when somebody else was faster: else one of
    /// the two changes would be lost.
    ///
    /// - Parameter make: Makes the new ones, outside the lock; `nil` when there is nothing to change.
    /// - Returns: The pool that was there and the one that is.
    /// - Throws: What `make` throws; then nothing has changed.
    @discardableResult
    func replacePool(
        _ make: (Service, ServerPool) throws(ClientError) -> (service: Service, pool: ServerPool)?
    ) throws(ClientError) -> (old: ServerPool, new: ServerPool)? {
        while true {
            let (service, pool, number) = state.withLock { ($0.service, $0.pool, $0.replacements) }
            guard let new = try make(service, pool) else { return nil }
            let isDone = state.withLock { state in
                guard state.replacements == number else { return false }
                state.replacements += 1
                (state.service, state.pool) = new
                return true
            }
            if isDone { return (pool, new.pool) }
        }
    }

    func newPool(of service: Service, in environment: ServiceEnvironment) throws(ClientError) -> ServerPool {
        let pool = try options.pool(of: service, in: environment, at: time.now)
        if state.withLock({ $0.isOffline }) { pool.setOffline(true, at: time.now) }
        return pool
    }

    /// Takes note of whether the machine is offline, for the servers in use and for those entered later.
    func setOffline(_ isOffline: Bool) {
        let now = time.now
        let isBack = state.withLock { state in
            defer { state.isOffline = isOffline }
            // A pool that is being made with the old answer is made anew.
            state.replacements += 1
            // Within the lock, so that what was said last is what both go by.
            state.pool.setOffline(isOffline, at: now)
            return state.isOffline && !isOffline
        }
        // What was connected before may be gone without a word.
        if isBack { transport.retireConnections() }
    }

    /// Tells the listeners, and moves the requests that wait for a server which has just been taken out of service, or
    /// for a place at one that is not preferred any more.
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
    /// All requests in the order in which they get places, and the tokens of a server that is left.
    private func mostUrgentFirst() -> [any DispatchedRequest] {
        requests.sorted { ($1.configuration.priority, $0.id) < ($0.configuration.priority, $1.id) }
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
