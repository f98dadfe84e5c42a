import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTransport

/// One request on its way: sends attempts, fails over, hedges, keeps the deadline, and ends exactly once.
///
/// It runs on callbacks (of the transport, of the timers, of the caller) and holds no thread and no task while it
/// waits. All decisions are made by ``FailoverState`` and ``ServerPool``; no callback is made under a lock.
final class Failover: DispatchedRequest {
    let id: RequestID
    let owner: OwnerID
    let configuration: APIConfiguration

    let core: ClientCore
    let pool: ServerPool
    let state = Locked(FailoverState())
    let serviceName: String
    let startedAt: MonotonicTime
    let deadline: MonotonicTime
    private let patience: (@Sendable () -> MonotonicTime)?
    let progress: TransferProgressHandler?
    /// Who watches the attempts; `nil` when nobody does.
    let watch: AttemptWatch?
    let avoided: [Server.ID]
    let completion: RequestCompletion

    /// Creates the failover of a request; of one of its rounds when that is given.
    init(
        id: RequestID,
        owner: OwnerID,
        configuration: APIConfiguration,
        core: ClientCore,
        target: ClientCore.Target,
        round: Round? = nil,
        progress: TransferProgressHandler?,
        completion: @escaping RequestCompletion
    ) {
        self.id = id
        self.owner = owner
        self.configuration = configuration
        self.core = core
        self.progress = progress
        self.completion = completion
        watch = round?.watch
        avoided = round?.avoided ?? []
        patience = round?.patience
        (serviceName, pool) = target
        startedAt = core.now
        deadline = round?.deadline ?? core.deadline(of: configuration, in: pool, startedAt: startedAt)
    }

    /// What a round of a flow, or a piece of a transfer, sets for its failover.
    struct Round {
        /// The deadline of the whole flow.
        var deadline: MonotonicTime
        /// Until when anybody waits for it, which may change; the deadline when `nil`.
        var patience: (@Sendable () -> MonotonicTime)?
        /// Who watches the attempts.
        var watch: AttemptWatch?
        /// Servers that are not asked as long as there is another; by name, since the list may change meanwhile.
        var avoided: [Server.ID] = []
    }

    /// The environment the request is built for.
    var environment: ServiceEnvironment { pool.environment }

    /// Until when anybody waits: the deadline, or the last one of those who share the request.
    var awaitedUntil: MonotonicTime { patience.map { min(deadline, $0()) } ?? deadline }

    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Sends the first attempt.
    ///
    /// The request must be in the table by then.
    func start() {
        guard state.withLock({ $0.begin() }) else { return core.finish(self) }
        if let answer = configuration.localAnswer { return end(with: .success(answer)) }
        do throws(RequestFailure.Reason) {
            let (route, probe) = try core.firstRoute(for: configuration, avoiding: avoided, in: pool, at: startedAt)
            launch(route, at: startedAt)
            if let probe { core.probe(probe, copying: configuration, in: pool) }
        } catch {
            end(with: .failure(error))
        }
    }

    func cancel(_ reason: RequestFailure.Reason) {
        stop(reason)
    }

    /// Ends the request unless it has ended, and returns what with: the time may be over with an answer at hand.
    @discardableResult
    func stop(_ reason: RequestFailure.Reason) -> Result<HTTPResponse, RequestFailure.Reason>? {
        guard let ending = state.withLock({ $0.end(with: .failure(reason)) }) else { return nil }
        finish(ending, at: core.now)
        return ending.result
    }

    /// Tries the next server at once if this request is waiting for one that has just been taken out of service.
    func evacuate(_ server: Server.ID, in pool: ServerPool) {
        guard pool === self.pool, configuration.isIdempotent else { return }
        if let ending = state.withLock({ $0.takeRefusal(waitingFor: server) }) { return finish(ending, at: core.now) }
        let waits = state.withLock { $0.newestLive?.route.server == server }
        if waits { tryAnother(after: nil) }
    }
}

// MARK: - Time

extension Failover {
    /// Sets the timer for whatever comes first: the moment to hedge, or the deadline.
    func setTimer(_ number: Int, for route: ServerPool.Route, at now: MonotonicTime) {
        var wakeUp = deadline
        if let delay = pool.hedgeDelay(for: route, from: now, to: awaitedUntil) {
            wakeUp = min(wakeUp, now.advanced(bySeconds: delay))
        }
        setTimer(number, at: wakeUp)
    }

    func setTimer(_ number: Int, at wakeUp: MonotonicTime) {
        // It holds the failover until that ends; a weak reference would make every other reference to it a slow one.
        let timer = core.clock.schedule(at: wakeUp) { [self] in timerFired() }
        state.withLock { $0.replaceTimer(timer, number: number) }?.cancel()
    }

