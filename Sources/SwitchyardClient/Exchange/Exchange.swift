import SwitchyardServices

/// One request on its way: sends attempts, fails over, hedges, keeps the deadline, and ends exactly once.
///
/// It runs on callbacks (of the transport, of the timers, of the caller) and holds no thread and no task while it
/// waits. All decisions are made by ``ExchangeState`` and ``ServerPool``; no callback is made under a lock.
final class Exchange: DispatchedRequest {
    typealias Completion = @Sendable (Result<ServiceResponse, RequestFailure>) -> Void

    let id: RequestID
    let owner: ClientCore.OwnerID
    let configuration: APIConfiguration

    let core: ClientCore
    let pool: ServerPool
    let state = Locked(ExchangeState())
    private let serviceName: String
    private let startedAt: MonotonicTime
    private let deadline: MonotonicTime
    let progress: TransferProgressHandler?
    /// Told about attempts; `nil` when nobody watches.
    let observer: AttemptObserver?
    private let avoided: [Server.ID]
    private let completion: Completion

    /// Creates the exchange of a request; of one of its rounds when that is given.
    init(
        id: RequestID,
        owner: ClientCore.OwnerID,
        configuration: APIConfiguration,
        core: ClientCore,
        round: Round? = nil,
        progress: TransferProgressHandler?,
        completion: @escaping Completion
    ) {
        self.id = id
        self.owner = owner
        self.configuration = configuration
        self.core = core
        self.progress = progress
        self.completion = completion
        observer = round?.observer
        avoided = round?.avoided ?? []
        (serviceName, pool) = round?.target ?? core.target
        startedAt = core.now
        deadline = round?.deadline ?? core.deadline(of: configuration, in: pool, startedAt: startedAt)
    }

    /// What a round of a journey, or a piece of a transfer, sets for its exchange.
    struct Round {
        /// The service's name and its servers, the same for all rounds.
        var target: ClientCore.Target
        /// The deadline of the whole journey.
        var deadline: MonotonicTime
        /// Told about attempts.
        var observer: AttemptObserver?
        /// Servers that are not asked as long as there is another; by name, since the list may change meanwhile.
        var avoided: [Server.ID] = []
    }

    /// The environment the request is built for.
    var environment: ServiceEnvironment { pool.environment }

    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Sends the first attempt.
    ///
    /// The request must be in the table by then.
    func start() {
        guard state.withLock({ $0.begin() }) else { return core.remove(self) }
        if let answer = configuration.localAnswer { return end(with: .success(answer)) }
        do throws(RequestFailure.Reason) {
            let (route, probe) = try core.firstRoute(for: configuration, avoiding: avoided, in: pool, at: startedAt)
            launch(route, at: startedAt)
            if let probe { core.probe(probe, copying: configuration, in: pool) }
        } catch {
            end(with: .failure(error))
        }
    }

    /// Ends the request unless it has ended.
    func cancel(_ reason: RequestFailure.Reason) {
        end(with: .failure(reason))
    }

    /// Tries the next server at once if this request is waiting for one that has just been taken out of service.
    func evacuate(_ server: Server.ID, in pool: ServerPool) {
        guard pool === self.pool, configuration.isIdempotent else { return }
        let waits = state.withLock { $0.newestLive?.route.server == server }
        if waits { tryAnother(after: nil) }
    }
}

// MARK: - Attempts

extension Exchange {
    private func launch(_ route: ServerPool.Route, at now: MonotonicTime) {
        var request: HTTPRequest
        do throws(RequestError) {
            request = try core.request(for: configuration, on: route, in: pool)
        } catch {
            abandon(route, at: now)
            // An attempt beside another is an extra, and what is under way may be answered without it.
            guard !state.withLock({ $0.isWaiting }) else { return }
            return end(with: .failure(.invalidRequest(error)))
        }
        let route = charged(route, for: request.url, at: now)
        request.timeouts.total = nil
        if !configuration.isIdempotent { boundConnecting(of: &request, on: route, at: now) }
        let activity = BodyActivity.watch(on: request.body, startedAt: now, core.clock)
        guard let index = state.withLock({ $0.add(route, url: request.url, activity, at: now) }) else {
            return abandon(route, at: now)
        }
        let task = send(request, of: index, activity, to: route.server, at: now) { [self] result in
            attemptEnded(index, startedAt: now, activity, result)
        }
        guard let task else { return }
        let (attachment, timer) = state.withLock { state in
            let attachment = state.attach(task, to: index)
            return (attachment, attachment == .waiting ? state.claimTimer() : 0)
        }
        switch attachment {
        case .waiting: setTimer(timer, for: route, at: now)
        case .answered: break
        case .unwanted: task.cancel()
        }
    }

