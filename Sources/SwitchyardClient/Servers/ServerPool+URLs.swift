package import SwitchyardHTTP
package import SwitchyardServices

extension ServerPool {
    /// Returns the base URL of the server that a URL belongs to, or of the first server if the URL belongs to none.
    ///
    /// A request for the URL may carry credentials and common values only if it goes to the origin of this base URL.
    func home(of url: RequestURL?) -> BaseURL {
        state.withLock { state in
            let site = url.flatMap { url in
                state.site(of: url)?.site ?? state.sites.first { url.isDowngrade(from: $0.origin.base) }
            }
            return (site ?? state.sites[0]).origin.base
        }
    }

    /// Returns the base URL that a URL belongs to: that of a server, or that of its content delivery network.
    ///
    /// The result is `nil` if the URL belongs to no server.
    package func base(of url: RequestURL) -> BaseURL? {
        state.withLock { state in
            guard let (url, site) = state.site(of: url) else { return nil }
            return (url.isAt(site.origin.base) ? site.origin : site.cdn ?? site.origin).base
        }
    }

    /// Returns the name of the server that a URL belongs to, or `nil` if the URL is outside the service.
    func server(of url: RequestURL) -> Server.ID? {
        state.withLock { $0.site(of: url)?.site.origin.server }
    }

    /// Returns the name of the server that a call goes to first.
    func preferred(for configuration: APIConfiguration) -> Server.ID {
        decide(for: configuration) { state, traits in state.core.preferred(for: traits) }
    }

    /// Returns the preferred server of a call, or its content delivery network if the call uses it.
    func currentPlace(for configuration: APIConfiguration, usesCDN: Bool) -> Place {
        decide(for: configuration) { state, traits in
            let preferred = state.core.preferred(for: traits)
            let site = state.sites.first { $0.origin.server == preferred } ?? state.sites[0]
            return usesCDN ? site.cdn ?? site.origin : site.origin
        }
    }

    /// Returns the base URL of the server with this name or of its content delivery network, or `nil` if there is no
    /// such server.
    func base(of name: Server.ID, usesCDN: Bool) -> BaseURL? {
        state.withLock { state in
            guard let site = state.sites.first(where: { $0.origin.server == name }) else { return nil }
            return (usesCDN ? site.cdn ?? site.origin : site.origin).base
        }
    }

    /// Returns the role of the server with this name, or `nil` if it serves every request under the service's paths.
    func role(of name: Server.ID) -> ServerRole? {
        state.withLock { state in state.sites.first { $0.origin.server == name }?.origin.role }
    }

    /// Returns the names of the servers that can be avoided: those that are in the client's current list.
    ///
    /// If no other server would be left, the result is empty.
    package func avoidable(_ names: [Server.ID]) -> [Server.ID] {
        guard !names.isEmpty else { return [] }
        return state.withLock { state in
            let (servers, positions) = (state.sites.map(\.origin.server), state.positions(of: names))
            return positions.count < servers.count ? names.filter(servers.contains) : []
        }
    }

    /// Whether the call is served by a server that is not in `names`.
    package func hasOthers(than names: [Server.ID], for configuration: APIConfiguration) -> Bool {
        decide(for: configuration) { state, traits in
            let excluded = state.positions(of: names).union(traits.unsuitable)
            return !state.sites.indices.allSatisfy(excluded.contains)
        }
    }

    /// Returns whether the list contains a server of this name.
    package func has(_ name: Server.ID) -> Bool { state.withLock { !$0.positions(of: [name]).isEmpty } }

    /// Returns the path and query by which a server's URL can be requested from another server.
    ///
    /// The result is `nil` if the URL is not below the server's base URL, or if paths are not simply appended to the
    /// base URL.
    package func path(of url: RequestURL, below name: Server.ID?) -> String? {
        let site = state.withLock { $0.sites.first { $0.origin.server == name } }
        return site.flatMap { path(of: url, behind: $0.origin) }
    }

