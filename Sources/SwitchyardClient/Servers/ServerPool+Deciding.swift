import SwitchyardHTTP
import SwitchyardServices

extension ServerPool {
    /// The inputs of a decision that are computed without the lock, because closures of the app take part in them.
    private struct Inputs {
        var roles: ServerRoles?
        /// The servers that the selector leaves out, or `nil` if it has not been called.
        var unwanted: [Server.ID]?
        var traits: RequestTraits
    }

    /// The result of one run under the lock: the decision, or an input that must be computed without the lock first.
    private enum Step<Result> {
        case done(Result)
        /// The roles of the servers have to be applied to the call first.
        case needsRoles(ServerRoles?)
        /// The selector has to be called with these candidates first.
        case needsSelector([ServerSnapshot])
    }

    /// Makes a decision for a call under the lock, with the call's properties.
    ///
    /// The decision runs once. Without roles and without a selector, it runs when the lock is first taken.
    ///
    /// - Parameters:
    ///   - configuration: The call.
    ///   - barred: Further servers that do not serve the call.
    ///   - choiceTime: The time of the choice if the selector takes part in the decision, otherwise `nil`.
    ///   - tried: The servers among which the selector does not choose.
    ///   - body: The decision.
    /// - Returns: The result of the decision.
    /// - Throws: The error of the decision.
    func decide<Result, Failure: Error>(
        for configuration: APIConfiguration,
        barring barred: [Server.ID] = [],
        choosesAt choiceTime: MonotonicTime? = nil,
        excluding tried: [Server.ID] = [],
        _ body: (inout State, RequestTraits) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var inputs = Inputs(traits: configuration.traits)
        while true {
            let step = try state.withLock { (state) throws(Failure) -> Step<Result> in
                guard state.roles === inputs.roles else { return .needsRoles(state.roles) }
                var traits = inputs.traits
                if !barred.isEmpty { traits.unsuitable = traits.unsuitable.union(state.positions(of: barred)) }
                if selector != nil, let now = choiceTime {
                    guard let unwanted = inputs.unwanted else {
                        return .needsSelector(state.candidates(for: traits, excluding: tried, at: now))
                    }
                    traits.unwanted = state.positions(of: unwanted)
                }
                return .done(try body(&state, traits))
            }
            switch step {
            case .done(let result): return result
            case .needsRoles(let roles):
                inputs.roles = roles
                let form = roles.flatMap { $0.form(of: configuration, generator) }
                inputs.traits.unsuitable = roles?.unsuitable(for: form) ?? []
            case .needsSelector(let candidates): inputs.unwanted = unwanted(among: candidates)
            }
        }
    }

    /// Returns the candidates that the selector does not want, or an empty list if it wants none of them.
    private func unwanted(among candidates: [ServerSnapshot]) -> [Server.ID] {
        guard let selector, candidates.count > 1 else { return [] }
        let wanted = Set(selector(candidates))
        let rest = candidates.map(\.id).filter { !wanted.contains($0) }
        return rest.count < candidates.count ? rest : []
    }
}

extension ServerPool.State {
    /// Returns the snapshots of the servers from which the selector may choose.
    fileprivate func candidates(
        for traits: RequestTraits,
        excluding tried: [Server.ID],
        at now: MonotonicTime
    ) -> [ServerSnapshot] {
        let excluded = positions(of: tried).union(traits.unsuitable)
        return core.snapshot(at: now).enumerated()
            .filter { !excluded.contains($0.offset) && $0.element.state == .healthy }
            .map(\.element)
    }

    /// Returns the error for a call that no server serves, or that none of the named servers serves.
    func unserved(_ configuration: APIConfiguration, by names: [Server.ID]? = nil) -> RequestFailure.Reason {
        let servers = names ?? sites.compactMap(\.origin.server)
        guard roles != nil else { return .unknownServer("") }
        let path = configuration.place.prefix { $0 != "?" && $0 != "#" }
        let isRelative = !path.contains("://") && !path.hasPrefix("/")
        let text = isRelative ? "/\(path)" : String(path)
        return .unserved(UnservedRequest(method: configuration.sentMethod, path: text, servers: servers))
    }

    /// Returns an error if a URL belongs to a server of the service, and no server at that address serves a request
    /// with this method and path.
    func refusal(of method: HTTPMethod, _ url: RequestURL) -> UnservedRequest? {
        guard roles != nil, let (url, site) = site(of: url), let name = site.origin.server else { return nil }
        // Servers may share an address, so one server that serves the request is enough.
        guard sites.contains(where: { $0.covers(url) }), !sites.contains(where: { $0.serves(method, url) }) else {
            return nil
        }
        return UnservedRequest(method: method, path: url.path, servers: [name])
    }
}

extension ServerPool.Site {
    /// Whether the path of a URL is a path of the service on this server.
    fileprivate func covers(_ url: RequestURL) -> Bool {
        [origin, cdn].compactMap(\.self).contains { ServicePath.mayBe(url, below: $0.base) }
    }

    /// Whether a URL belongs to the server, and the server serves a request for it.
    func serves(_ method: HTTPMethod, _ url: RequestURL) -> Bool {
        [origin, cdn].compactMap(\.self).contains { place in
            url.isAt(place.base) && (place.role.map { $0.serves(method, at: url, below: place.base) } ?? true)
        }
    }
}
