import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTransport

extension ClientCore {
    /// Sends a probe to an ejected server to check whether the server has recovered.
    ///
    /// No caller waits for the probe. The probe copies a read request that the app is sending to another server now, so
    /// that it tests what the app needs.
    func probe(_ probe: ServerPool.Probe, in pool: ServerPool) {
        let route = probe.route
        guard let attempt = route.attempt else { return }
        let limit = max(options.probeTimeout, pool.timeLimit(of: attempt))
        // The server was ejected because it did not respond on the existing connections, so the probe needs a new one.
        let isNew = attempt.role == .probe
        send(probe.question, to: route, in: pool, within: limit, onNewConnection: isNew) { [self] outcome in
            publish(pool.settleProbe(attempt, outcome, resumedAt: time.resumedAt, at: time.now), from: pool)
        }
    }

    /// Sends a pair of suspicion probes: the same safe request to a suspect (a server that is slow or has failed) and
    /// to another server.
    ///
    /// If only the other server responds, the suspect is at fault, and another pair of probes follows.
    ///
    /// Usually, probes are sent because the call itself must not be sent to two servers. They are also sent if a read
    /// is slow and another server has rejected its hedge (a second attempt) with a 4xx. In this case, `isAtBase` is
    /// `true`, and the probes read the base URL.
    ///
    /// The other server is one of the servers in `tried` only if there is no other server.
    ///
    /// `undecided` is called if no probes may begin now, or if they prove nothing about the suspect
    /// (``/SwitchyardServices/SuspicionProbe/Verdict/undecided``).
    func compare(
        _ route: ServerPool.Route,
        besides tried: [Server.ID] = [],
        becauseOf configuration: APIConfiguration,
        atBase isAtBase: Bool = false,
        in pool: ServerPool,
        undecided: @escaping @Sendable () -> Void = {}
    ) {
        let asked = isAtBase ? configuration.baseURLRead : configuration
        let pair = comparison(of: route, besides: tried, asking: asked, isOther: isAtBase, in: pool)
        guard let (question, suspicion) = pair else { return undecided() }
        let outcomes = Locked<(suspect: AttemptOutcome?, peer: AttemptOutcome?)>((nil, nil))
        let compareOutcomes: @Sendable () -> Void = { [self] in
            guard case (let suspect?, let peer?) = outcomes.withLock({ $0 }) else { return }
            let (verdict, events) = pool.settle(
                suspicion,
                suspect: suspect,
                peer: peer,
                resumedAt: time.resumedAt,
                at: time.now
            )
            publish(events, from: pool)
            switch verdict {
            case .atFault:
                compare(
                    route,
                    besides: tried,
                    becauseOf: configuration,
                    atBase: isAtBase,
                    in: pool,
                    undecided: undecided
                )
            case .responsive: break
            case .undecided: undecided()
            }
        }
        send(question, to: suspicion.suspect, in: pool, within: suspicion.probe.limit) { outcome in
            outcomes.withLock { $0.suspect = outcome }
            compareOutcomes()
        }
        send(question, to: suspicion.peer, in: pool, within: suspicion.probe.limit) { outcome in
            outcomes.withLock { $0.peer = outcome }
            compareOutcomes()
        }
    }

    /// Returns the request of a pair of suspicion probes, and the two servers.
    ///
    /// The request reads the probe path. If there is no probe path, or if the suspect and another server do not both
    /// serve it, the request is a safe request in place of the call (``APIConfiguration/shadow(_:)``).
    private func comparison(
        of route: ServerPool.Route,
        besides tried: [Server.ID],
        asking configuration: APIConfiguration,
        isOther: Bool,
        in pool: ServerPool
    ) -> (question: APIConfiguration, suspicion: ServerPool.Suspicion)? {
        for path in options.probePath == nil ? [nil] : [options.probePath, nil] {
            let question = configuration.shadow(path)
            let suspicion = pool.suspicion(
                of: route,
                besides: tried,
                asking: question,
                isOther: isOther,
                at: time.now
            )
            if let suspicion { return (question, suspicion) }
        }
        return nil
    }

    private func send(
        _ configuration: APIConfiguration,
        to route: ServerPool.Route,
        in pool: ServerPool,
        within limit: Duration,
        onNewConnection needsNewConnection: Bool = false,
        completion: @escaping @Sendable (AttemptOutcome) -> Void
    ) {
        let start = time.now
        var request: HTTPRequest
        do throws(RequestError) {
            request = try self.request(for: configuration, on: route, in: pool)
        } catch {
            return completion(.neutral)
        }
        // A response from another host proves nothing about the server. A request that a modifier has turned into a
        // write request must not be sent as a probe.
        guard request.url.isAt(route.base), request.method.isSafe, route.serves(request) else {
            return completion(.neutral)
        }
        request.timeouts.total = limit
        request.needsNewConnection = needsNewConnection
        _ = transport.start(request, progress: nil) { [time] result in
            let latency = start.duration(to: time.now)
            completion(AttemptOutcome(of: result, latency: latency, tooManyRequests: pool.tooManyRequests))
        }
    }
}
