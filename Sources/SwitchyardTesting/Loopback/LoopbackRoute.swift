import Foundation
import SwitchyardClient
public import SwitchyardHTTP

/// A method and a path pattern that select the requests for a handler or a fault.
///
/// The pattern is compared with the percent-encoded path without the query:
///
/// | pattern | matches |
/// |---|---|
/// | `/topics` | only the path `/topics` |
/// | `/users/*/posts` | any single segment in place of `*` |
/// | `/users/{id}` | any single segment in place of `{id}`, for ``LoopbackRequest/pathValue(_:)`` |
/// | `/files/*` | everything below `/files/`, at any depth |
/// | `*` | every path |
///
/// If several routes match, the route with the most literal segments wins. If their number is equal, a route with a
/// method wins over a route for any method. If that is equal too, the route whose literal segments come first wins. If
/// no route for HEAD matches, a HEAD request uses the GET route.
public struct LoopbackRoute: Sendable, Hashable {
    /// The method, or `nil` for any method.
    public let method: HTTPMethod?
    /// The path pattern.
    public let pattern: String

    /// Creates a route from a method and a path pattern.
    ///
    /// If the method is `nil`, the route matches any method.
    public init(_ method: HTTPMethod?, _ pattern: String) {
        self.method = method
        self.pattern = pattern
    }

    /// Returns whether a path matches the pattern.
    func matches(path: String) -> Bool {
        guard pattern.utf8.contains(where: { "*{".utf8.contains($0) }) else { return path == pattern }
        let wanted = Self.segments(of: pattern)
        let given = Self.segments(of: path)
        let isPrefix = wanted.last == "*"
        guard isPrefix ? given.count >= wanted.count : given.count == wanted.count else {
            return pattern == "*"
        }
        return zip(wanted, given).allSatisfy { Self.isOpen($0) || $0 == $1 }
    }

    /// Returns the path segments that match a `{name}` segment, by name and with percent-encoding removed.
    ///
    /// If the pattern repeats a name, the first segment wins.
    func values(in path: String) -> [String: String] {
        guard pattern.utf8.contains(UInt8(ascii: "{")) else { return [:] }
        var values: [String: String] = [:]
        for (wanted, given) in zip(Self.segments(of: pattern), Self.segments(of: path)) {
            guard let name = Self.name(of: wanted), values[name] == nil else { continue }
            values[name] = given.removingPercentEncoding ?? String(given)
        }
        return values
    }

    private static func segments(of path: String) -> [Substring] {
        path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map(Substring.init)
    }

    /// Returns whether a segment of a pattern matches any text: `*` or `{name}`.
    private static func isOpen(_ segment: Substring) -> Bool {
        segment == "*" || name(of: segment) != nil
    }

    /// Returns the name in a `{name}` segment of a pattern, or `nil` for any other segment.
    private static func name(of segment: Substring) -> String? {
        guard segment.count > 2, segment.first == "{", segment.last == "}" else { return nil }
        return String(segment.dropFirst().dropLast())
    }

    /// Returns whether a method matches the route.
    ///
    /// A GET route also matches HEAD.
    func matches(method other: HTTPMethod) -> Bool {
        method == nil || method == other || (other == .head && method == .get)
    }

    /// Returns whether `other` has priority over this route for a request that both routes match.
    ///
    /// The order is total: of two different routes, one route always has priority.
    func gives(wayTo other: LoopbackRoute, for method: HTTPMethod) -> Bool {
        let ranks = (rank(for: method), other.rank(for: method))
        guard ranks.0 == ranks.1 else { return ranks.0 < ranks.1 }
        let (own, others) = (exactness, other.exactness)
        // If both patterns are equally exact, the alphabetical order of the patterns decides.
        return own == others ? pattern < other.pattern : own.lexicographicallyPrecedes(others)
    }

    /// The exactness of each segment: 1 for a literal segment, 0 for a segment that matches any text.
    private var exactness: [Int] {
        Self.segments(of: pattern).map { Self.isOpen($0) ? 0 : 1 }
    }

    /// Returns the rank of the route among the routes that match a request.
    ///
    /// The highest rank wins.
    private func rank(for other: HTTPMethod) -> Int {
        let method = method == nil ? 0 : method == other ? 2 : 1
        return exactness.reduce(0, +) * 4 + method
    }
}

extension LoopbackRoute: ExpressibleByStringLiteral {
    /// Creates a route for any method from a path pattern.
    public init(stringLiteral pattern: String) {
        self.init(nil, pattern)
    }
}

/// A function that responds to a request.
///
/// If the function throws an error, the response has status 500. When the client disconnects, the task that runs the
/// function is cancelled.
public typealias LoopbackHandler = @Sendable (LoopbackRequest) async throws -> LoopbackResponse

/// The action for a request that matches a route: the server sends a fixed response or calls a handler.
enum RouteAction: Sendable {
    case handler(LoopbackHandler)
    case response(LoopbackResponse)
}

/// The routes of a server with their actions.
struct Router: Sendable {
    private var actions: [LoopbackRoute: RouteAction] = [:]
    var fallback: RouteAction?

    /// Sets the action of a route.
    ///
    /// An earlier action of the route is replaced.
    mutating func set(_ action: RouteAction, for route: LoopbackRoute) {
        actions[route] = action
    }

    mutating func remove(_ route: LoopbackRoute) {
        actions[route] = nil
    }

    /// Returns the action of the best matching route.
    ///
    /// If no route matches, returns the fallback. If there is no fallback, returns an error response: status 405 if a
    /// route matches the path with another method, and 404 otherwise.
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
