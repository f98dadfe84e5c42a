import SwitchyardHTTP
public import SwitchyardServices
import SwitchyardTransport

// MARK: - Environment

extension NetworkClient {
    /// The service this client talks to.
    public var service: Service { core.service }

    /// The environment that requests are built for now.
    public var environment: ServiceEnvironment { pool.environment }

    /// The names of service and environment, and who looks on, at the cost of one lock.
    package var place: (service: String, environment: ServiceEnvironment, onlookers: [Onlooker]?) {
        let (present, onlookers) = core.present
        let pool = boundPool ?? present
        return (pool.service, pool.environment, onlookers)
    }

    /// What makes requests in the present environment, and that environment.
    package var generation: (environment: ServiceEnvironment, generator: RequestGenerator) {
        let pool = self.pool
        return (pool.environment, pool.generator)
    }

    /// The user who is logged in to the present environment, as the options name him; nobody where they do not.
    package var user: String? { core.options.user?(environment) }

    /// The user who is logged in to an environment.
    package func user(in environment: ServiceEnvironment) -> String? { core.user(in: environment) }

    /// The credentials that requests are sent with.
    package var credentials: Credentials? { core.options.credentials }

    /// The path under which answers to an absolute URL of a server are stored; `nil` for every other text.
    package func storagePath(ofAbsolute url: String) -> String? {
        url.contains("://") ? RequestURL(url).flatMap { pool.storagePath(of: $0) } : nil
    }

    /// The path, with its query, by which a URL that an answer has named can be asked of every server.
    ///
    /// A call of the URL itself goes to the server that it names, and to no other; one of this path fails over.
    ///
    /// - Parameter url: An absolute URL, such as a link to the next page.
    /// - Returns: The path, as ``APIConfiguration/path`` takes it; `nil` when the URL does not lie below the base URL of a
    ///   server of the present environment, or the generator makes more of paths than to put them behind that.
    public func path(of url: String) -> String? {
        let pool = self.pool
        guard let url = RequestURL(url), let (path, base) = pool.sharedPath(of: url) else { return nil }
        return pool.generator.path(withoutItsVersion: path, of: url, on: base)
    }

    /// Switches to another environment: requests sent from now on go there, with fresh health for its servers.
    ///
    /// - Parameters:
    ///   - environment: The environment to enter; entering the present one changes nothing.
    ///   - cancelsActiveRequests: Whether requests under way are cancelled, those of a renewal of credentials excepted.
    ///     Unless told so they end where they began.
    /// - Throws: ``ClientError/missingEnvironment(_:server:known:)``; then nothing has changed.
    public func switchEnvironment(
        to environment: ServiceEnvironment,
        cancelsActiveRequests: Bool = false
    ) throws(ClientError) {
        try core.enter(environment)
        guard cancelsActiveRequests else { return }
        for request in core.ordinaryRequests(of: nil) where request.environment != environment {
            request.cancel(.cancelled)
        }
        core.transfers.cancelAll(outside: environment)
    }
}

// MARK: - Servers

extension NetworkClient {
    /// The name of the server that is preferred now.
    public var currentServer: Server.ID { pool.current }

    /// The state of all servers, in order: who is in use, who is out, and the figures behind it.
    public var servers: [ServerSnapshot] { pool.snapshot(at: core.now) }

    /// What happens to the servers from now on: switches, ejections, probes, recoveries, new environments.
    ///
    /// - Parameter limit: How many events are kept for a reader that is slow, 256 unless given; older ones are dropped.
    /// - Returns: A stream that ends when the client does.
    public func events(bufferingNewest limit: Int = 256) -> AsyncStream<ClientEvent> {
        core.events.stream(bufferingNewest: limit)
    }

    /// Makes a server the preferred one.
    ///
    /// - Parameter server: Its name.
    /// - Throws: ``ClientError/switching(_:)`` for a name that the service does not have; then nothing has changed.
    public func switchServer(to server: Server.ID) throws(ClientError) {
        try controlled { () throws(SwitchError) in
            try change { (core, now) throws(SwitchError) in try core.switchTo(server, at: now) }
        }
    }

    /// Makes the server behind the present one the preferred one, the first again behind the last.
    public func switchToNextServer() {
        change { core, now in core.next(at: now) }
    }

    /// Carries out a command that came from outside, a push message for instance.
    ///
    /// - Parameter command: What to do. Only servers of the service can be named, never URLs.
    /// - Throws: ``ClientError/switching(_:)`` for an unknown server or a command that is not newer than the last one;
    ///   then nothing has changed.
    public func apply(_ command: PushCommand) throws(ClientError) {
        try controlled { () throws(SwitchError) in
            try change { (core, now) throws(SwitchError) in try core.apply(command, at: now) }
        }
    }

    /// Tells the client what is known about the network: while it is offline no failure is held against a server.
    ///
    /// Requests that wait for the network (``RetryPolicy/networkWait``), and event sources that failures hold up, go on when
    /// it is back.
    public func networkChanged(isOnline: Bool) {
        core.setOffline(!isOnline)
        // Behind it, so that what has waited finds everything ready.
        if isOnline { core.connectivity.open() }
    }

    /// Tells the client that the way to the network is another one (WiFi has become cellular, a VPN was entered), or that
    /// the app is about to be suspended or has been.
    ///
    /// Requests under way, and for a moment all others, say nothing about servers then, and servers that are out of
    /// service are probed within a second. Later requests go out on new connections
    /// (`Transport.retireConnections()`). ``following(_:)`` does it when the link changes; of a suspension only the app
    /// knows, and tells it best on both sides of it.
    public func networkPathChanged() {
        change { core, now in
            core.pathChanged(at: now)
            return []
        }
        core.transport.retireConnections()
    }

    /// Replaces the list of servers; those that stay, by name, keep their health, and requests under way go on.
    ///
    /// - Parameter servers: The new list in order of preference.
    /// - Throws: ``ClientError`` for a list that is empty, names a server twice, or lacks the environment in use; then
    ///   nothing has changed.
    public func replaceServers(_ servers: [Server]) throws(ClientError) {
        try core.replaceServers(servers)
    }

    private func change<Failure: Error>(
        _ body: (inout SwitchingCore, MonotonicTime) throws(Failure) -> [SwitchEvent]
    ) throws(Failure) {
        let pool = core.pool
        let now = core.now
        let events = try pool.change { (core) throws(Failure) in try body(&core, now) }
        core.publish(events, from: pool)
    }

    private func controlled(_ body: () throws(SwitchError) -> Void) throws(ClientError) {
        do throws(SwitchError) { try body() } catch { throw .switching(error) }
    }
}

// MARK: - Onlookers

extension NetworkClient {
    /// Lets somebody look on at the calls that are dispatched from now on, whatever handle they are sent through.
    package func attach(_ onlooker: Onlooker) {
        core.state.withLock { $0.onlookers = ($0.onlookers ?? []) + [onlooker] }
    }

    /// Has somebody look on no more; of the calls under way it is still told the end.
    package func detach(_ onlooker: Onlooker) {
        // What goes with the list goes behind the lock.
        let old = core.state.withLock { state in
            let old = state.onlookers
            let rest = old?.filter { $0 !== onlooker } ?? []
            state.onlookers = rest.isEmpty ? nil : rest
            return old
        }
        withExtendedLifetime(old) {}
    }

    /// How many look on.
    package var onlookerCount: Int { core.state.withLock { $0.onlookers?.count ?? 0 } }
}
