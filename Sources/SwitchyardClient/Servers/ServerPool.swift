import SwitchyardHTTP
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
        /// The role of the server, or `nil` if it serves every request under the service's paths.
        var role: ServerRole? { place.role }

        /// Whether the server serves a request that has been built for this route.
        func serves(_ request: HTTPRequest) -> Bool {
            guard let role, request.url.isAt(base) else { return true }
            return role.serves(request.method, at: request.url, below: base)
        }

        /// The route for a request that leads to another host than the server.
        ///
        /// The outcome of the attempt does not count for or against any server.
        var elsewhere: Route { Route(to: Place(base, home: home)) }
    }

    /// A base URL and its origin, prepared once and shared by all attempts that use it.
    final class Place: Sendable {
        let server: Server.ID?
        let base: BaseURL
        let home: BaseURL
        let role: ServerRole?

        init(_ base: BaseURL, of server: Server.ID? = nil, home: BaseURL? = nil, role: ServerRole? = nil) {
            self.server = server
            self.base = base
            self.home = home ?? base
            self.role = role
        }
    }

    struct Site {
        var origin: Place
        var cdn: Place?
    }

    struct State {
        var core: SwitchingCore
        var sites: [Site]
        /// The requests that each server serves, or `nil` if every server serves every request.
        var roles: ServerRoles?
    }

    /// The name of the service.
    package let service: String
    package let environment: ServiceEnvironment
    /// The generator that builds the requests of the environment.
    package let generator: RequestGenerator
    /// The meaning of status 429 at this service.
    let tooManyRequests: SwitchPolicy.TooManyRequests
    private let rule: InsecureHTTPRule
    let state: Locked<State>
    /// The app's closure that limits the servers that an attempt may use.
    let selector: ServerSelector?

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
        selector = service.switching.selector
        let servers = try Self.servers(of: service, in: environment)
        let sites = try Self.sites(of: servers, in: service, environment, rule)
        do throws(SwitchError) {
            let core = try SwitchingCore(
                service: service,
                environment: environment,
                at: now,
                seed: seed,
                installation: installation
            )
            state = Locked(State(core: core, sites: sites, roles: ServerRoles(sites)))
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
        in service: Service,
        _ environment: ServiceEnvironment,
        _ rule: InsecureHTTPRule
    ) throws(ClientError) -> [Site] {
        var sites: [Site] = []
        for server in servers {
            guard let base = server.baseURLs[environment] else { continue }
            let role = try role(of: server, in: service)
            do throws(RequestError) {
                let cdn = try server.cdnURLs[environment].map { (url) throws(RequestError) in try BaseURL(url.text) }
                let origin = try BaseURL(base.text)
                try rule.check(origin.url)
                if let cdn { try rule.check(cdn.url) }
                let place = Place(origin, of: server.name, role: role)
                let cdnPlace = cdn.map { Place($0, of: server.name, home: origin, role: role) }
                sites.append(Site(origin: place, cdn: cdnPlace))
            } catch {
                throw .unusableURL(server: server.name, error)
            }
        }
        return sites
    }

    private static func role(of server: Server, in service: Service) throws(ClientError) -> ServerRole? {
        let index = service.servers.firstIndex { $0.name == server.name } ?? 0
        do throws(CatalogError) {
            return try ServerRole(server, at: "servers[\(index)]")
        } catch {
            throw .catalog(error)
        }
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

    /// The scheme, host and port of each server, by the server's name.
    var origins: [Server.ID: String] {
        let places = state.withLock { $0.sites.map(\.origin) }
        return places.reduce(into: [:]) { origins, place in
            if let name = place.server { origins[name] = place.base.url.origin.description }
        }
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
    /// Servers in both lists keep their health, unless their hosts have changed.
    func replaceServers(with service: Service, at now: MonotonicTime) throws(ClientError) -> [SwitchEvent] {
        let servers = try Self.servers(of: service, in: environment)
        let sites = try Self.sites(of: servers, in: service, environment, rule)
        let members = servers.map { SwitchingCore.Member($0) }
        let roles = ServerRoles(sites)
        do throws(SwitchError) {
            return try state.withLock { (state) throws(SwitchError) in
                let events = try state.core.replace(members, moved: state.movedServers(to: sites), at: now)
                (state.sites, state.roles) = (sites, roles)
                return events
            }
        } catch {
            throw .switching(error)
        }
    }
}

extension ServerPool.State {
    /// Returns the names of the servers that have another scheme, host or port in a new list.
    fileprivate func movedServers(to sites: [ServerPool.Site]) -> Set<Server.ID> {
        let places = sites.map(\.origin)
        return self.sites.reduce(into: []) { moved, site in
            guard let name = site.origin.server, let place = places.first(where: { $0.server == name }) else { return }
            if place.base.url.origin != site.origin.base.url.origin { moved.insert(name) }
        }
    }
}
