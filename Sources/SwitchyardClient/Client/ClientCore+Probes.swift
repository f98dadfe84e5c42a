import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTransport

extension ClientCore {
    /// Sends a shadow request to a server that is out of service, to see whether it is back.
    ///
    /// Nobody waits for it.
    ///
    /// A read that the app is sending anyway is copied, so that what is tested is what is needed.
    func probe(_ route: ServerPool.Route, copying configuration: APIConfiguration, in pool: ServerPool) {
        guard let attempt = route.attempt else { return }
        let limit = max(options.probeTimeout, pool.patience(with: attempt))
        send(shadow(of: configuration), to: route, in: pool, within: limit) { [self] outcome in
            publish(pool.settleProbe(attempt, outcome, at: time.now), from: pool)
        }
    }

    /// Asks a server that is slow to answer, or failed to answer, a request which must not be repeated, and another one,
    /// the same harmless question: if only the other answers, the fault is the server's.
    func compare(_ route: ServerPool.Route, becauseOf configuration: APIConfiguration, in pool: ServerPool) {
        guard let suspicion = pool.suspicion(of: route, at: time.now) else { return }
        let question = shadow(of: configuration)
        let outcomes = Locked<(suspect: AttemptOutcome?, witness: AttemptOutcome?)>((nil, nil))
        let settle: @Sendable () -> Void = { [self] in
            guard case (let suspect?, let witness?) = outcomes.withLock({ $0 }) else { return }
            publish(pool.settle(suspicion, suspect: suspect, witness: witness, at: time.now), from: pool)
            // One that answers is slow with this request only, and where nobody does it is the path or the question:
            // asking again would be for nothing.
            guard suspect.failureKind != nil, witness.isAnswer else { return }
            compare(route, becauseOf: configuration, in: pool)
        }
        send(question, to: suspicion.suspect, in: pool, within: suspicion.probe.limit) { outcome in
            outcomes.withLock { $0.suspect = outcome }
            settle()
        }
        send(question, to: suspicion.witness, in: pool, within: suspicion.probe.limit) { outcome in
            outcomes.withLock { $0.witness = outcome }
            settle()
        }
    }

    /// A harmless request that resembles another one: a read as it is, of a write its path, and nothing but the base URL
    /// of a read that must not be repeated.
    private func shadow(of configuration: APIConfiguration) -> APIConfiguration {
        if let probePath = options.probePath { return APIConfiguration(path: probePath) }
        let isRead = configuration.sentMethod.isSafe
        if isRead, configuration.isIdempotent, configuration.delivery == .whole { return configuration }
        var question = APIConfiguration()
        if !isRead || configuration.isIdempotent {
            question.path = configuration.path
            question.pathValues = configuration.pathValues
            question.apiVersion = configuration.apiVersion
        }
        question.upgradesToHTTPS = configuration.upgradesToHTTPS
        question.tls = configuration.tls
        return question
    }

    private func send(
        _ configuration: APIConfiguration,
        to route: ServerPool.Route,
        in pool: ServerPool,
        within limit: Duration,
        completion: @escaping @Sendable (AttemptOutcome) -> Void
    ) {
        let start = time.now
        var request: HTTPRequest
        do throws(RequestError) {
            request = try self.request(for: configuration, on: route, in: pool)
        } catch {
            return completion(.neutral)
        }
        // An answer from elsewhere says nothing about the server.
        guard request.url.isAt(route.base) else { return completion(.neutral) }
        request.timeouts.total = limit
        _ = transport.start(request, progress: nil) { [time] result in
            let latency = start.duration(to: time.now)
            completion(AttemptOutcome(of: result, latency: latency, tooManyRequests: pool.tooManyRequests))
        }
    }
}