    /// The route that the outcome is charged to: what leads elsewhere says nothing about the server it was made for.
    private func charged(
        _ route: ServerPool.Route,
        for url: RequestURL,
        at now: MonotonicTime
    ) -> ServerPool.Route {
        guard route.attempt != nil, !url.isAt(route.base) else { return route }
        abandon(route, at: now)
        return route.elsewhere
    }

    /// Lets a write that must not be repeated wait for a connection no longer than a read would wait for its answer,
    /// twice over: as long as there is no connection nothing was sent, and another server can still be asked.
    private func boundConnecting(of request: inout HTTPRequest, on route: ServerPool.Route, at now: MonotonicTime) {
        guard request.timeouts.connect == nil, route.attempt?.role == .first, configuration.leavesChoice,
            pool.hasAlternatives, let delay = pool.hedgeDelay(for: route, from: now, to: deadline)
        else { return }
        request.timeouts.connect = .seconds(delay * 2)
    }

    private func attemptEnded(
        _ index: Int,
        startedAt attemptStart: MonotonicTime,
        _ activity: BodyActivity?,
        _ result: Result<HTTPResponse, TransportError>
    ) {
        if case .success(let response) = result {
            keepCookies(of: response, from: index)
            if response.redirectTarget != nil, follow(response, of: index, startedAt: attemptStart) { return }
        }
        let now = core.now
        // How long a large body takes to send is no figure of the server's.
        let latency = (activity?.lastSent ?? attemptStart).duration(to: now)
        let outcome = AttemptOutcome(of: result, latency: latency)
        settle(index, outcome, result.mapError { .transport($0) }, mayHaveBeenSent: result.mayHaveBeenSent, at: now)
    }

    /// Takes note of how an attempt ended, and does what follows.
    func settle(
        _ index: Int,
        _ outcome: AttemptOutcome,
        _ result: Result<HTTPResponse, RequestFailure.Reason>,
        mayHaveBeenSent: Bool,
        at now: MonotonicTime
    ) {
        switch state.withLock({ $0.attemptEnded(index, outcome, result) }) {
        case .none: break
        case .end(let ending): finish(ending, at: now)
        case .tryAnother: tryAnother(after: outcome.failureKind, mayHaveBeenSent: mayHaveBeenSent)
        }
    }

    /// Gives back an attempt that was taken but never sent.
    private func abandon(_ route: ServerPool.Route, at now: MonotonicTime) {
        guard let attempt = route.attempt else { return }
        core.publish(pool.settle(attempt, .neutral, at: now), from: pool)
    }

    /// Sends the request to the next server if that is safe and affordable; otherwise waits for what is under way.
    ///
    /// When nothing is under way the request ends with the most telling of its failures.
    private func tryAnother(after kind: FailureKind?, mayHaveBeenSent: Bool = true) {
        let now = core.now
        let (tried, hasLeft) = state.withLock { ($0.tried, $0.hasLeft) }
        let canResend = configuration.isIdempotent || !mayHaveBeenSent
        if canResend, now < deadline, configuration.leavesChoice, !hasLeft,
            let route = pool.failover(after: kind, excluding: tried, avoided, for: configuration, at: now)
        {
            return launch(route, at: now)
        }
        guard let ending = state.withLock({ $0.giveUp() }) else { return }
        let suspect = canResend ? nil : ending.attempts.last?.route
        finish(ending, at: now)
        if let suspect { core.compare(suspect, becauseOf: configuration, in: pool) }
    }
}

// MARK: - Time

extension Exchange {
    /// Sets the timer for whatever comes first: the moment to hedge, or the deadline.
    private func setTimer(_ number: Int, for route: ServerPool.Route, at now: MonotonicTime) {
        var wakeUp = deadline
        if let delay = pool.hedgeDelay(for: route, from: now, to: deadline) {
            wakeUp = min(wakeUp, now.advanced(bySeconds: delay))
        }
        setTimer(number, at: wakeUp)
    }

