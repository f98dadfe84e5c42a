import SwitchyardHTTP
import SwitchyardServices

extension ServerPool {
    /// A request whose response no caller awaits, and its server.
    struct Probe: Sendable {
        var route: Route
        /// The call that the probe copies.
        var question: APIConfiguration
    }

    /// Chooses the server for a request's first attempt.
    ///
    /// If another server is due for a probe or a warm-up request (both are copies of a read whose responses are
    /// discarded), the result also has that copy.
    ///
    /// - Throws: ``RequestFailure/Reason/overloaded`` if the request has to fail because every server is overloaded,
    ///   and ``RequestFailure/Reason/unserved(_:)`` if no server serves it.
    func first(
        for configuration: APIConfiguration,
        excluding avoided: [Server.ID] = [],
        barring barred: [Server.ID] = [],
        probing probePath: String? = nil,
        at now: MonotonicTime
    ) throws(RequestFailure.Reason) -> (route: Route, probe: Probe?) {
        let choice = try decide(for: configuration, barring: barred, choosesAt: now) {
            (state, traits) throws(RequestFailure.Reason) -> FirstChoice in
            if state.core.sheds(traits.priority, without: traits.unsuitable, at: now) { throw .overloaded }
            let avoided = avoided.isEmpty ? ServerSet() : state.positions(of: avoided)
            guard
                let attempt = state.core.choose(excluding: avoided, for: traits, at: now)
                    ?? state.core.choose(for: traits, at: now)
            else { throw state.unserved(configuration) }
            let hasRoles = state.roles != nil
            let probe = hasRoles ? nil : state.core.takeProbe(for: traits, at: now) ?? state.core.takeWarmUp(at: now)
            return FirstChoice(
                route: state.route(attempt, usesCDN: configuration.usesCDN),
                probe: probe.map { state.route($0, usesCDN: false) },
                needsProbe: hasRoles && state.core.mayProbe(at: now)
            )
        }
        if choice.needsProbe { return (choice.route, roleProbe(for: configuration, probing: probePath, at: now)) }
        return (choice.route, choice.probe.map { Probe(route: $0, question: configuration.shadow(probePath)) })
    }

    /// The server of a request's first attempt.
    ///
    /// It is a struct, because the runtime copies and destroys a tuple of such types more slowly.
    private struct FirstChoice {
        var route: Route
        /// The route of the probe or warm-up request that is due.
        var probe: Route?
        /// Whether a probe may be due and its server depends on the servers' roles (``roleProbe(for:probing:at:)``).
        var needsProbe: Bool
    }

    /// Returns the probe or the warm-up request that is due, if its server serves it.
    ///
    /// A server that does not serve the probe path gets a copy of the call.
    private func roleProbe(
        for configuration: APIConfiguration,
        probing probePath: String?,
        at now: MonotonicTime
    ) -> Probe? {
        for path in probePath == nil ? [nil] : [probePath, nil] {
            let question = configuration.shadow(path)
            let route = decide(for: question) { state, traits -> Route? in
                let attempt = state.core.takeProbe(for: traits, at: now) ?? state.core.takeWarmUp(for: traits, at: now)
                return attempt.map { state.route($0, usesCDN: false) }
            }
            if let route { return Probe(route: route, question: question) }
        }
        return nil
    }

    /// Returns the route to a server by name.
    ///
    /// - Throws: ``RequestFailure/Reason/unknownServer(_:)``, or ``RequestFailure/Reason/unserved(_:)`` if the server
    ///   does not serve the call and the call does not continue a transfer there.
    func fixed(
        _ name: Server.ID,
        for configuration: APIConfiguration,
        at now: MonotonicTime
    ) throws(RequestFailure.Reason) -> Route {
        try decide(for: configuration) { (state, traits) throws(RequestFailure.Reason) in
            guard let position = state.sites.firstIndex(where: { $0.origin.server == name }) else {
                throw .unknownServer(name)
            }
            var traits = traits
            if configuration.continuesAtServer { traits.unsuitable.remove(position) }
            guard !traits.unsuitable.contains(position) else { throw state.unserved(configuration, by: [name]) }
            guard let attempt = state.attempt(on: position, for: traits, at: now) else {
                throw .unknownServer(name)
            }
            return state.route(attempt, usesCDN: configuration.usesCDN)
        }
    }

    /// Returns the route to the server that a URL belongs to, or `nil` if the URL does not belong to the service.
    ///
    /// - Throws: ``RequestFailure/Reason/unserved(_:)`` if the server does not serve the request.
    func route(
        to url: RequestURL,
        for configuration: APIConfiguration,
        at now: MonotonicTime
    ) throws(RequestFailure.Reason) -> Route? {
        try state.withLock { (state) throws(RequestFailure.Reason) in
            guard let (url, site) = state.site(of: url) else { return nil }
            if let refusal = state.refusal(of: configuration.sentMethod, url) { throw .unserved(refusal) }
            let position = state.sites.firstIndex { $0.serves(configuration.sentMethod, url) }
            guard let position = position ?? state.sites.firstIndex(where: { $0.origin.server == site.origin.server })
            else { return nil }
            let usesCDN = !url.isAt(state.sites[position].origin.base)
            var traits = configuration.traits
            traits.unsuitable = state.roles?.unsuitable(for: configuration.sentMethod, url) ?? []
            return state.attempt(on: position, for: traits, at: now)
                .map { state.route($0, usesCDN: usesCDN) }
        }
    }

