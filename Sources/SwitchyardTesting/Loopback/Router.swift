import SwitchyardClient
import SwitchyardHTTP

/// Answers a request; an error that it throws becomes a 500, a cancelled task means that the client has gone.
public typealias LoopbackHandler = @Sendable (LoopbackRequest) async throws -> LoopbackResponse

/// What the server does for a request.
enum RouteAction: Sendable {
    case handler(LoopbackHandler)
    case response(LoopbackResponse)
}

/// The routes of a server.
struct Router: Sendable {
    private var actions: [LoopbackRoute: RouteAction] = [:]
    var fallback: RouteAction?

    /// Sets what is done for a route, in place of what was set before.
    mutating func set(_ action: RouteAction, for route: LoopbackRoute) {
        actions[route] = action
    }

    mutating func remove(_ route: LoopbackRoute) {
        actions[route] = nil
    }

    /// Finds what to do, by the best route if there is one: else the fallback, 405 where another method would do, or 404.
    func action(method: HTTPMethod, path: String) -> (action: RouteAction, route: LoopbackRoute?) {
        let onPath = actions.keys.filter { $0.matches(path: path) }
        let fitting = onPath.filter { $0.matches(method: method) }
        if let best = fitting.max(by: { $0.gives(wayTo: $1, for: method) }), let action = actions[best] {
            return (action, best)
        }
        if let fallback { return (fallback, nil) }
        guard !onPath.isEmpty else { return (.response(.text("no route for \(path)\n", status: 404)), nil) }
        var response = LoopbackResponse.text("\(method) is not allowed here\n", status: 405)
        response.headers.add("Allow", Set(onPath.compactMap(\.method?.name)).sorted().joined(separator: ", "))
        return (.response(response), nil)
    }
}
