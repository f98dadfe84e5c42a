import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTransport

// MARK: - Attempts

extension Failover {
    /// Sends one attempt along a route.
    ///
    /// If the route was chosen after a failure, `kind` is that failure.
    func launch(_ route: ServerPool.Route, after kind: FailureKind? = nil, at now: MonotonicTime) {
        var request: HTTPRequest
        do throws(RequestError) {
            request = try core.request(for: configuration, on: route, in: pool)
            // The check comes after the request was built, so that it also detects that cookies were removed in the
            // meantime.
            if let cookies, pool.generator.cookies?.isCleared(since: cookies) == true {
                request = try requestWithoutCookies(on: route)
            }
        } catch {
            abandon(route, at: now)
            return endUnsent(.invalidRequest(error), at: now)
        }
        let route = route.attempt == nil || request.url.isAt(route.base) ? route : uncharged(route, at: now)
        if route.attempt == nil, let refusal = pool.refusal(of: request) {
            return endUnsent(.unserved(refusal), at: now)
        }
        guard route.role == nil || route.serves(request) || configuration.continuesAtServer else {
            abandon(route, at: now)
            return leaveUnsuitable(route, request, after: kind, at: now)
        }
        request.timeouts.total = nil
        start(&request, on: route, at: now)
    }

    /// Starts an attempt, and sets the timer of the call's request.
    private func start(_ request: inout HTTPRequest, on route: ServerPool.Route, at now: MonotonicTime) {
        let activity = request.body.isLarge ? BodyActivity(startedAt: now, core.clock) : nil
        let added = state.withLock { $0.add(route, request, activity, in: configuration, at: now) }
        guard let (index, changedMethod) = added else { return abandon(route, at: now) }
        let rule = resendRule(changedMethod)
        if rule != .anytime { boundConnecting(of: &request, on: route, rule, at: now) }
        let reason = kind(ofAttempt: index, on: route)
        let task = send(request, of: index, reason, activity, to: route.server, at: now) { [self] result in
            attemptEnded(index, startedAt: now, changedMethod, activity, result)
        }
        guard let task else { return }
        let (attachment, timer) = state.withLock { state in
            let attachment = state.attach(task, to: index)
            return (attachment, attachment == .waiting ? state.claimTimer() : 0)
        }
        switch attachment {
        case .waiting: setTimer(timer, for: route, rule, at: now)
        case .answered: break
        case .unwanted: task.cancel()
        }
    }

    /// Ends the request because an attempt cannot be sent, unless another attempt determines its result.
    private func endUnsent(_ reason: RequestFailure.Reason, at now: MonotonicTime) {
        if let ending = state.withLock({ $0.endUnsent(reason) }) { finish(ending, at: now) }
    }

    /// Passes a request of an attempt to the transport, and notifies the observer if there is one.
    ///
    /// - Returns: The handle of the transfer, or `nil` if the request ended before the attempt could start.
    func send(
        _ request: HTTPRequest,
        of index: Int,
        _ kind: CallAttempt.Kind,
        _ activity: BodyActivity? = nil,
        hop: Int = 0,
        to server: Server.ID?,
        at now: MonotonicTime,
        completion: @escaping @Sendable (Result<HTTPResponse, TransportError>) -> Void
    ) -> (any TransportTask)? {
        let progress = if let activity { activity.watching(self.progress) } else { self.progress }
        guard let watch else { return core.transport.start(request, progress: progress, completion: completion) }
        let record = AttemptRecord(number: index + 1, kind: kind, server: server, request: request, startedAt: now)
        let attempt = MonitoredAttempt(record, watch.tell)
        // The attempt is stored before it starts, so that the code that ends the request can report the end of the
        // attempt even during the start.
        let isWanted = state.withLock { $0.attach(attempt, to: index, hop: hop) } == .waiting
        guard isWanted, attempt.begin() else { return nil }
        let carrier = watch.carrier(to: server, usually: core.transport)
        let task = carrier.start(request, progress: progress) { result in
            attempt.tell(result)
            completion(result)
            attempt.letGo()
        }
        attempt.hold(task)
        return attempt
    }

    /// Builds the request of an attempt without cookies.
    ///
    /// If the cookies were removed after the call was made, the cookies that are stored now belong to another session.
    private func requestWithoutCookies(on route: ServerPool.Route) throws(RequestError) -> HTTPRequest {
        var plain = configuration
        plain.usesCookies = false
        return try core.request(for: plain, on: route, in: pool)
    }

    /// Returns the route of a request that goes to another host than the server's.
    ///
    /// The outcome proves nothing about the server, so the result is a route without a server.
    private func uncharged(_ route: ServerPool.Route, at now: MonotonicTime) -> ServerPool.Route {
        abandon(route, at: now)
        return route.elsewhere
    }

