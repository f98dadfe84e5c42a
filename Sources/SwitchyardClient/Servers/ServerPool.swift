import SwitchyardServices

/// The servers of one service in one environment, with their health.
///
/// A lock around the ``SwitchyardServices/SwitchingCore`` and the prepared base URLs. Each environment, each time it is
/// entered, has a pool of its own, so that nothing of one environment's health leaks into another; a request keeps the
/// pool it started with.
final class ServerPool: Sendable {
    /// Where one attempt goes.
    struct Route: Sendable {
        /// The attempt as the switching core knows it; `nil` for a URL that is not of this service, which charges
        /// nobody.
        var attempt: Attempt?
        private let place: Place

        init(attempt: Attempt? = nil, to place: Place) {
            self.attempt = attempt
            self.place = place
        }

        /// The server's name; `nil` for a URL that is not of this service.
        var server: Server.ID? { place.server }
        /// The base URL.
        var base: BaseURL { place.base }
        /// The server's own base URL, where ``base`` may be that of its content delivery network.
        var home: BaseURL { place.home }

        /// The same way for a request that was made for the server and leads elsewhere: it is charged to nobody.
        var elsewhere: Route { Route(to: Place(base, home: home)) }
    }

    /// A base URL and whose it is, prepared once and shared by all attempts that go there.
    final class Place: Sendable {
        let server: Server.ID?
        let base: BaseURL
        let home: BaseURL

        init(_ base: BaseURL, of server: Server.ID? = nil, home: BaseURL? = nil) {
            self.server = server
            self.base = base
            self.home = home ?? base
        }
    }

    fileprivate struct Site {
        var origin: Place
        var cdn: Place?
    }

    fileprivate struct State {
        var core: SwitchingCore
        var sites: [Site]
    }

    let environment: ServiceEnvironment
    /// Builds the requests of the environment.
    let generator: RequestGenerator
    private let rule: InsecureHTTPRule
    private let state: Locked<State>

    /// Prepares the servers of an environment, all of them healthy.
    init(
        service: Service,
        environment: ServiceEnvironment,
        now: MonotonicTime,
        options: NetworkClient.Options
    ) throws(ClientError) {
        self.environment = environment
        generator = options.generator(for: environment)
        rule = options.insecureHTTP
        let sites = try Self.sites(of: service.servers, in: environment, rule)
        do throws(SwitchError) {
            let core = try SwitchingCore(
                service: service,
                at: now,
                seed: options.seed,
                installation: options.installation
            )
            state = Locked(State(core: core, sites: sites))
        } catch {
            throw .switching(error)
        }
    }

    private static func sites(
        of servers: [Server],
        in environment: ServiceEnvironment,
        _ rule: InsecureHTTPRule
    ) throws(ClientError) -> [Site] {
        var sites: [Site] = []
        for server in servers {
            guard let base = server.baseURLs[environment] else {
                throw .missingEnvironment(environment, server: server.name)
            }
            do throws(RequestError) {
                let cdn = try server.cdnURLs[environment].map { (url) throws(RequestError) in try BaseURL(url.text) }
                let origin = try BaseURL(base.text)
                try rule.check(origin.url)
                if let cdn { try rule.check(cdn.url) }
                let place = Place(origin, of: server.name)
                sites.append(Site(origin: place, cdn: cdn.map { Place($0, of: server.name, home: origin) }))
            } catch {
                throw .unusableURL(server: server.name, error)
            }
        }
        return sites
    }
}

// MARK: - Attempts

extension ServerPool {
    /// Chooses the server for a request's first attempt, and says which server is due for a probe or a warm-up.
    ///
    /// - Throws: ``RequestFailure/Reason/overloaded`` when the request has to be given up because every server is.
    func first(
        for configuration: APIConfiguration,
        excluding avoided: [Server.ID] = [],
        at now: MonotonicTime
    ) throws(RequestFailure.Reason) -> (route: Route, probe: Route?) {
        let traits = configuration.traits
        return try state.withLock { (state) throws(RequestFailure.Reason) in
            if state.core.sheds(traits.priority, at: now) { throw .overloaded }
            guard let attempt = state.core.choose(excluding: state.positions(of: avoided), for: traits, at: now) else {
                throw .unknownServer("")
            }
            let probe = state.core.takeProbe(at: now) ?? state.core.takeWarmUp(at: now)
            return (
                state.route(attempt, usesCDN: configuration.usesCDN),
                probe.map { state.route($0, usesCDN: false) }
            )
        }
    }

    /// The route to one server by name; `nil` when there is no such server.
    func fixed(_ name: Server.ID, for configuration: APIConfiguration, at now: MonotonicTime) -> Route? {
        state.withLock { state in
            guard let position = state.sites.firstIndex(where: { $0.origin.server == name }) else { return nil }
            return state.attempt(on: position, for: configuration, at: now)
                .map { state.route($0, usesCDN: configuration.usesCDN) }
        }
    }