    private func timerFired() {
        switch state.withLock({ $0.look() }) {
        case .held(let held):
            tryAnother(after: held.kind, mayHaveBeenSent: false, heldSince: held.since)
        case .slow(let attempt, let tried, let timer):
            let now = core.now
            guard now < deadline else { return end(with: .failure(.deadlineExceeded)) }
            help(attempt, tried, timer, at: now)
        }
    }

    /// Does something about an attempt that is slow, and sets the next timer.
    private func help(_ slow: FailoverState.Attempt?, _ tried: [Server.ID], _ timer: Int, at now: MonotonicTime) {
        if configuration.isIdempotent, let next = slow?.activity?.nextLook(at: now) {
            return setTimer(timer, at: min(next, deadline))
        }
        guard let slow, let attempt = slow.route.attempt, configuration.leavesChoice else {
            return setTimer(timer, at: deadline)
        }
        guard configuration.isIdempotent else {
            setTimer(timer, at: deadline)
            return core.compare(slow.route, by: configuration, in: pool)
        }
        let route = pool.hedge(beside: attempt, excluding: tried, avoided, for: configuration, at: now)
        // What a redirect has led elsewhere is no reason to keep asking for a token.
        let looksAgain = route == nil && slow.chargeable != nil
        let pause = looksAgain ? pool.hedgePause(for: attempt, excluding: tried, avoided, at: now) : nil
        setTimer(timer, at: pause.map { min(deadline, now.advanced(by: $0)) } ?? deadline)
        if let route { launch(route, at: now) }
    }
}

// MARK: - The end

extension Failover {
    /// Ends the request unless it has ended.
    func end(with result: Result<HTTPResponse, RequestFailure.Reason>) {
        if let ending = state.withLock({ $0.end(with: result) }) { finish(ending, at: core.now) }
    }

    /// Does what the end requires.
    ///
    /// Runs once, outside the lock, since the ending is handed out once.
    func finish(_ ending: FailoverState.Ending, at now: MonotonicTime) {
        var ending = ending
        ending.timer?.cancel()
        ending.cancelUnanswered()
        core.finish(self) { [ending] in
            let events = settle(ending, at: now)
            if !events.isEmpty { core.publish(events, from: pool) }
            let context = context(of: ending, at: now)
            switch ending.result {
            case .success(let response):
                completion(.success(ServiceResponse(id: id, response: response, sharedContext: context)))
            case .failure(let reason):
                completion(.failure(RequestFailure(reason, id: id, sharedContext: context)))
            }
        }
    }

    /// Reports every attempt once; what was still under way is judged by what ended the request.
    private func settle(_ ending: FailoverState.Ending, at now: MonotonicTime) -> [SwitchEvent] {
        if ending.attempts.count == 1, let attempt = ending.attempts[0].route.attempt {
            return pool.settle(attempt, outcome(of: 0, in: ending, at: now), at: now)
        }
        let settled = ending.attempts.indices.compactMap { index in
            ending.attempts[index].route.attempt.map { SettledAttempt($0, outcome(of: index, in: ending, at: now)) }
        }
        return settled.isEmpty ? [] : pool.settle(settled, at: now)
    }

    /// What an attempt is charged with; the deadline is no fault of a server that was asked shortly before it.
    private func outcome(of index: Int, in ending: FailoverState.Ending, at now: MonotonicTime) -> AttemptOutcome {
        guard ending.isOverdue, ending.attempts[index].outcome == nil,
            let attempt = ending.attempts[index].route.attempt
        else { return ending.outcome(of: index) }
        let wait = ending.attempts[index].startedAt.seconds(to: now)
        return pool.usuallyTakesLonger(than: wait, on: attempt) ? ending.unanswered : ending.outcome(of: index)
    }

    private func context(of ending: FailoverState.Ending, at now: MonotonicTime) -> CopyOnWrite<RequestContext> {
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
        if decisive == nil { context.path = configuration.place }
        context.mayHaveBeenExecuted = ending.mayHaveBeenExecuted && configuration.hasEffect
        context.attempt = decisive.flatMap { ending.attempts[$0].chargeable }
        if case .success(let response) = ending.result, response.status == 401, let decisive {
            context.isForeign = !ending.attempts[decisive].isHome(configuration.authorization)
        }
        return CopyOnWrite(context)
    }
}

