import SwitchyardHTTP
import SwitchyardServices

/// The roles of the servers of a pool.
///
/// A role states which requests a server serves.
final class ServerRoles: Sendable {
    /// The method and path by which servers are chosen.
    struct Form: Sendable {
        var method: HTTPMethod
        /// The path of the service, or `nil` if the URL is not below a base URL.
        var path: String?
    }

    private let places: [ServerPool.Place]

    /// Creates the roles, or returns `nil` if every server serves every request.
    init?(_ sites: [ServerPool.Site]) {
        places = sites.map(\.origin)
        guard places.contains(where: { $0.role?.servesEverything == false }) else { return nil }
    }

    /// Returns the method and path of a call.
    ///
    /// The result is `nil` if the URL belongs to no server or cannot be built. The roles then exclude no server,
    /// because no server gets the request.
    func form(of configuration: APIConfiguration, _ generator: RequestGenerator) -> Form? {
        guard let base = places.first?.base, let built = try? generator.form(of: configuration, on: base) else {
            return nil
        }
        guard places.contains(where: { built.url.isAt($0.base) }) else { return nil }
        let path = configuration.hasAbsoluteURL ? nil : ServicePath.path(of: built.url, below: base)
        return Form(method: built.method, path: path ?? ownPath(of: built.url))
    }

    /// Returns the path within the service for a URL of one of the servers.
    private func ownPath(of url: RequestURL) -> String? {
        for place in places {
            guard let path = ServicePath.path(of: url, below: place.base) else { continue }
            return place.role?.servicePath(of: path) ?? path
        }
        return nil
    }

    /// Returns the servers that do not serve a request with this method and the path of a URL of any server.
    func unsuitable(for method: HTTPMethod, _ url: RequestURL) -> ServerSet {
        unsuitable(for: Form(method: method, path: ownPath(of: url)))
    }

    /// Returns the servers that do not serve a request.
    func unsuitable(for form: Form?) -> ServerSet {
        guard let form else { return [] }
        return places.indices.reduce(into: ServerSet()) { set, position in
            guard let role = places[position].role, !role.servesEverything else { return }
            if !role.serves(form.method, form.path) { set.insert(position) }
        }
    }
}
