import Switchyard
import SwitchyardTesting

/// A demo server of the forum: a real HTTP server on 127.0.0.1 with the API routes below a folder.
final class ForumServer: Sendable {
    /// The location of a server's API, and the requests that the server serves.
    struct Site: Sendable {
        /// The port; if 0, the system chooses one.
        var port: UInt16 = 0
        /// The path of the base URL, without a slash at the end.
        var folder = "/v1"
        /// The role of the server, or `nil` if it serves every request under the paths of the service.
        var role: ServerRole?
        /// Whether the server responds successfully to a request for an unknown path, with a description of the
        /// request.
        var echoes = false
    }

    /// The name of the server in the service.
    let name: String
    let server: LoopbackServer
    private let site: Site

    /// Creates a server that does not listen yet.
    ///
    /// - Parameters:
    ///   - name: The name of the server in the service.
    ///   - routes: The API of the server.
    ///   - site: The location of the API, and the requests that the server serves.
    init(_ name: String, _ routes: ForumRoutes, at site: Site = Site()) {
        self.name = name
        self.site = site
        server = LoopbackServer(port: site.port, limits: LoopbackLimits(recordedBodyBytes: 0, recordedRequests: 64))
        server.setDefaultRoute { request in
            guard let path = site.servicePath(of: request) else {
                return .text("\(name) does not serve \(request.method) \(request.path)\n", status: 404)
            }
            if let response = try await routes.response(to: request, at: path) { return response }
            guard site.echoes else { return .text("no route for \(request.path)\n", status: 404) }
            return try .forum(ForumEcho(server: name, method: request.method.name, path: path))
        }
    }

    /// The base URL of the server's API.
    var baseURL: String { "\(server.baseURL)\(site.folder)" }

    /// The number of requests that have reached the server.
    var requestCount: Int { server.statistics.requestsReceived }
}

extension ForumServer.Site {
    /// Returns the path of a request relative to the base URL of the service, or `nil` if the server does not serve the
    /// request.
    fileprivate func servicePath(of request: LoopbackRequest) -> String? {
        guard request.path.hasPrefix(folder) else { return nil }
        let rest = request.path.dropFirst(folder.count)
        guard rest.isEmpty || rest.hasPrefix("/") else { return nil }
        let path = rest.isEmpty ? "/" : String(rest)
        guard let role else { return path }
        return role.servedPath(request.method, at: path)
    }
}

/// The data in a server's response to a request for a path that the forum does not have.
struct ForumEcho: Codable, Equatable {
    /// The name of the server.
    var server: String
    var method: String
    /// The path of the request, relative to the base URL of the service.
    var path: String
}