    /// Limits the connect time of a request that must not be sent to two servers.
    ///
    /// If the limit expires, nothing has been sent, so another server can still get the request.
    ///
    /// The limit is twice the time after which a safe request would be hedged (sent to a second server as well). It is
    /// multiplied by the number of servers tried, because the network to all of them may be slow.
    ///
    /// At the last server, there is no limit unless the request can go back to the server that it left first. If it
    /// can, the limit at the last server is at least 4 s, in which a lost first packet is sent again twice. If less
    /// than 16 s are left until the deadline, it is at least a quarter of that time. It is never more than half of that
    /// time. The request goes back once, without this limit.
    private func boundConnecting(
        of request: inout HTTPRequest,
        on route: ServerPool.Route,
        _ rule: ResendRule,
        at now: MonotonicTime
    ) {
        guard request.timeouts.connect == nil, configuration.leavesChoice, let server = route.server,
            let attempt = route.attempt,
            let delay = pool.helpDelay(for: route, rule, from: now, to: awaitedUntil)
        else { return }
        let (tried, first, unreached) = state.withLock { ($0.tried, $0.leftServer, $0.unreached) }
        guard first != server else { return }
        var limit = delay * 2 * Double(tried.count)
        if !pool.couldFailOver(after: attempt, excluding: tried, unreached: unreached, at: now) {
            guard first != nil else { return }
            let left = now.seconds(to: awaitedUntil)
            limit = min(max(limit, min(4, left / 4)), left / 2)
        }
        state.withLock { $0.limitConnecting() }
        request.timeouts.connect = .seconds(limit)
    }

    private func attemptEnded(
        _ index: Int,
        startedAt attemptStart: MonotonicTime,
        _ changedMethod: HTTPMethod?,
        _ activity: BodyActivity?,
        _ result: Result<HTTPResponse, TransportError>
    ) {
        if case .success(let response) = result {
            if pool.generator.cookies != nil { keepCookies(of: response, from: index) }
            if response.redirectTarget != nil, follow(response, of: index, startedAt: attemptStart) { return }
        }
        let now = core.now
        // The time in which a large body was sent does not count as latency of the server.
        let latency = (activity?.lastSent ?? attemptStart).duration(to: now)
        let outcome = AttemptOutcome(of: result, latency: latency, tooManyRequests: pool.tooManyRequests)
        let fate = RequestFate(of: result, to: changedMethod ?? configuration.sentMethod)
        conclude(index, outcome, result.mapError { .transport($0) }, fate, at: now)
    }

    /// Records the outcome of an attempt and the fate of its request (whether a server may have executed it), and then
    /// ends the request or tries another server if necessary.
    func conclude(
        _ index: Int,
        _ outcome: AttemptOutcome,
        _ result: Result<HTTPResponse, RequestFailure.Reason>,
        _ fate: RequestFate,
        at now: MonotonicTime
    ) {
        let end = FailoverState.Attempt.End(time: now, ending: CallAttempt.Ending(result))
        switch state.withLock({ $0.attemptEnded(index, outcome, result, fate, end) }) {
        case .none: break
        case .end(let ending): finish(ending, at: now)
        case .tryAnother: tryAnother(after: outcome.failureKind)
        }
    }

    /// Notifies the pool that an attempt was reserved but not sent.
    private func abandon(_ route: ServerPool.Route, at now: MonotonicTime) {
        guard let attempt = route.attempt else { return }
        core.publish(pool.settle(attempt, .neutral, resumedAt: nil, at: now), from: pool)
    }

    /// Sends the request to the next server, unless a ``/SwitchyardServices/FailoverGuard`` stops it.
    ///
    /// If a guard stops it, the request waits for the attempts in flight, or until the failover budget may permit
    /// another attempt. If there is nothing to wait for, the request ends with its most significant failure.
    func tryAnother(after kind: FailureKind?, heldSince: MonotonicTime? = nil) {
        let now = core.now
        let (since, rule) = (heldSince ?? now, resendRule)
        let (request, tried, barred) = state.withLock { state in
            var request = FailoverRequest(after: kind, isPaidFor: state.isPaidFor)
            request.traits.unreached = state.unreached
            request.mayBeResent = rule.allowsResend(after: state.fate)
            request.hasTime = now < deadline
            request.leavesChoice = configuration.leavesChoice
            request.hasLeftService = state.hasLeft
            request.held = since.duration(to: now)
            return (request, state.tried, state.barred)
        }
        switch pool.failover(request, excluding: tried, lastResorts, barring: barred, for: configuration, at: now) {
        case .another(let route): launch(route, after: kind, at: now)
        case .later(let pause):
            let timer = state.withLock { $0.hold(FailoverState.Held(kind: kind, since: since)) }
            guard let timer else { return giveUp(because: .budget, at: now) }
            setTimer(timer, at: min(deadline, now.advanced(by: pause)))
        case .none(let obstacle):
            guard let route = routeBack(after: obstacle, at: now) else { return giveUp(because: obstacle, at: now) }
            launch(route, after: kind, at: now)
        }
    }

