import Foundation
import SwitchyardClient
public import SwitchyardHTTP

/// Which requests a handler or a fault is for.
///
/// The pattern is compared with the path, percent-encoded and without the query:
///
/// | pattern | matches |
/// |---|---|
/// | `/topics` | that path only |
/// | `/users/*/posts` | one segment of any text in the middle |
/// | `/users/{id}` | one segment of any text, which the handler gets by its name: ``LoopbackRequest/pathValue(_:)`` |
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
        guard pattern.utf8.contains(where: { "*{".utf8.contains($0) }) else { return path == pattern }
        let wanted = Self.segments(of: pattern)
        let given = Self.segments(of: path)
        let isPrefix = wanted.last == "*"
        guard isPrefix ? given.count >= wanted.count : given.count == wanted.count else {
            return pattern == "*"
        }
        return zip(wanted, given).allSatisfy { Self.isOpen($0) || $0 == $1 }
    }

    /// The segments of a matching path that the pattern names, by their names, with percent-encoding removed; of two with
    /// one name the first.
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

    /// Whether a segment of a pattern takes any text.
    private static func isOpen(_ segment: Substring) -> Bool {
        segment == "*" || name(of: segment) != nil
    }

    /// The name that a segment of a pattern gives; `nil` when it gives none.
    private static func name(of segment: Substring) -> String? {
        guard segment.count > 2, segment.first == "{", segment.last == "}" else { return nil }
        return String(segment.dropFirst().dropLast())
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

    /// 1 for each segment that has to be met exactly, 0 for each that takes any text.
    private var exactness: [Int] {
        Self.segments(of: pattern).map { Self.isOpen($0) ? 0 : 1 }
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