    /// The route to the server that a URL leads to; `nil` when it leads to none of the service's.
    func route(to url: RequestURL, for configuration: APIConfiguration, at now: MonotonicTime) -> Route? {
        state.withLock { state in
            guard let position = state.sites.firstIndex(where: { $0.holds(url) }) else { return nil }
            let usesCDN = !url.isAt(state.sites[position].origin.base)
            return state.attempt(on: position, for: configuration, at: now)
                .map { state.route($0, usesCDN: usesCDN) }
        }
    }

    /// The route of a call that leads to none of the service's servers.
    var foreignRoute: Route { Route(to: Place(anyBase)) }

    /// The base URL of the preferred server, for building URLs that are not of this service.
    var anyBase: BaseURL { state.withLock { $0.sites[0].origin.base } }

    /// The base URL of the server, or of its content delivery network, that a URL leads to; `nil` when it leads to none.
    func base(of url: RequestURL) -> BaseURL? {
        state.withLock { state in
            guard let site = state.sites.first(where: { $0.holds(url) }) else { return nil }
            return (url.isAt(site.origin.base) ? site.origin : site.cdn ?? site.origin).base
        }
    }

    /// The base URL of the server that is preferred now.
    func currentBase(usesCDN: Bool) -> BaseURL {
        state.withLock { state in
            let site = state.sites.first { $0.origin.server == state.core.current } ?? state.sites[0]
            return (usesCDN ? site.cdn ?? site.origin : site.origin).base
        }
    }

    /// Those of some servers that are in the list; none of them when they are all that there is.
    func avoidable(_ names: [Server.ID]) -> [Server.ID] {
        guard !names.isEmpty else { return [] }
        return state.withLock { state in
            let (servers, positions) = (state.sites.map(\.origin.server), state.positions(of: names))
            return positions.count < servers.count ? names.filter(servers.contains) : []
        }
    }

    /// Whether there is a server that is none of these.
    func hasOthers(than names: [Server.ID]) -> Bool {
        state.withLock { state in
            state.sites.contains { site in site.origin.server.map { !names.contains($0) } ?? false }
        }
    }

    /// Whether there is such a server.
    func has(_ name: Server.ID) -> Bool { state.withLock { !$0.positions(of: [name]).isEmpty } }

    /// The path by which a server's URL could be asked of another one; `nil` when it does not lie below its base URL, or
    /// paths are joined to that in another way than by standing behind it.
    func path(of url: RequestURL, below name: Server.ID?) -> String? {
        guard generator.join == .append,
            let base = state.withLock({ $0.sites.first { $0.origin.server == name } })?.origin.base, base.query == nil
        else { return nil }
        let (text, stem) = (url.text.utf8, base.stem.trimmed + [UInt8(ascii: "/")])
        return text.starts(with: stem) ? String(decoding: text.dropFirst(stem.count), as: UTF8.self) : nil
    }

    /// Whether there is more than one server.
    var hasAlternatives: Bool { state.withLock { $0.sites.count > 1 } }

    /// Chooses another server after a failure (`nil`: after the server was taken out of service).
    func failover(
        after kind: FailureKind?,
        excluding tried: [Server.ID],
        _ avoided: [Server.ID],
        for configuration: APIConfiguration,
        at now: MonotonicTime
    ) -> Route? {
        state.withLock { state in
            let (tried, avoided) = (state.positions(of: tried), state.positions(of: avoided))
            let traits = configuration.traits
            return state.core.takeFailover(after: kind, excluding: tried, avoiding: avoided, for: traits, at: now)
                .map { state.route($0, usesCDN: configuration.usesCDN) }
        }
    }

    /// Chooses another server to ask beside a slow one.
    func hedge(
        excluding tried: [Server.ID],
        _ avoided: [Server.ID],
        for configuration: APIConfiguration,
        at now: MonotonicTime
    ) -> Route? {
        state.withLock { state in
            let (tried, avoided) = (state.positions(of: tried), state.positions(of: avoided))
            return state.core.takeHedge(excluding: tried, avoiding: avoided, for: configuration.traits, at: now)
                .map { state.route($0, usesCDN: configuration.usesCDN) }
        }
    }

    /// How many seconds to wait for this attempt before doing something about it.
    func hedgeDelay(for route: Route, from now: MonotonicTime, to deadline: MonotonicTime) -> Double? {
        guard let attempt = route.attempt else { return nil }
        let remaining = now.seconds(to: deadline)
        return state.withLock { $0.core.hedgeDelay(for: attempt, remaining: remaining) }
    }

    /// Whether so many seconds are less than the server of an attempt usually takes.
    func usuallyTakesLonger(than wait: Double, on attempt: Attempt) -> Bool {
        state.withLock { $0.core.usuallyTakesLonger(than: wait, on: attempt) }
    }

