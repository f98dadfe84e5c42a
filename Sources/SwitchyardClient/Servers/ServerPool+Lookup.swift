package import SwitchyardHTTP
package import SwitchyardServices

extension ServerPool {
    /// The base URL of the server that a URL leads to, else of any: where credentials and common values may go with it.
    func home(of url: RequestURL?) -> BaseURL {
        state.withLock { state in
            let site = url.flatMap { url in state.sites.first { url.isAt($0.origin.base) } }
            return (site ?? state.sites[0]).origin.base
        }
    }

    /// The base URL of the server, or of its content delivery network, that a URL leads to; `nil` when it leads to none.
    package func base(of url: RequestURL) -> BaseURL? {
        state.withLock { state in
            guard let site = state.sites.first(where: { $0.holds(url) }) else { return nil }
            return (url.isAt(site.origin.base) ? site.origin : site.cdn ?? site.origin).base
        }
    }

    /// The base URL of the server that is preferred now.
    func currentBase(usesCDN: Bool) -> BaseURL {
        state.withLock { state in
            let site = state.sites.first { $0.origin.server == state.core.current } ?? state.sites[0]
            return (usesCDN ? site.cdn ?? site.origin : site.origin).base
        }
    }

    /// The base URL of the server of a name; `nil` when there is none.
    func base(of name: Server.ID, usesCDN: Bool) -> BaseURL? {
        state.withLock { state in
            guard let site = state.sites.first(where: { $0.origin.server == name }) else { return nil }
            return (usesCDN ? site.cdn ?? site.origin : site.origin).base
        }
    }

    /// Those of some servers that are in the list; none of them when they are all that there is.
    package func avoidable(_ names: [Server.ID]) -> [Server.ID] {
        guard !names.isEmpty else { return [] }
        return state.withLock { state in
            let (servers, positions) = (state.sites.map(\.origin.server), state.positions(of: names))
            return positions.count < servers.count ? names.filter(servers.contains) : []
        }
    }

    /// Whether there is a server that is none of these.
    package func hasOthers(than names: [Server.ID]) -> Bool {
        state.withLock { state in
            state.sites.contains { site in site.origin.server.map { !names.contains($0) } ?? false }
        }
    }

    /// Whether there is such a server.
    package func has(_ name: Server.ID) -> Bool { state.withLock { !$0.positions(of: [name]).isEmpty } }

    /// The path, with its query, by which a server's URL could be asked of another one; `nil` when it does not lie below its
    /// base URL, or paths are joined to that in another way than by standing behind it.
    package func path(of url: RequestURL, below name: Server.ID?) -> String? {
        let site = state.withLock { $0.sites.first { $0.origin.server == name } }
        return site.flatMap { path(of: url, behind: $0.origin.base) }
    }

    /// The same for a URL of any server, with that one's base URL; of base URLs that begin alike the longest counts.
    func sharedPath(of url: RequestURL) -> (path: String, base: BaseURL)? {
        let bases = state.withLock { $0.sites }.map(\.origin.base)
        let paths = bases.compactMap { base in path(of: url, behind: base).map { (path: $0, base: base) } }
        return paths.min { $0.path.utf8.count < $1.path.utf8.count }
    }

    private func path(of url: RequestURL, behind base: BaseURL) -> String? {
        guard generator.join == .append, base.query == nil else { return nil }
        let parts = url.absolute
        guard RequestURL.Origin(parts) == base.origin,
            let path = PercentEncoding.rest(of: parts.path, behind: base.folder)
        else { return nil }
        // A name and a password of its own would be left behind.
        let user = parts.authority.userInfo
        guard user == nil || user == base.url.absolute.authority.userInfo else { return nil }
        let query = parts.query.map { [UInt8(ascii: "?")] + $0 } ?? []
        return String(decoding: path + query, as: UTF8.self)
    }

    /// The path, without its query, of a URL below the base URL of a server, or of its content delivery network: under it
    /// answers are stored; `nil` when it leads to none, or paths are joined in another way than by standing behind the
    /// base URL.
    func storagePath(of url: RequestURL) -> String? {
        guard generator.join == .append else { return nil }
        let sites = state.withLock { $0.sites }
        let path = url.absolute.path
        for base in sites.flatMap({ [$0.origin.base, $0.cdn?.base].compactMap(\.self) }) where url.isAt(base) {
            if let rest = PercentEncoding.rest(of: path, behind: base.folder) {
                return String(decoding: rest, as: UTF8.self)
            }
        }
        return nil
    }

    /// Whether there is more than one server.
    package var hasAlternatives: Bool { state.withLock { $0.sites.count > 1 } }
}

extension ServerPool.Site {
    /// Whether a URL leads to the server or to its content delivery network.
    func holds(_ url: RequestURL) -> Bool {
        url.isAt(origin.base) || cdn.map { url.isAt($0.base) } ?? false
    }
}

extension ServerPool.State {
    /// Where servers stand in the list as it is now; those that are gone are left out.
    func positions(of names: [Server.ID]) -> ServerSet {
        guard !names.isEmpty else { return [] }
        return sites.indices.reduce(into: ServerSet()) { set, position in
            if let name = sites[position].origin.server, names.contains(name) { set.insert(position) }
        }
    }
}
