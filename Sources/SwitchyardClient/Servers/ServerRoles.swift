import SwitchyardHTTP
import SwitchyardServices

/// The roles of the servers of a pool, if any server does not serve every request.
final class ServerRoles: Sendable {
    /// The method and path by which servers are chosen.
    struct Form: Sendable {
        var method: HTTPMethod
        /// The path of the service.
        var path: String
    }

    private let places: [ServerPool.Place]

    /// Returns `nil` if every server serves every request.
    init?(_ sites: [ServerPool.Site]) {
        places = sites.map(\.origin)
        guard places.contains(where: { $0.role?.servesEverything == false }) else { return nil }
    }

    /// Returns the method and path of a call.
    ///
    /// The result is `nil` if the URL cannot be built or is not below a base URL. Only a server that serves everything
    /// then serves the call.
    func form(of configuration: APIConfiguration, _ generator: RequestGenerator) -> Form? {
        guard let base = places.first?.base, let built = try? generator.form(of: configuration, on: base) else {
            return nil
        }
        let path = configuration.hasAbsoluteURL ? ownPath(of: built.url) : ServicePath.path(of: built.url, below: base)
        return path.map { Form(method: built.method, path: $0) }
    }

    /// Returns the path of the service for a URL of one of the servers.
    private func ownPath(of url: RequestURL) -> String? {
        for place in places {
            guard let path = ServicePath.path(of: url, below: place.base) else { continue }
            return place.role?.servicePath(of: path) ?? path
        }
        return nil
    }

    /// Returns the servers that do not serve a request.
    func unsuitable(for form: Form?) -> ServerSet {
        places.indices.reduce(into: ServerSet()) { set, position in
            guard let role = places[position].role, !role.servesEverything else { return }
            if form.map({ role.serves($0.method, $0.path) }) != true { set.insert(position) }
        }
    }
}