    /// Returns an error if a request goes to a server of the service that does not serve it.
    func refusal(of request: HTTPRequest) -> UnservedRequest? {
        state.withLock { $0.roles == nil ? nil : $0.refusal(of: request.method, request.url) }
    }

    /// Returns the route of a call with its own URL.
    ///
    /// The outcome of the attempt does not count for or against any server.
    func foreignRoute(to url: RequestURL?) -> Route { Route(to: Place(home(of: url))) }

    /// The decision about a request after a failure: whether, and when, it goes to another server.
    enum NextServer {
        case another(Route)
        /// The request checks again after this time, because the failover budget may permit the failover then.
        case later(Duration)
        /// The guard stopped the failover.
        case none(FailoverGuard)
    }

    /// Decides whether a request goes to another server after a failure, or because its server was ejected (taken out
    /// of use for a time).
    ///
    /// `tried` and `avoided` are names of servers. This method adds the positions of these servers to `request`.
    func failover(
        _ request: FailoverRequest,
        excluding tried: [Server.ID],
        _ avoided: [Server.ID],
        barring barred: [Server.ID] = [],
        for configuration: APIConfiguration,
        at now: MonotonicTime
    ) -> NextServer {
        // The selector is called only if another attempt may follow.
        if let obstacle = SwitchingCore.obstacle(to: request) { return .none(obstacle) }
        // One lock covers the whole decision. With two locks, a token that is returned to the budget in between would
        // be missed.
        return decide(for: configuration, barring: barred, choosesAt: now, excluding: tried) { state, traits in
            var request = request
            (request.tried, request.avoided) = (state.positions(of: tried), state.positions(of: avoided))
            let unreached = request.traits.unreached
            request.traits = traits
            request.traits.unreached = unreached
            return switch state.core.decideFailover(request, at: now) {
            case .attempt(let attempt): .another(state.route(attempt, usesCDN: configuration.usesCDN))
            case .wait(let pause): .later(pause)
            case .stopped(let obstacle): .none(obstacle)
            }
        }
    }

    /// Returns whether another server could be chosen if an attempt fails and all servers in `tried` have failed.
    ///
    /// `unreached` is the number of these servers that the request has certainly not reached.
    func couldFailOver(
        after attempt: Attempt,
        excluding tried: [Server.ID],
        unreached: Int,
        at now: MonotonicTime
    ) -> Bool {
        var traits = RequestTraits(endpoint: attempt.endpoint)
        (traits.unsuitable, traits.unreached) = (attempt.unsuitable, unreached)
        return state.withLock { state in
            state.core.couldFailOver(excluding: state.positions(of: tried), for: traits, at: now)
        }
    }

    /// Chooses another server for a hedge: a second attempt while the first server is slow.
    func hedge(
        beside attempt: Attempt,
        excluding tried: [Server.ID],
        _ avoided: [Server.ID],
        barring barred: [Server.ID] = [],
        unreached: Int,
        for configuration: APIConfiguration,
        at now: MonotonicTime
    ) -> Route? {
        decide(for: configuration, barring: barred, choosesAt: now, excluding: tried) { state, traits in
            var traits = traits
            traits.unreached = unreached
            let (tried, avoided) = (state.positions(of: tried), state.positions(of: avoided))
            return state.core.takeHedge(beside: attempt, excluding: tried, avoiding: avoided, for: traits, at: now)
                .map { state.route($0, usesCDN: configuration.usesCDN) }
        }
    }

    /// Returns the time to wait before another hedge is tried, or `nil` if there is no other server.
    func hedgePause(
        of attempt: Attempt,
        excluding tried: [Server.ID],
        _ avoided: [Server.ID],
        barring barred: [Server.ID] = [],
        unreached: Int,
        for configuration: APIConfiguration,
        at now: MonotonicTime
    ) -> Duration? {
        decide(for: configuration, barring: barred) { state, traits in
            var traits = traits
            traits.unreached = unreached
            let (tried, avoided) = (state.positions(of: tried), state.positions(of: avoided))
            return state.core.hedgePause(for: attempt, excluding: tried, avoiding: avoided, for: traits, at: now)
        }
    }

    /// Returns the seconds after which this attempt is hedged.
    ///
    /// If the resend rule forbids a hedge, the result is the time after which suspicion probes are sent to the server
    /// and to another server (``Suspicion``).
    func helpDelay(
        for route: Route,
        _ rule: ResendRule,
        from now: MonotonicTime,
        to deadline: MonotonicTime
    ) -> Double? {
        guard let attempt = route.attempt else { return nil }
        let remaining = now.seconds(to: deadline)
        return state.withLock { state in
            rule == .anytime
                ? state.core.hedgeDelay(for: attempt, remaining: remaining)
                : state.core.lateDelay(for: attempt, remaining: remaining)
        }
    }