    /// Returns the route back to the first server that took too long to connect or refused a streamed body, if no other
    /// server can get the request.
    ///
    /// Without the limit on connecting, the request would have waited for that server. The transport would have sent a
    /// body that is no stream to that server again.
    private func routeBack(after obstacle: FailoverGuard, at now: MonotonicTime) -> ServerPool.Route? {
        switch obstacle {
        case .resendRule, .deadline, .fixedServer, .otherHost, .policy: return nil
        case .attemptLimit, .budget, .endpoint, .servers, .roles, .overload: break
        }
        guard let server = state.withLock({ $0.serverToReturnTo }) else { return nil }
        return try? pool.fixed(server, for: configuration, at: now)
    }

    /// Ends the request with its most significant result, unless an attempt is in flight.
    private func giveUp(because obstacle: FailoverGuard, at now: MonotonicTime) {
        guard var ending = state.withLock({ $0.giveUp() }) else { return checkSuspect() }
        ending.obstacle = obstacle
        let suspect = ending.leavesSuspicion(obstacle) ? ending.attempts.last?.route : nil
        let tried = suspect == nil ? [] : ending.attempts.compactMap(\.route.server)
        finish(ending, at: now)
        if let suspect { core.compare(suspect, besides: tried, becauseOf: configuration, in: pool) }
    }
}

extension Failover {
    /// If a 4xx response is held until an earlier attempt's server responds, sends suspicion probes to that server (the
    /// suspect) and to another server.
    ///
    /// The probes read the base URL, not the URL that was rejected. If the suspect is slow only with that request, it
    /// responds to the probe.
    func checkSuspect() {
        guard let suspect = state.withLock({ $0.suspect }) else { return }
        compare(suspect, atBase: true)
    }

    /// Sends suspicion probes to the server of a slow attempt and to another server.
    ///
    /// If the probes prove nothing, for example because the process was paused, they are repeated while the request
    /// waits. Otherwise the request would wait until its deadline.
    func compare(_ suspect: ServerPool.Route, besides tried: [Server.ID] = [], atBase: Bool = false) {
        core.compare(suspect, besides: tried, becauseOf: configuration, atBase: atBase, in: pool) { [self] in
            checkLater()
        }
    }

    /// Sets the timer for another check of a slow attempt, unless an earlier timer is set.
    ///
    /// The pause is the time that the request has taken so far or the time since the process last resumed, whichever is
    /// shorter, but at least 1 s. It ends at the deadline at the latest.
    private func checkLater() {
        let now = core.now
        let start = max(startedAt, core.clock.resumedAt ?? startedAt)
        let next = min(deadline, now.advanced(by: max(.seconds(1), start.duration(to: now))))
        if let timer = state.withLock({ $0.claimTimer(before: next) }) { setTimer(timer, at: next) }
    }
}

extension FailoverState.Ending {
    /// Whether suspicion probes have to find out whether the server of the last attempt is at fault.
    ///
    /// They are needed if the guard has stopped a failover whose response would have shown it: because the request must
    /// not be sent again, because the other servers were overloaded a short time ago and get no failovers, or because
    /// overload has used up the failover budget. Without the probes, the server would stay preferred, and all calls
    /// would fail until a failover is possible again.
    ///
    /// A server that has responded that it is overloaded gets no probes. A failure of this machine causes no probes
    /// either.
    fileprivate func leavesSuspicion(_ obstacle: FailoverGuard) -> Bool {
        let failure = attempts.count == 1 ? attempts.last?.outcome?.failureKind : nil
        return switch obstacle {
        case .resendRule: true
        case .servers: failure.map { !$0.isRejection } ?? false
        case .budget: failure.map { !$0.isAnswer } ?? false
        default: false
        }
    }
}

extension RequestFate {
    /// Creates the fate of a request (whether a server may have executed it) from the result of its exchange.
    init(of result: Result<HTTPResponse, TransportError>, to method: HTTPMethod) {
        switch result {
        case .success(let response): self.init(status: response.status, to: method)
        case .failure(let error): self.init(error)
        }
    }
}
