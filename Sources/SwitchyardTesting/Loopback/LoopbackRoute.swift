public import SwitchyardClient

/// Which requests a handler or a fault is for.
///
/// The pattern is compared with the path, percent-encoded and without the query:
///
/// | pattern | matches |
/// |---|---|
/// | `/topics` | that path only |
/// | `/users/*/posts` | one segment of any text in the middle |
/// | `/files/*` | everything below `/files/`, however deep |
/// | `*` | everything |
///
/// When several match, the one with more exact segments wins, then the one that names a method, then the one whose
/// exact segments come earlier. HEAD goes to the GET route when it has none of its own.
public struct LoopbackRoute: Sendable, Hashable {
    /// The method; `nil` is any.
    public let method: HTTPMethod?
    /// The pattern.
    public let pattern: String

    /// Creates a route.
    public init(_ method: HTTPMethod?, _ pattern: String) {
        self.method = method
        self.pattern = pattern
    }

    /// Whether a path matches the pattern.
    func matches(path: String) -> Bool {
        guard pattern.contains("*") else { return path == pattern }
        let wanted = pattern.split(separator: "/", omittingEmptySubsequences: false)
        let given = path.split(separator: "/", omittingEmptySubsequences: false)
        let isPrefix = wanted.last == "*"
        guard isPrefix ? given.count >= wanted.count : given.count == wanted.count else {
            return pattern == "*"
        }
        return zip(wanted, given).allSatisfy { $0 == "*" || $0 == $1 }
    }

    /// Whether a method matches; GET is also for HEAD.
    func matches(method other: HTTPMethod) -> Bool {
        method == nil || method == other || (other == .head && method == .get)
    }

    /// Whether another route wins over this one for a request that both match; one of two always does.
    func gives(wayTo other: LoopbackRoute, for method: HTTPMethod) -> Bool {
        let ranks = (rank(for: method), other.rank(for: method))
        guard ranks.0 == ranks.1 else { return ranks.0 < ranks.1 }
        let (own, others) = (exactness, other.exactness)
        // The pattern decides between two that nothing tells apart but the text of their segments.
        return own == others ? pattern < other.pattern : own.lexicographicallyPrecedes(others)
    }

    /// 1 for each segment that has to be met exactly, 0 for each star.
    private var exactness: [Int] {
        pattern.split(separator: "/", omittingEmptySubsequences: false).map { $0 == "*" ? 0 : 1 }
    }

    /// Orders the routes that match one request: the greatest wins.
    private func rank(for other: HTTPMethod) -> Int {
        let method = method == nil ? 0 : method == other ? 2 : 1
        return exactness.reduce(0, +) * 4 + method
    }
}

extension LoopbackRoute: ExpressibleByStringLiteral {
    /// Creates a route for any method from its pattern.
    public init(stringLiteral pattern: String) {
        self.init(nil, pattern)
    }
}

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

    /// Finds what to do: the best route, the fallback, 405 where another method would do, or 404.
    func action(method: HTTPMethod, path: String) -> RouteAction {
        let onPath = actions.keys.filter { $0.matches(path: path) }
        let fitting = onPath.filter { $0.matches(method: method) }
        if let best = fitting.max(by: { $0.gives(wayTo: $1, for: method) }), let action = actions[best] {
            return action
        }
        if let fallback { return fallback }
        guard !onPath.isEmpty else { return .response(.text("no route for \(path)\n", status: 404)) }
        var response = LoopbackResponse.text("\(method) is not allowed here\n", status: 405)
        response.headers.add("Allow", Set(onPath.compactMap(\.method?.name)).sorted().joined(separator: ", "))
        return .response(response)
    }
}
