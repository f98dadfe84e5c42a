import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTransport

extension ClientCore {
    /// Who sends a request.
    struct Sender {
        let owner: OwnerID
        let usesCredentials: Bool
        /// The servers that the request is bound to; those in use when `nil`.
        var target: Target?
        /// Until when anybody waits for it, which may change; the request's own deadline when `nil`.
        var patience: (@Sendable () -> MonotonicTime)?
    }

    /// The owner of transfers that several requests share, and of the parts of a transfer: nobody's handle.
    static let ownerOfShared: OwnerID = 0

    /// Makes a failover; a flow of several where anything surrounds it; a share in a transfer where one is asked for.
    func makeRequest(
        _ configuration: APIConfiguration,
        id: RequestID,
        sender: Sender,
        progress: TransferProgressHandler?,
        completion: @escaping Failover.Completion
    ) -> any DispatchedRequest {
        let completion = sender.usesCredentials ? completion : Self.witnessed(completion)
        if let name = sharedName(of: configuration) {
            return SharedRequest(
                id: id,
                sender: sender,
                configuration: configuration,
                name: name,
                core: self,
                progress: progress,
                completion: completion
            )
        }
        guard let plan = plan(for: configuration, usesCredentials: sender.usesCredentials) else {
            return Failover(
                id: id,
                owner: sender.owner,
                configuration: configuration,
                core: self,
                round: sender.target.map { onlyRound(of: configuration, at: $0, while: sender.patience) },
                progress: progress,
                completion: completion
            )
        }
        return RequestFlow(
            id: id,
            owner: sender.owner,
            configuration: configuration,
            plan: plan,
            core: self,
            target: sender.target,
            patience: sender.patience,
            progress: progress,
            completion: completion
        )
    }

    /// Tells a renewal that is under way how its requests end.
    private static func witnessed(_ completion: @escaping Failover.Completion) -> Failover.Completion {
        guard let witness = RenewalWitness.current else { return completion }
        return { result in
            witness.note(result)
            completion(result)
        }
    }

    /// The round of a failover that is bound to servers.
    private func onlyRound(
        of configuration: APIConfiguration,
        at target: Target,
        while patience: (@Sendable () -> MonotonicTime)?
    ) -> Failover.Round {
        Failover.Round(
            target: target,
            deadline: deadline(of: configuration, in: target.pool, startedAt: now),
            patience: patience
        )
    }

    /// The name under which a call shares a transfer with others; `nil` for one that has its own.
    private func sharedName(of configuration: APIConfiguration) -> String? {
        guard let rare = configuration.rare else { return nil }
        let isShown = options.showsConfigurations(to: pool.generator)
        return rare.value.sharing.name(of: configuration, isShown: isShown)
    }

    /// What surrounds a request; `nil` when it is a failover and nothing more.
    func plan(for configuration: APIConfiguration, usesCredentials: Bool) -> FlowPlan? {
        guard surroundsRequests || configuration.rare != nil else { return nil }
        return FlowPlan(options, configuration, usesCredentials: usesCredentials)
    }

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

extension APIConfiguration {
    /// Whether the path is an absolute URL, with scheme and host: then it belongs to no server of the service.
    private var hasAbsoluteURL: Bool { URLParts.areAbsolute(in: path) }

    /// Whether the servers of the service are to be chosen from: what the call says names no place of its own.
    package var leavesChoice: Bool {
        guard case .automatic = server, !hasAbsoluteURL else { return false }
        guard let rare else { return true }
        return rare.value.prebuiltRequest == nil && !(usesCDN && rare.value.cdnURL != nil)
    }

    /// What the choice of a server may depend on.
    var traits: RequestTraits {
        RequestTraits(
            priority: RequestTraits.Priority(priority),
            session: session,
            endpoint: EndpointName.number(of: path, method: sentMethod),
            mayBeRepeated: isIdempotent
        )
    }
}

extension RequestTraits.Priority {
    fileprivate init(_ priority: RequestPriority) {
        switch priority {
        case .low: self = .low
        case .normal: self = .normal
        case .high: self = .high
        }
    }
}