    private func setTimer(_ number: Int, at wakeUp: MonotonicTime) {
        // It holds the exchange until that ends; a weak reference would make every other reference to it a slow one.
        let timer = core.time.schedule(at: wakeUp) { [self] in timerFired() }
        state.withLock { $0.replaceTimer(timer, number: number) }?.cancel()
    }

    private func timerFired() {
        let now = core.now
        guard now < deadline else { return end(with: .failure(.deadlineExceeded)) }
        let (slow, tried, timer) = state.withLock { ($0.newestLive, $0.tried, $0.claimTimer()) }
        if configuration.isIdempotent, let next = slow?.activity?.nextLook(at: now) {
            return setTimer(timer, at: min(next, deadline))
        }
        setTimer(timer, at: deadline)
        guard let slow, slow.route.attempt != nil, configuration.leavesChoice else { return }
        if !configuration.isIdempotent {
            core.compare(slow.route, becauseOf: configuration, in: pool)
        } else if let route = pool.hedge(excluding: tried, avoided, for: configuration, at: now) {
            launch(route, at: now)
        }
    }
}

// MARK: - The end

extension Exchange {
    private func end(with result: Result<HTTPResponse, RequestFailure.Reason>) {
        if let ending = state.withLock({ $0.end(with: result) }) { finish(ending, at: core.now) }
    }

    /// Does what the end requires.
    ///
    /// Runs once, outside the lock, since the ending is handed out once.
    private func finish(_ ending: ExchangeState.Ending, at now: MonotonicTime) {
        ending.timer?.cancel()
        ending.cancelUnanswered()
        core.remove(self) {
            let events = settle(ending, at: now)
            if !events.isEmpty { core.publish(events, from: pool) }
            let context = context(of: ending, at: now)
            switch ending.result {
            case .success(let response):
                completion(.success(ServiceResponse(id: id, response: response, sharedContext: context)))
            case .failure(let reason):
                completion(.failure(RequestFailure(reason, id: id, context: context.value)))
            }
        }
    }

    /// Reports every attempt once; what was still under way is judged by what ended the request.
    private func settle(_ ending: ExchangeState.Ending, at now: MonotonicTime) -> [SwitchEvent] {
        if ending.attempts.count == 1, let attempt = ending.attempts[0].route.attempt {
            return pool.settle(attempt, outcome(of: 0, in: ending, at: now), at: now)
        }
        let settled = ending.attempts.indices.compactMap { index in
            ending.attempts[index].route.attempt.map { SettledAttempt($0, outcome(of: index, in: ending, at: now)) }
        }
        return settled.isEmpty ? [] : pool.settle(settled, at: now)
    }

    /// What an attempt is charged with; the deadline is no fault of a server that was asked shortly before it.
    private func outcome(of index: Int, in ending: ExchangeState.Ending, at now: MonotonicTime) -> AttemptOutcome {
        guard case .failure(.deadlineExceeded) = ending.result, ending.attempts[index].outcome == nil,
            let attempt = ending.attempts[index].route.attempt
        else { return ending.outcome(of: index) }
        let wait = ending.attempts[index].startedAt.seconds(to: now)
        return pool.usuallyTakesLonger(than: wait, on: attempt) ? .neutral : ending.outcome(of: index)
    }

    private func context(of ending: ExchangeState.Ending, at now: MonotonicTime) -> CopyOnWrite<RequestContext> {
        // Looked at where they are: a copy of an attempt would retain all of its parts.
        let decisive = ending.decisive
        var context = RequestContext(
            service: serviceName,
            environment: pool.environment,
            method: configuration.sentMethod,
            server: decisive.flatMap { ending.attempts[$0].route.server },
            url: decisive.map { ending.attempts[$0].url },
            attempts: ending.attempts.count,
            elapsed: startedAt.duration(to: now),
            redirects: decisive.flatMap { ending.attempts[$0].trail?.value.steps } ?? []
        )
        context.attempt = decisive.flatMap { ending.attempts[$0].chargeable }
        return CopyOnWrite(context)
    }
}

extension Result where Success == HTTPResponse, Failure == TransportError {
    /// Whether the request may have reached the server.
    fileprivate var mayHaveBeenSent: Bool {
        if case .failure(let error) = self { error.mayHaveBeenSent } else { true }
    }
}
