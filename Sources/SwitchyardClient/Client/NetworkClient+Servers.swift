import SwitchyardHTTP
public import SwitchyardServices
package import SwitchyardTransport

// MARK: - Environment

extension NetworkClient {
    /// The service that this client sends requests to.
    public var service: Service { core.service }

    /// The current environment.
    ///
    /// New requests are built for this environment.
    public var environment: ServiceEnvironment { pool.environment }

    /// The names of the service and the environment.
    package var place: (service: String, environment: ServiceEnvironment) {
        let pool = self.pool
        return (pool.service, pool.environment)
    }

    /// The current environment and the generator that builds requests for it.
    package var generation: (environment: ServiceEnvironment, generator: RequestGenerator) {
        let pool = self.pool
        return (pool.environment, pool.generator)
    }

    /// The name of the user who is logged in to the current environment, or `nil` if the options name no user.
    package var user: String? { core.options.user?(environment) }

    /// Returns the name of the user who is logged in to an environment.
    package func user(in environment: ServiceEnvironment) -> String? { core.user(in: environment) }

    /// The credentials of the client's options.
    package var credentials: Credentials? { core.options.credentials }

    /// Returns the path under which responses for an absolute URL are stored, or `nil` if the text is not an absolute
    /// URL of one of the servers.
    package func storagePath(ofAbsolute url: String) -> String? {
        url.contains("://") ? RequestURL(url).flatMap { pool.storagePath(of: $0) } : nil
    }

    /// Converts a URL from a response into a path and query that every server of the service accepts.
    ///
    /// A call with the URL itself goes only to the server in the URL. A call with the path can fail over to other
    /// servers.
    ///
    /// - Parameter url: An absolute URL, such as a link to the next page.
    /// - Returns: The path, in the form of ``APIConfiguration/path``. The result is `nil` if the URL is not below the
    ///   base URL of a server in the current environment, or if the generator does not simply append paths to the base
    ///   URL.
    public func path(of url: String) -> String? {
        let pool = self.pool
        guard let url = RequestURL(url), let (path, base, own) = pool.sharedPath(of: url) else { return nil }
        return pool.generator.path(withoutItsVersion: path, of: own, on: base)
    }

    /// Switches to another environment.
    ///
    /// Later requests are sent to the servers of the new environment. At first, all of these servers count as healthy.
    ///
    /// - Parameters:
    ///   - environment: The environment to enter. Entering the current environment changes nothing.
    ///   - cancelsActiveRequests: Whether active requests are cancelled, except those of a credential refresh. By
    ///     default active requests end in the environment in which they started.
    /// - Throws: ``ClientError/missingEnvironment(_:service:known:)``. In this case nothing has changed.
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
    /// The name of the preferred server.
    public var currentServer: Server.ID { pool.current }

    /// Returns the name of the server that a call would go to first.
    package func preferredServer(for configuration: APIConfiguration) -> Server.ID {
        pool.preferred(for: configuration)
    }

    /// The state of all servers, in order: which one is in use, which ones are ejected (out of use for a time), and
    /// their health statistics.
    public var servers: [ServerSnapshot] { pool.snapshot(at: core.now) }

    /// Returns a stream of server events after this call: switches, ejections (a failed server is taken out of use for
    /// a time), probes, recoveries, and environment changes.
    ///
    /// - Parameter limit: The maximum number of events that are buffered for a slow reader, by default 256. If the
    ///   buffer is full, the oldest events are dropped.
    /// - Returns: A stream that ends when the client is released or shut down.
    public func events(bufferingNewest limit: Int = 256) -> AsyncStream<ClientEvent> {
        core.events.stream(bufferingNewest: limit)
    }

    /// Makes a server the preferred one.
    ///
    /// - Parameter server: The name of the server.
    /// - Throws: ``ClientError/switching(_:)`` if the service has no server of this name. In this case nothing has
    ///   changed.
    public func switchServer(to server: Server.ID) throws(ClientError) {
        try controlled { () throws(SwitchError) in
            try change { (core, now) throws(SwitchError) in try core.switchTo(server, at: now) }
        }
    }

    /// Makes the next server in the list the preferred one, or the first server if the last one is preferred now.
    public func switchToNextServer() {
        change { core, now in core.next(at: now) }
    }

    /// The zone whose servers come first, or `nil` if the order of the list applies.
    public var preferredZone: String? { core.preferredZone }

    /// Puts the servers of a zone first, for example when the device is in another region.
    ///
    /// The servers of the zone and their groups of equal priority come before all others. Without a healthy server in
    /// the zone, the others are used. If a new list (``replaceServers(_:)``) has no server in the zone, the zone has no
    /// effect.
    ///
    /// - Parameter zone: The zone, or `nil` for the order of the list.
    /// - Throws: ``ClientError/unknownZone(_:known:)`` if no server is in the zone. In this case nothing has changed.
    public func preferZone(_ zone: String?) throws(ClientError) {
        try core.preferZone(zone)
    }