extension Failover {
    /// Sends an attempt on to where its answer points.
    ///
    /// The server is charged with what it did itself: with the redirect when the way leads to another origin, otherwise
    /// with the end of the way.
    ///
    /// - Returns: `false` when the answer is to be taken as it is.
    func follow(_ response: HTTPResponse, of index: Int, startedAt: MonotonicTime) -> Bool {
        let policy = configuration.redirects ?? core.options.redirects
        guard policy.isFollowing, let attempt = state.withLock({ $0.unanswered(index) }) else { return false }
        do throws(RedirectError) {
            var trail = try trail(of: attempt)
            let step = try trail.follow(response, policy) { (request, isHome) throws(RequestError) in
                try core.options.insecureHTTP.check(request.url)
                let isHome = isHome && request.url.isAt(attempt.route.home)
                try pool.generator.complete(&request, afterRedirectOf: configuration, isHome: isHome)
            }
            guard case .send(let request) = step else { return false }
            try checkEncryption(of: request.url)
            goOn(with: request, of: index, along: trail, on: attempt, startedAt: startedAt)
        } catch {
            conclude(index, .answered, .failure(.redirect(error)), mayHaveBeenSent: true, at: core.now)
        }
        return true
    }

    /// The way so far; an attempt that meets its first redirect has its request built once more for it.
    private func trail(of attempt: FailoverState.Attempt) throws(RedirectError) -> RedirectTrail {
        if let box = attempt.trail { return box.value }
        do throws(RequestError) {
            var request = try core.request(for: configuration, on: attempt.route, in: pool)
            request.timeouts.total = nil
            request.url = attempt.url
            return RedirectTrail(of: request, fragment: configuration.fragment)
        } catch {
            throw .invalidRequest(error)
        }
    }

    /// Refuses what the rule for http refuses: the request may be one that the caller's policy has made.
    private func checkEncryption(of url: RequestURL) throws(RedirectError) {
        do throws(RequestError) { try core.options.insecureHTTP.check(url) } catch { throw .invalidRequest(error) }
    }

    private func goOn(
        with request: HTTPRequest,
        of index: Int,
        along trail: RedirectTrail,
        on attempt: FailoverState.Attempt,
        startedAt: MonotonicTime
    ) {
        guard let hop = state.withLock({ $0.redirect(index, along: trail) }) else { return }
        let (route, now) = (attempt.route, core.now)
        if let watch, let step = trail.steps.last {
            let record = AttemptRecord(number: index + 1, server: route.server, request: request, startedAt: now)
            watch.tell(.redirected(record, step))
        }
        let server = trail.hasLeft ? nil : route.server
        let task = send(request, of: index, attempt.activity, hop: hop, to: server, at: now) { [self] result in
            redirectEnded(index, hasLeft: trail.hasLeft, startedAt: startedAt, result)
        }
        guard let task else { return }
        if case .unwanted = state.withLock({ $0.attach(task, to: index, hop: hop) }) { task.cancel() }
    }

    private func redirectEnded(
        _ index: Int,
        hasLeft: Bool,
        startedAt: MonotonicTime,
        _ result: Result<HTTPResponse, TransportError>
    ) {
        if case .success(let response) = result {
            keepCookies(of: response, from: index)
            if response.redirectTarget != nil, follow(response, of: index, startedAt: startedAt) { return }
        }
        let now = core.now
        let latency = startedAt.duration(to: now)
        let outcome =
            hasLeft
            ? .answered : AttemptOutcome(of: result, latency: latency, tooManyRequests: pool.tooManyRequests)
        conclude(index, outcome, result.mapError { .transport($0.behindRedirect) }, mayHaveBeenSent: true, at: now)
    }

    /// Stores the cookies of an answer, where there is a jar for them.
    func keepCookies(of response: HTTPResponse, from index: Int) {
        guard let jar = pool.generator.cookies, configuration.usesCookies,
            response.headers["Set-Cookie"] != nil, let attempt = state.withLock({ $0.unanswered(index) })
        else { return }
        jar.store(from: response.headers, of: attempt.url)
    }
}

extension TransportError {
    /// The error as that of the whole way: who answered with a redirect has had the request, whatever became of it further
    /// on.
    fileprivate var behindRedirect: TransportError {
        var error = self
        error.mayHaveBeenSent = true
        return error
    }
}

extension RedirectPolicy {
    /// Whether redirects are looked at at all.
    fileprivate var isFollowing: Bool {
        if case .refuse = rule { false } else { true }
    }
}

extension APIConfiguration {
    /// What stands behind `#` in the path; it is never sent.
    fileprivate var fragment: String? {
        path.firstIndex(of: "#").map { String(path[path.index(after: $0)...]) }
    }
}

extension RequestGenerator {
    /// Puts into a request what belongs to its URL and its origin: cookies, and at home the credentials.
    func complete(
        _ request: inout HTTPRequest,
        afterRedirectOf configuration: APIConfiguration,
        isHome: Bool
    ) throws(RequestError) {
        if let cookies, configuration.usesCookies, configuration.ownHeaders["Cookie"] == nil {
            request.headers["Cookie"] = cookies.header(for: request.url)
        }
        configuration.confirmation?.complete(&request, afterRedirectOf: configuration)
        guard let authorization = configuration.authorization else { return }
        guard isHome else { return authorization.remove(from: &request) }
        try RequestError.running("credentials") { try authorization.apply(&request) }
    }
}