    /// Returns the path and query of a URL relative to the base URL of a server, that base URL, and the URL with this
    /// path.
    ///
    /// The URL differs from `url` if the server has other paths than the service. If the URL is below several base
    /// URLs, the longest base URL applies.
    func sharedPath(of url: RequestURL) -> (path: String, base: BaseURL, url: RequestURL)? {
        let places = state.withLock { $0.sites }.map(\.origin)
        let paths = places.compactMap { place in
            path(of: url, behind: place).map { path in
                let folder = String(decoding: place.base.folder, as: UTF8.self)
                let own = place.role == nil ? url : RequestURL(trusted: ServicePath.origin(of: url) + folder + path)
                return (path: path, base: place.base, url: own)
            }
        }
        return paths.min { $0.path.utf8.count < $1.path.utf8.count }
    }

    private func path(of url: RequestURL, behind place: Place) -> String? {
        let base = place.base
        guard generator.join == .append, base.query == nil else { return nil }
        let parts = url.absolute
        guard RequestURL.Origin(parts) == base.origin,
            let path = PercentEncoding.rest(of: parts.path, behind: base.folder)
        else { return nil }
        // A path cannot contain the user name and password of the URL.
        let user = parts.authority.userInfo
        guard user == nil || user == base.url.absolute.authority.userInfo else { return nil }
        let query = parts.query.map { [UInt8(ascii: "?")] + $0 } ?? []
        guard let role = place.role else { return String(decoding: path + query, as: UTF8.self) }
        let own = role.servicePath(of: "/" + String(decoding: path, as: UTF8.self)).dropFirst()
        return String(own) + String(decoding: query, as: UTF8.self)
    }

    /// Returns the path under which responses for a URL are stored: the URL's path relative to the base URL, without
    /// its query.
    ///
    /// The base URL is that of a server or of its content delivery network. The result is `nil` if the URL is below
    /// neither, or if paths are not simply appended to the base URL.
    func storagePath(of url: RequestURL) -> String? {
        guard generator.join == .append else { return nil }
        let sites = state.withLock { $0.sites }
        let url = secured(url)
        let path = url.absolute.path
        for base in sites.flatMap({ [$0.origin.base, $0.cdn?.base].compactMap(\.self) }) where url.isAt(base) {
            if let rest = PercentEncoding.rest(of: path, behind: base.folder) {
                return String(decoding: rest, as: UTF8.self)
            }
        }
        return nil
    }

    /// Returns an http URL with https if its host belongs to a server with https.
    ///
    /// Any other URL is returned unchanged.
    package func secured(_ url: RequestURL) -> RequestURL {
        guard !url.isSecure else { return url }
        return state.withLock { $0.site(of: url)?.url ?? url }
    }

    /// Whether there is more than one server.
    package var hasAlternatives: Bool { state.withLock { $0.sites.count > 1 } }
}

extension ServerPool.Site {
    /// Returns whether a URL belongs to the server or to its content delivery network.
    func holds(_ url: RequestURL) -> Bool {
        url.isAt(origin.base) || cdn.map { url.isAt($0.base) } ?? false
    }
}

extension ServerPool.State {
    /// Returns the server that a URL belongs to, and the URL as it is requested.
    ///
    /// An http URL of a server with https is requested with https.
    func site(of url: RequestURL) -> (url: RequestURL, site: ServerPool.Site)? {
        if let site = sites.first(where: { $0.holds(url) }) { return (url, site) }
        guard !url.isSecure else { return nil }
        for site in sites {
            for base in [site.origin.base, site.cdn?.base].compactMap(\.self) {
                let secured = url.secured(like: base.url)
                if secured.isAt(base) { return (secured, site) }
            }
        }
        return nil
    }

    /// Returns the positions of the named servers in the current list.
    ///
    /// Names that are not in the list are ignored.
    func positions(of names: [Server.ID]) -> ServerSet {
        guard !names.isEmpty else { return ServerSet() }
        return sites.indices.reduce(into: ServerSet()) { set, position in
            if let name = sites[position].origin.server, names.contains(name) { set.insert(position) }
        }
    }
}