    /// Executes a command that was received from outside, for instance in a push notification.
    ///
    /// - Parameter command: The command. A command can name servers of the service, but no URLs.
    /// - Throws: ``ClientError/switching(_:)`` if the server is unknown or the command is not newer than the last one.
    ///   In this case nothing has changed.
    public func apply(_ command: PushCommand) throws(ClientError) {
        try controlled { () throws(SwitchError) in
            try change { (core, now) throws(SwitchError) in try core.apply(command, at: now) }
        }
    }

    /// Notifies the client whether the network is available.
    ///
    /// Failures while the network is unavailable do not count against servers.
    ///
    /// When the network is available again, requests that wait for it (``RetryPolicy/networkWait``) continue, and event
    /// sources that pause after failures reconnect.
    public func networkChanged(isOnline: Bool) {
        core.setOffline(!isOnline)
        // The gate opens last, so that the waiting requests see the updated state.
        if isOnline { core.connectivity.open() }
    }

    /// Notifies the client that the network path has changed, or that the app is about to be suspended or has been
    /// resumed.
    ///
    /// A path changes, for instance, when the device moves from Wi-Fi to cellular or enters a VPN. The outcomes of
    /// active requests then count neither for nor against servers. For a short time, the same is true of new requests.
    /// Ejected servers, which are out of use for a time, are probed within a second. Later requests use new connections
    /// (`Transport.retireConnections()`). ``following(_:)`` calls this method when the link changes. Only the app knows
    /// when it is suspended, so it should call this method both before and after a suspension.
    public func networkPathChanged() {
        change { core, now in
            core.pathChanged(at: now)
            return []
        }
        core.transport.retireConnections()
    }

    /// Replaces the list of servers.
    ///
    /// Servers in both lists, compared by name, keep their health. A server whose base URL has another scheme, host or
    /// port than before counts as a new server. Active requests continue.
    ///
    /// - Parameter servers: The new list in order of preference.
    /// - Throws: ``ClientError`` if the list is empty, names a server twice, or has no server in the current
    ///   environment. In this case nothing has changed.
    public func replaceServers(_ servers: [Server]) throws(ClientError) {
        try core.replaceServers(servers)
    }

    /// The transport of the client, for requests that do not go to the servers of the service.
    package var transport: any Transport { core.transport }

    /// The hosts to which requests may be sent unencrypted.
    package var insecureHTTP: InsecureHTTPRule { core.options.insecureHTTP }

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

// MARK: - Observers

extension NetworkClient {
    /// Adds an observer of all calls that are dispatched from now on, through any handle of the client.
    package func attach(_ clientObserver: ClientObserver) {
        clientObserver.isAttached.withLock { $0 = true }
        core.state.withLock { $0.clientObservers = ($0.clientObservers ?? []) + [clientObserver] }
    }

    /// Removes an observer.
    ///
    /// Calls that are active now still notify the observer of their end. The observer receives no further messages of
    /// streams until it is attached again.
    package func detach(_ clientObserver: ClientObserver) {
        clientObserver.isAttached.withLock { $0 = false }
        // The old list is released after the lock, because releasing it may run arbitrary code.
        let old = core.state.withLock { state in
            let old = state.clientObservers
            let rest = old?.filter { $0 !== clientObserver } ?? []
            state.clientObservers = rest.isEmpty ? nil : rest
            return old
        }
        withExtendedLifetime(old) {}
    }

    /// The service and environment of a call that is made now, its observers, and the counters of write requests.
    package typealias CallPlace = (
        service: String, environment: ServiceEnvironment, observers: [any CallObserver]?, pathCounters: PathCounters
    )

    /// Returns the service, environment, observers and write counters of a call, all read at the same moment.
    package func place(of configuration: APIConfiguration) -> CallPlace {
        let (present, attached) = core.present
        let pool = boundPool ?? present
        let observers = observers(of: configuration, attached)
        return (pool.service, pool.environment, observers, core.pathCounters(in: pool))
    }

    /// Returns the observers of a call, or `nil` if there are none.
    private func observers(of configuration: APIConfiguration, _ attached: [ClientObserver]?) -> [any CallObserver]? {
        let own = configuration.rare == nil ? [] : configuration.interceptors.compactMap(\.observer)
        guard attached != nil || !own.isEmpty else { return core.ownObservers }
        return (core.ownObservers ?? []) + own + (attached ?? []).map(\.observer)
    }

    /// Notifies observers of a call that gets a stored response.
    package func notify(
        _ observers: [any CallObserver],
        ofCachedResponseFor configuration: APIConfiguration,
        in environment: ServiceEnvironment,
        status: Int,
        isFresh: Bool
    ) {
        let event = DispatchEvent(
            service: place.service,
            environment: environment,
            round: 0,
            time: core.now,
            kind: .cachedResponseUsed(status: status, isFresh: isFresh),
            call: configuration
        )
        core.observers.send(event, to: observers)
    }

    /// The queue on which observers of calls are notified; it does not retain the client.
    package var observerQueue: ObserverQueue { core.observers }

    /// The number of observers.
    package var clientObserverCount: Int { core.state.withLock { $0.clientObservers?.count ?? 0 } }
}
