import Foundation
import Switchyard
import SwitchyardTesting

/// The routes of the forum's API, with paths relative to the base URL of the service.
struct ForumRoutes: Sendable {
    /// A function that responds to a request.
    ///
    /// The string is the path segment that matches `*` in the route's pattern.
    private typealias Handler = @Sendable (LoopbackRequest, String) async throws -> LoopbackResponse

    private struct Route: Sendable {
        let method: HTTPMethod
        let pattern: [Substring]
        let handler: Handler

        /// Whether the route matches a method; HEAD uses the routes of GET.
        func accepts(_ other: HTTPMethod) -> Bool { method == (other == .head ? .get : other) }

        /// Returns the path segment that matches `*` (an empty string if the pattern has no `*`), or `nil` if the path
        /// does not match the pattern.
        func segment(in path: [Substring]) -> String? {
            guard path.count == pattern.count else { return nil }
            var found = ""
            for (wanted, given) in zip(pattern, path) where wanted != given {
                guard wanted == "*" else { return nil }
                found = String(given)
            }
            return found
        }
    }

    private var routes: [Route] = []

    /// Creates the routes of a server.
    ///
    /// - Parameters:
    ///   - data: The data that the server serves.
    ///   - uploadRate: The maximum number of upload bytes that it accepts per second, or `nil` for no limit.
    ///   - film: The film that it serves, or `nil` for none.
    init(_ data: ForumData, uploadRate: Int? = nil, film: LoopbackContent? = nil) {
        add(.get, "") { _, _ in .json("{}") }
        addTopics(data, uploadRate: uploadRate)
        addHeadline()
        add(.get, "users/*") { _, id in
            guard let user = data.users.first(where: { $0.id == Int(id) }) else {
                return try .forumRefusal(301, status: 404)
            }
            return try .forum(user)
        }
        if let film { add(.get, "topics/*/film") { request, _ in film.response(to: request) } }
    }

    /// Returns the response to a request for a path below the base URL of the service, or `nil` if the forum has no
    /// such path.
    func response(to request: LoopbackRequest, at path: String) async throws -> LoopbackResponse? {
        let segments = Self.segments(of: String(path.dropFirst()))
        let onPath = routes.compactMap { route in route.segment(in: segments).map { (route, $0) } }
        guard let (route, segment) = onPath.first(where: { $0.0.accepts(request.method) }) else {
            guard !onPath.isEmpty else { return nil }
            var response = LoopbackResponse.text("\(request.method) is not allowed here\n", status: 405)
            response.headers.add("Allow", onPath.map(\.0.method.name).sorted().joined(separator: ", "))
            return response
        }
        return try await route.handler(request, segment)
    }

    private mutating func add(_ method: HTTPMethod, _ pattern: String, _ handler: @escaping Handler) {
        routes.append(Route(method: method, pattern: Self.segments(of: pattern), handler: handler))
    }

    private static func segments(of path: String) -> [Substring] {
        path.split(separator: "/", omittingEmptySubsequences: false)
    }

    private mutating func addTopics(_ data: ForumData, uploadRate: Int?) {
        add(.get, "topics") { request, _ in
            let page = request.queryValue("page").flatMap(Int.init) ?? 1
            let size = request.queryValue("size").flatMap(Int.init) ?? 20
            return try .forum(data.page(page, size: size))
        }
        add(.get, "topics/*") { _, id in
            guard let topic = data.topics.first(where: { $0.id == Int(id) }) else {
                return try .forumRefusal(201, status: 404)
            }
            return try .forum(topic)
        }
        add(.post, "topics/*/attachments") { request, _ in
            var meter = UploadMeter(contentType: request.headers["Content-Type"], bytesPerSecond: uploadRate)
            for try await piece in request.body { try await meter.take(piece) }
            guard let attachment = meter.attachment else { return try .forumRefusal(202, status: 400) }
            return try .forum(attachment)
        }
    }

    private mutating func addHeadline() {
        let editions = Locked(0)
        add(.get, "headline") { _, _ in
            let edition = editions.withLock { editions in
                editions += 1
                return editions
            }
            return try .forum(Headline(edition: edition, text: "Points frozen at junction \(edition)"))
        }
    }
}