    /// Whether the server of an attempt usually needs more than `wait` seconds to respond.
    func usuallyTakesLonger(than wait: Double, on attempt: Attempt) -> Bool {
        state.withLock { $0.core.usuallyTakesLonger(than: wait, on: attempt) }
    }

    /// Reports the attempts of a request that has ended.
    ///
    /// `resumedAt` is the time at which the process last continued after a suspension, or `nil` if it was never
    /// suspended.
    func settle(_ attempts: [SettledAttempt], resumedAt: MonotonicTime?, at now: MonotonicTime) -> [SwitchEvent] {
        state.withLock { state in
            if let resumedAt { state.core.processResumed(at: resumedAt) }
            return state.core.settle(attempts, at: now)
        }
    }

    /// Reports the only attempt of a request, which is the usual case.
    func settle(
        _ attempt: Attempt,
        _ outcome: AttemptOutcome,
        resumedAt: MonotonicTime?,
        at now: MonotonicTime
    ) -> [SwitchEvent] {
        state.withLock { state in
            if let resumedAt { state.core.processResumed(at: resumedAt) }
            return state.core.settle(attempt, outcome, at: now)
        }
    }
}

// MARK: - Probes

extension ServerPool {
    /// A pair of suspicion probes and their routes.
    ///
    /// One probe goes to the suspect, which is slow or has failed, and the other to another server (the peer).
    struct Suspicion: Sendable {
        var probe: SuspicionProbe
        var suspect: Route
        var peer: Route
    }

    /// Returns the time within which a working server is expected to respond to a probe.
    func timeLimit(of attempt: Attempt) -> Duration {
        state.withLock { $0.core.timeLimit(of: attempt) }
    }

    /// Reports the result of a probe.
    func settleProbe(
        _ attempt: Attempt,
        _ outcome: AttemptOutcome,
        resumedAt: MonotonicTime?,
        at now: MonotonicTime
    ) -> [SwitchEvent] {
        state.withLock { state in
            if let resumedAt { state.core.processResumed(at: resumedAt) }
            return state.core.settleProbe(attempt, outcome, at: now)
        }
    }

    /// Begins a pair of suspicion probes because an attempt is slow or has failed, or returns `nil` if the switching
    /// core permits none.
    ///
    /// Both servers serve `question`, the request of the probes. If the probes request another endpoint than the
    /// attempt did (`isOther`), the time limit of each probe is at least one second instead of 200 ms. One reason is
    /// that the usual latency of that endpoint is unknown. The other reason is that a 4xx response of another server is
    /// weak evidence against the suspect.
    ///
    /// The peer is one of the servers in `tried` only if there is no other server.
    func suspicion(
        of route: Route,
        besides tried: [Server.ID],
        asking question: APIConfiguration,
        isOther: Bool,
        at now: MonotonicTime
    ) -> Suspicion? {
        guard let attempt = route.attempt else { return nil }
        return decide(for: question) { state, traits in
            let probe = state.core.takeSuspicion(
                of: attempt,
                asking: isOther ? traits.endpoint : nil,
                without: traits.unsuitable,
                besides: state.positions(of: tried),
                atLeast: isOther ? .seconds(1) : .milliseconds(200),
                at: now
            )
            return probe.map { probe in
                Suspicion(
                    probe: probe,
                    suspect: state.route(probe.suspect, usesCDN: false),
                    peer: state.route(probe.peer, usesCDN: false)
                )
            }
        }
    }

    /// Reports the outcomes of a pair of suspicion probes, and returns their result.
    func settle(
        _ suspicion: Suspicion,
        suspect: AttemptOutcome,
        peer: AttemptOutcome,
        resumedAt: MonotonicTime?,
        at now: MonotonicTime
    ) -> (verdict: SuspicionProbe.Verdict, events: [SwitchEvent]) {
        let probe = suspicion.probe
        return state.withLock { state in
            if let resumedAt { state.core.processResumed(at: resumedAt) }
            let verdict = state.core.verdict(on: probe, suspect: suspect, peer: peer, at: now)
            return (verdict, state.core.settleSuspicion(probe, suspect: suspect, peer: peer, at: now))
        }
    }
}

extension ServerPool.State {
    /// Returns an attempt on the server at a position, or `nil` if the switching core permits none there.
    fileprivate mutating func attempt(
        on position: Int,
        for traits: RequestTraits,
        at now: MonotonicTime
    ) -> Attempt? {
        var others = ServerSet()
        for other in sites.indices where other != position { others.insert(other) }
        return core.choose(excluding: others, for: traits, at: now)
    }

    func route(_ attempt: Attempt, usesCDN: Bool) -> ServerPool.Route {
        let site = sites[attempt.server]
        return ServerPool.Route(attempt: attempt, to: usesCDN ? site.cdn ?? site.origin : site.origin)
    }
}
