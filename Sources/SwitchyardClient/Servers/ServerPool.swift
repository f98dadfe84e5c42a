package import SwitchyardHTTP
package import SwitchyardServices

/// The servers of one service in one environment, with their health.
///
/// A pool consists of a ``SwitchyardServices/SwitchingCore`` and the prepared base URLs, protected by a lock. Whenever
/// the client enters an environment, it creates a new pool, so that the health in one environment does not affect
/// another. A request keeps the pool with which it started.
package final class ServerPool: Sendable {
    /// The destination of one attempt.
    struct Route: Sendable {
        /// The attempt for the switching core, or `nil` for a URL outside this service.
        var attempt: Attempt?
        private let place: Place

        init(attempt: Attempt? = nil, to place: Place) {
            self.attempt = attempt
            self.place = place
        }

        /// The name of the server, or `nil` for a URL outside the service.
        var server: Server.ID? { place.server }
        /// The base URL.
        var base: BaseURL { place.base }
        /// The server's own base URL, even if ``base`` is the base URL of the server's content delivery network.
        var home: BaseURL { place.home }

        /// The route for a request that leads to another host than the server.
        ///
        /// Its outcome counts for or against no server.
        var elsewhere: Route { Route(to: Place(base, home: home)) }
    }

    /// A base URL and its origin, prepared once and shared by all attempts that use it.
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

    struct Site {
        var origin: Place
        var cdn: Place?
    }

    struct State {
        var core: SwitchingCore
        var sites: [Site]
    }

    /// The name of the service.
    package let service: String
    package let environment: ServiceEnvironment
    /// The generator that builds the requests of the environment.
    package let generator: RequestGenerator
    /// How the service uses status 429.
    let tooManyRequests: TooManyRequests
    private let rule: InsecureHTTPRule
    let state: Locked<State>

    /// Prepares the servers of an environment, all of them healthy.
    ///
    /// - Parameters:
    ///   - service: The service.
    ///   - environment: The environment.
    ///   - generator: The generator of the environment's requests.
    ///   - rule: The rule for hosts that may be reached without encryption.
    ///   - seed: The seed of the random numbers.
    ///   - installation: The number that determines the order of the servers after the first.
    ///   - now: The current time.
    /// - Throws: ``ClientError`` for an environment without servers, a server without a valid base URL, or a list that
    ///   the switching core refuses.
    init(
        service: Service,
        environment: ServiceEnvironment,
        generator: RequestGenerator,
        rule: InsecureHTTPRule,
        seed: UInt64,
        installation: UInt64?,
        now: MonotonicTime
    ) throws(ClientError) {
        self.service = service.name
        self.environment = environment
        self.generator = generator
        self.rule = rule
        tooManyRequests = service.switching.tooManyRequests
        let servers = try Self.servers(of: service, in: environment)
        let sites = try Self.sites(of: servers, in: environment, rule)
        do throws(SwitchError) {
            let core = try SwitchingCore(
                service: service,
                environment: environment,
                at: now,
                seed: seed,
                installation: installation
            )
            state = Locked(State(core: core, sites: sites))
        } catch {
            throw .switching(error)
        }
    }

    private static func servers(
        of service: Service,
        in environment: ServiceEnvironment
    ) throws(ClientError) -> [Server] {
        let servers = service.servers(in: environment)
        guard !servers.isEmpty else {
            throw .missingEnvironment(environment, service: service.name, known: service.environments)
        }
        return servers
    }

    private static func sites(
        of servers: [Server],
        in environment: ServiceEnvironment,
        _ rule: InsecureHTTPRule
    ) throws(ClientError) -> [Site] {
        var sites: [Site] = []
        for server in servers {
            guard let base = server.baseURLs[environment] else { continue }
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

// MARK: - Control

extension ServerPool {
    /// The name of the preferred server.
    var current: Server.ID { state.withLock { $0.core.current } }

    /// Returns the state of all servers, in order.
    func snapshot(at now: MonotonicTime) -> [ServerSnapshot] {
        state.withLock { $0.core.snapshot(at: now) }
    }

    /// Returns the health of the servers for the next launch.
    func memory(wallClock: Double) -> SwitchMemory {
        state.withLock { $0.core.memory(wallClock: wallClock) }
    }

    /// Changes the state of the switching core under the lock.
    func change<Failure: Error>(
        _ body: (inout SwitchingCore) throws(Failure) -> [SwitchEvent]
    ) throws(Failure) -> [SwitchEvent] {
        try state.withLock { (state) throws(Failure) in try body(&state.core) }
    }

    /// Records whether the machine is known to be offline.
    func setOffline(_ isOffline: Bool, at now: MonotonicTime) {
        state.withLock { $0.core.setOffline(isOffline, at: now) }
    }

    /// Replaces the list of servers with the servers of a service.
    ///
    /// Servers in both lists keep their health.
    func replaceServers(with service: Service, at now: MonotonicTime) throws(ClientError) -> [SwitchEvent] {
        let servers = try Self.servers(of: service, in: environment)
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

extension ServerPool {
    /// Returns the base URL of the server that a URL belongs to, or of the first server if the URL belongs to none.
    ///
    /// A request for the URL may carry credentials and common values only if it goes to the origin of this base URL.
    func home(of url: RequestURL?) -> BaseURL {
        state.withLock { state in
            let site = url.flatMap { url in
                state.site(of: url)?.site ?? state.sites.first { url.isDowngrade(from: $0.origin.base) }
            }
            return (site ?? state.sites[0]).origin.base
        }
    }

    /// Returns the base URL that a URL belongs to: that of a server, or that of its content delivery network.
    ///
    /// The result is `nil` if the URL belongs to no server.
    package func base(of url: RequestURL) -> BaseURL? {
        state.withLock { state in
            guard let (url, site) = state.site(of: url) else { return nil }
            return (url.isAt(site.origin.base) ? site.origin : site.cdn ?? site.origin).base
        }
    }

    /// Returns the base URL of the preferred server or of its content delivery network.
    func currentBase(usesCDN: Bool) -> BaseURL {
        state.withLock { state in
            let site = state.sites.first { $0.origin.server == state.core.current } ?? state.sites[0]
            return (usesCDN ? site.cdn ?? site.origin : site.origin).base
        }
    }

    /// Returns the base URL of the server with this name or of its content delivery network, or `nil` if there is no
    /// such server.
    func base(of name: Server.ID, usesCDN: Bool) -> BaseURL? {
        state.withLock { state in
            guard let site = state.sites.first(where: { $0.origin.server == name }) else { return nil }
            return (usesCDN ? site.cdn ?? site.origin : site.origin).base
        }
    }

    /// Returns the names of those servers that are in the list.
    ///
    /// If no other server would be left, the result is empty.
    package func avoidable(_ names: [Server.ID]) -> [Server.ID] {
        guard !names.isEmpty else { return [] }
        return state.withLock { state in
            let (servers, positions) = (state.sites.map(\.origin.server), state.positions(of: names))
            return positions.count < servers.count ? names.filter(servers.contains) : []
        }
    }

    /// Whether the list has a server whose name is not in `names`.
    package func hasOthers(than names: [Server.ID]) -> Bool {
        state.withLock { state in
            state.sites.contains { site in site.origin.server.map { !names.contains($0) } ?? false }
        }
    }

    /// Returns whether the list contains a server of this name.
    package func has(_ name: Server.ID) -> Bool { state.withLock { !$0.positions(of: [name]).isEmpty } }

    /// Returns the path, with its query, by which a server's URL can be requested from another server.
    ///
    /// The result is `nil` if the URL is not below the server's base URL, or if paths are not simply appended to the
    /// base URL.
    package func path(of url: RequestURL, below name: Server.ID?) -> String? {
        let site = state.withLock { $0.sites.first { $0.origin.server == name } }
        return site.flatMap { path(of: url, behind: $0.origin.base) }
    }

    /// Returns the path and query of a URL relative to the base URL of a server, and that base URL.
    ///
    /// If the URL is below several base URLs, the longest base URL applies.
    func sharedPath(of url: RequestURL) -> (path: String, base: BaseURL)? {
        let bases = state.withLock { $0.sites }.map(\.origin.base)
        let paths = bases.compactMap { base in path(of: url, behind: base).map { (path: $0, base: base) } }
        return paths.min { $0.path.utf8.count < $1.path.utf8.count }
    }

    private func path(of url: RequestURL, behind base: BaseURL) -> String? {
        guard generator.join == .append, base.query == nil else { return nil }
        let parts = url.absolute
        guard RequestURL.Origin(parts) == base.origin,
            let path = PercentEncoding.rest(of: parts.path, behind: base.folder)
        else { return nil }
        // A path cannot contain the user name and password of the URL.
        let user = parts.authority.userInfo
        guard user == nil || user == base.url.absolute.authority.userInfo else { return nil }
        let query = parts.query.map { [UInt8(ascii: "?")] + $0 } ?? []
        return String(decoding: path + query, as: UTF8.self)
    }

    /// Returns the path under which responses for a URL are stored: the URL's path relative to the base URL, without
    /// its query.
    ///
    /// The base URL is that of a server or of its content delivery network. The result is `nil` if the URL is below
    /// neither, or if paths are not simply appended to the base URL.
    func storagePath(of url: RequestURL) -> String? {
        guard generator.join == .append else { return nil }
        let sites = state.withLock { $0.sites }
        let url = secured(url)
        let path = url.absolute.path
        for base in sites.flatMap({ [$0.origin.base, $0.cdn?.base].compactMap(\.self) }) where url.isAt(base) {
            if let rest = PercentEncoding.rest(of: path, behind: base.folder) {
                return String(decoding: rest, as: UTF8.self)
            }
        }
        return nil
    }

    /// Returns an http URL with https if its host belongs to a server with https.
    ///
    /// Any other URL is returned unchanged.
    package func secured(_ url: RequestURL) -> RequestURL {
        guard !url.isSecure else { return url }
        return state.withLock { $0.site(of: url)?.url ?? url }
    }

    /// Whether there is more than one server.
    package var hasAlternatives: Bool { state.withLock { $0.sites.count > 1 } }
}

extension ServerPool.Site {
    /// Returns whether a URL belongs to the server or to its content delivery network.
    func holds(_ url: RequestURL) -> Bool {
        url.isAt(origin.base) || cdn.map { url.isAt($0.base) } ?? false
    }
}

extension ServerPool.State {
    /// Returns the server that a URL belongs to, and the URL as it is requested.
    ///
    /// An http URL of a server with https is requested with https.
    func site(of url: RequestURL) -> (url: RequestURL, site: ServerPool.Site)? {
        if let site = sites.first(where: { $0.holds(url) }) { return (url, site) }
        guard !url.isSecure else { return nil }
        for site in sites {
            for base in [site.origin.base, site.cdn?.base].compactMap(\.self) {
                let secured = url.secured(like: base.url)
                if secured.isAt(base) { return (secured, site) }
            }
        }
        return nil
    }

    /// Returns the positions of the named servers in the current list.
    ///
    /// Names that are not in the list are ignored.
    func positions(of names: [Server.ID]) -> ServerSet {
        guard !names.isEmpty else { return [] }
        return sites.indices.reduce(into: ServerSet()) { set, position in
            if let name = sites[position].origin.server, names.contains(name) { set.insert(position) }
        }
    }
}
