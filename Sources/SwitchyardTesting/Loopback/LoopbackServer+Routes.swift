import SwitchyardClient
public import SwitchyardHTTP

extension LoopbackServer {
    /// Answers the requests of a route with a handler, in place of what was set for it before.
    ///
    /// The server keeps the handler; one that uses the server itself captures it `unowned` or `weak`, or else the server
    /// is never released.
    ///
    /// - Parameters:
    ///   - method: The method; `nil` is any, and GET is also for HEAD.
    ///   - pattern: The path, with `*` for one segment or, at the end, for all that follow, and `{name}` for one that has
    ///     a name: see ``LoopbackRoute``.
    ///   - handler: Answers a request. An error that it throws becomes a 500, `CancellationError` a connection that is
    ///     closed without a response.
    /// - Returns: The route, to set a fault on it.
    @discardableResult
    public func route(
        _ method: HTTPMethod?,
        _ pattern: String,
        _ handler: @escaping LoopbackHandler
    ) -> LoopbackRoute {
        let route = LoopbackRoute(method, pattern)
        board.change { $0.router.set(.handler(handler), for: route) }
        return route
    }

    /// Answers the requests of a route with one and the same response, which costs no task.
    ///
    /// - Parameters:
    ///   - method: The method; `nil` is any, and GET is also for HEAD.
    ///   - pattern: The path, with `*` for one segment or, at the end, for all that follow, and `{name}` for one that has
    ///     a name: see ``LoopbackRoute``.
    ///   - response: The response; it is sent when the request has been read to its end.
    /// - Returns: The route, to set a fault on it.
    @discardableResult
    public func route(
        _ method: HTTPMethod?,
        _ pattern: String,
        answering response: LoopbackResponse
    ) -> LoopbackRoute {
        let route = LoopbackRoute(method, pattern)
        board.change { $0.router.set(.response(response), for: route) }
        return route
    }

    /// Takes a route away.
    public func removeRoute(_ route: LoopbackRoute) {
        board.change { $0.router.remove(route) }
    }

    /// Answers the requests that no route matches; `nil` answers them with 404, or 405 when another method would match.
    public func setDefaultRoute(_ handler: LoopbackHandler?) {
        board.change { $0.router.fallback = handler.map { .handler($0) } }
    }
}
