import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTransport

extension ClientCore {
    /// The owner of transfers that several requests share, and of the parts of a transfer: nobody's handle.
    static let ownerOfShared: OwnerID = 0

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