    /// Reports the attempts of a request that has ended.
    func settle(_ attempts: [SettledAttempt], at now: MonotonicTime) -> [SwitchEvent] {
        state.withLock { $0.core.settle(attempts, at: now) }
    }

    /// Reports the only attempt of a request, the usual case.
    func settle(_ attempt: Attempt, _ outcome: AttemptOutcome, at now: MonotonicTime) -> [SwitchEvent] {
        state.withLock { $0.core.settle(attempt, outcome, at: now) }
    }
}

// MARK: - Probes

extension ServerPool {
    /// Two servers to compare: one under suspicion and a witness.
    struct Suspicion: Sendable {
        var probe: SuspicionProbe
        var suspect: Route
        var witness: Route
    }

    /// How long a server that works may take to answer a probe.
    func patience(with attempt: Attempt) -> Duration {
        state.withLock { $0.core.patience(with: attempt) }
    }

    /// Reports how a probe ended.
    func settleProbe(_ attempt: Attempt, _ outcome: AttemptOutcome, at now: MonotonicTime) -> [SwitchEvent] {
        state.withLock { $0.core.settleProbe(attempt, outcome, at: now) }
    }

    /// The servers to compare because of an attempt that is slow, or failed, and must not be repeated.
    func suspicion(of route: Route, at now: MonotonicTime) -> Suspicion? {
        guard let attempt = route.attempt else { return nil }
        return state.withLock { state in
            state.core.takeSuspicion(of: attempt, at: now).map { probe in
                Suspicion(
                    probe: probe,
                    suspect: state.route(probe.suspect, usesCDN: false),
                    witness: state.route(probe.witness, usesCDN: false)
                )
            }
        }
    }

    /// Reports who of the two answered.
    func settle(
        _ suspicion: Suspicion,
        suspect: AttemptOutcome,
        witness: AttemptOutcome,
        at now: MonotonicTime
    ) -> [SwitchEvent] {
        state.withLock { state in
            state.core.settleSuspicion(suspicion.probe, suspect: suspect, witness: witness, at: now)
        }
    }
}

// MARK: - Control

extension ServerPool {
    /// The server that is preferred now.
    var current: Server.ID { state.withLock { $0.core.current } }

    /// The state of all servers, in order.
    func snapshot(at now: MonotonicTime) -> [ServerSnapshot] {
        state.withLock { $0.core.snapshot(at: now) }
    }

    /// What is worth remembering over a relaunch.
    func memory(wallClock: Double) -> SwitchMemory {
        state.withLock { $0.core.memory(wallClock: wallClock) }
    }

    /// Changes something about the servers from outside.
    func change<Failure: Error>(
        _ body: (inout SwitchingCore) throws(Failure) -> [SwitchEvent]
    ) throws(Failure) -> [SwitchEvent] {
        try state.withLock { (state) throws(Failure) in try body(&state.core) }
    }

    /// Says whether the machine is known to be offline.
    func setOffline(_ isOffline: Bool, at now: MonotonicTime) {
        state.withLock { $0.core.setOffline(isOffline, at: now) }
    }

    /// Exchanges the list of servers; those that stay keep their health.
    func replace(_ servers: [Server], at now: MonotonicTime) throws(ClientError) -> [SwitchEvent] {
        let sites = try Self.sites(of: servers, in: environment, rule)
        let members = servers.map { SwitchingCore.Member(id: $0.id, weight: $0.weight) }
        do throws(SwitchError) {
            return try state.withLock { (state) throws(SwitchError) in
                let events = try state.core.replace(members, at: now)
                state.sites = sites
                return events
            }
        } catch {
            throw .switching(error)
        }
    }
}

extension ServerPool.Site {
    /// Whether a URL leads to the server or to its content delivery network.
    fileprivate func holds(_ url: RequestURL) -> Bool {
        url.isAt(origin.base) || cdn.map { url.isAt($0.base) } ?? false
    }
}

extension ServerPool.State {
    /// An attempt on one server of the list.
    fileprivate mutating func attempt(
        on position: Int,
        for configuration: APIConfiguration,
        at now: MonotonicTime
    ) -> Attempt? {
        var others = ServerSet()
        for other in sites.indices where other != position { others.insert(other) }
        return core.choose(excluding: others, for: configuration.traits, at: now)
    }

    /// Where servers stand in the list as it is now; those that are gone are left out.
    func positions(of names: [Server.ID]) -> ServerSet {
        guard !names.isEmpty else { return [] }
        return sites.indices.reduce(into: ServerSet()) { set, position in
            if let name = sites[position].origin.server, names.contains(name) { set.insert(position) }
        }
    }

    func route(_ attempt: Attempt, usesCDN: Bool) -> ServerPool.Route {
        let site = sites[attempt.server]
        return ServerPool.Route(attempt: attempt, to: usesCDN ? site.cdn ?? site.origin : site.origin)
    }
}
