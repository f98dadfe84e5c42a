import SwitchyardHTTP
import SwitchyardServices

extension ServerPool {
    /// Chooses the server for a request's first attempt.
    ///
    /// If another server is due for a probe or a warm-up, the result also has that server.
    ///
    /// - Throws: ``RequestFailure/Reason/overloaded`` if the request has to fail because every server is overloaded.
    func first(
        for configuration: APIConfiguration,
        excluding avoided: [Server.ID] = [],
        at now: MonotonicTime
    ) throws(RequestFailure.Reason) -> (route: Route, probe: Route?) {
        let traits = configuration.traits
        return try state.withLock { (state) throws(RequestFailure.Reason) in
            if state.core.sheds(traits.priority, at: now) { throw .overloaded }
            guard let attempt = state.core.choose(excluding: state.positions(of: avoided), for: traits, at: now) else {
                throw .unknownServer("")
            }
            let probe = state.core.takeProbe(for: traits, at: now) ?? state.core.takeWarmUp(at: now)
            return (
                state.route(attempt, usesCDN: configuration.usesCDN),
                probe.map { state.route($0, usesCDN: false) }
            )
        }
    }

    /// Returns the route to a server by name, or `nil` if there is no such server.
    func fixed(_ name: Server.ID, for configuration: APIConfiguration, at now: MonotonicTime) -> Route? {
        state.withLock { state in
            guard let position = state.sites.firstIndex(where: { $0.origin.server == name }) else { return nil }
            return state.attempt(on: position, for: configuration, at: now)
                .map { state.route($0, usesCDN: configuration.usesCDN) }
        }
    }

    /// Returns the route to the server that a URL belongs to, or `nil` if the URL does not belong to the service.
    func route(to url: RequestURL, for configuration: APIConfiguration, at now: MonotonicTime) -> Route? {
        state.withLock { state in
            guard let (url, site) = state.site(of: url),
                let position = state.sites.firstIndex(where: { $0.origin.server == site.origin.server })
            else { return nil }
            let usesCDN = !url.isAt(state.sites[position].origin.base)
            return state.attempt(on: position, for: configuration, at: now)
                .map { state.route($0, usesCDN: usesCDN) }
        }
    }

    /// Returns the route of a call with its own URL.
    ///
    /// Its outcome counts for or against no server.
    func foreignRoute(to url: RequestURL?) -> Route { Route(to: Place(home(of: url))) }

    /// The next step of a request after a failure.
    enum NextServer {
        case another(Route)
        /// The request checks again after this time, when a token may be available.
        case later(Duration)
        /// The guard stopped the failover.
        case none(FailoverGuard)
    }

    /// Decides whether a request goes to another server after a failure, or after an ejection.
    ///
    /// `tried` and `avoided` are the names of the servers, whose positions this method adds to `request`.
    func failover(
        _ request: FailoverRequest,
        excluding tried: [Server.ID],
        _ avoided: [Server.ID],
        for configuration: APIConfiguration,
        at now: MonotonicTime
    ) -> NextServer {
        // One lock covers the whole decision. With two locks, a token that is returned in between would be missed.
        state.withLock { state in
            var request = request
            (request.tried, request.avoided) = (state.positions(of: tried), state.positions(of: avoided))
            request.traits = configuration.traits
            return switch state.core.decideFailover(request, at: now) {
            case .attempt(let attempt): .another(state.route(attempt, usesCDN: configuration.usesCDN))
            case .wait(let pause): .later(pause)
            case .stopped(let obstacle): .none(obstacle)
            }
        }
    }

    /// Returns whether another server could be chosen after the servers in `tried` have failed.
    func couldFailOver(excluding tried: [Server.ID], at now: MonotonicTime) -> Bool {
        state.withLock { $0.core.couldFailOver(excluding: $0.positions(of: tried), at: now) }
    }

    /// Chooses another server for a hedge: a second attempt while the first server is slow.
    func hedge(
        beside attempt: Attempt,
        excluding tried: [Server.ID],
        _ avoided: [Server.ID],
        for configuration: APIConfiguration,
        at now: MonotonicTime
    ) -> Route? {
        state.withLock { state in
            let (tried, avoided) = (state.positions(of: tried), state.positions(of: avoided))
            let traits = configuration.traits
            return state.core.takeHedge(beside: attempt, excluding: tried, avoiding: avoided, for: traits, at: now)
                .map { state.route($0, usesCDN: configuration.usesCDN) }
        }
    }

    /// Returns the time to wait before another hedge is tried, or `nil` if there is no other server.
    func hedgePause(
        for attempt: Attempt,
        excluding tried: [Server.ID],
        _ avoided: [Server.ID],
        at now: MonotonicTime
    ) -> Duration? {
        state.withLock { state in
            let (tried, avoided) = (state.positions(of: tried), state.positions(of: avoided))
            return state.core.hedgePause(for: attempt, excluding: tried, avoiding: avoided, at: now)
        }
    }

    /// Returns the time in seconds after which to hedge this attempt or, if the rule forbids that, to compare servers.
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
    /// Two servers to compare: the suspect, which is slow or has failed, and another server (the witness).
    struct Suspicion: Sendable {
        var probe: SuspicionProbe
        var suspect: Route
        var witness: Route
    }

    /// Returns the time within which a working server responds to a probe.
    func patience(with attempt: Attempt) -> Duration {
        state.withLock { $0.core.patience(with: attempt) }
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

    /// Returns the servers to compare because an attempt that must not be repeated is slow or has failed.
    ///
    /// If the comparison reads another endpoint than the attempt did, both servers get at least one second instead of
    /// 200 ms. The usual latency of that endpoint is unknown, and a 4xx response of another server is weak evidence
    /// against the suspect.
    func suspicion(of route: Route, asking endpoint: UInt32?, at now: MonotonicTime) -> Suspicion? {
        guard let attempt = route.attempt else { return nil }
        return state.withLock { state in
            let patience = endpoint == nil ? Duration.milliseconds(200) : .seconds(1)
            return state.core.takeSuspicion(of: attempt, asking: endpoint, atLeast: patience, at: now).map { probe in
                Suspicion(
                    probe: probe,
                    suspect: state.route(probe.suspect, usesCDN: false),
                    witness: state.route(probe.witness, usesCDN: false)
                )
            }
        }
    }

    /// Reports the outcomes of both servers of a comparison.
    func settle(
        _ suspicion: Suspicion,
        suspect: AttemptOutcome,
        witness: AttemptOutcome,
        resumedAt: MonotonicTime?,
        at now: MonotonicTime
    ) -> [SwitchEvent] {
        state.withLock { state in
            if let resumedAt { state.core.processResumed(at: resumedAt) }
            return state.core.settleSuspicion(suspicion.probe, suspect: suspect, witness: witness, at: now)
        }
    }
}

extension ServerPool.State {
    /// Returns an attempt on one server of the list.
    fileprivate mutating func attempt(
        on position: Int,
        for configuration: APIConfiguration,
        at now: MonotonicTime
    ) -> Attempt? {
        var others = ServerSet()
        for other in sites.indices where other != position { others.insert(other) }
        return core.choose(excluding: others, for: configuration.traits, at: now)
    }

    fileprivate func route(_ attempt: Attempt, usesCDN: Bool) -> ServerPool.Route {
        let site = sites[attempt.server]
        return ServerPool.Route(attempt: attempt, to: usesCDN ? site.cdn ?? site.origin : site.origin)
    }
}
