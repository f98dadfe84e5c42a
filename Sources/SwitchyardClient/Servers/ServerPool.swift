import SwitchyardHTTP
package import SwitchyardServices

/// The servers of one service in one environment, with their health.
///
/// A lock around the ``SwitchyardServices/SwitchingCore`` and the prepared base URLs. Each environment, each time it is
/// entered, has a pool of its own, so that nothing of one environment's health leaks into another; a request keeps the
/// pool it started with.
package final class ServerPool: Sendable {
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

    struct Site {
        var origin: Place
        var cdn: Place?
    }

    struct State {
        var core: SwitchingCore
        var sites: [Site]
    }

    package let environment: ServiceEnvironment
    /// Builds the requests of the environment.
    package let generator: RequestGenerator
    /// What the service means by status 429.
    let tooManyRequests: TooManyRequests
    private let rule: InsecureHTTPRule
    let state: Locked<State>

    /// Prepares the servers of an environment, all of them healthy.
    ///
    /// - Parameters:
    ///   - service: The service.
    ///   - environment: The environment.
    ///   - generator: Builds the requests of the environment.
    ///   - rule: Where requests may go unencrypted.
    ///   - seed: The seed of the random numbers.
    ///   - installation: The number by which the servers behind the first are shuffled.
    ///   - now: The time.
    /// - Throws: ``ClientError`` for a server without a usable base URL, and for a list that the core refuses.
    init(
        service: Service,
        environment: ServiceEnvironment,
        generator: RequestGenerator,
        rule: InsecureHTTPRule,
        seed: UInt64,
        installation: UInt64?,
        now: MonotonicTime
    ) throws(ClientError) {
        self.environment = environment
        self.generator = generator
        self.rule = rule
        tooManyRequests = service.switching.tooManyRequests
        let sites = try Self.sites(of: service.servers, in: environment, rule)
        do throws(SwitchError) {
            let core = try SwitchingCore(
                service: service,
                at: now,
                seed: seed,
                installation: installation
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
