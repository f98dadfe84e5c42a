import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTransport

/// One request, or one round of a ``RequestFlow``: it sends attempts, fails over, hedges (sends a second attempt while
/// the first is slow), enforces the deadline, and ends exactly once.
///
/// A failover runs on callbacks of the transport, the timers and the caller, and occupies no thread and no task while
/// it waits. ``FailoverState`` and ``ServerPool`` make all decisions. No callback is called under a lock.
final class Failover: DispatchedRequest {
    let id: RequestID
    let owner: OwnerID
    let configuration: APIConfiguration

    let core: ClientCore
    let pool: ServerPool
    let state = Locked(FailoverState())
    let startedAt: MonotonicTime
    let deadline: MonotonicTime
    private let callersDeadline: (@Sendable () -> MonotonicTime)?
    /// Whether the failover ends itself at the deadline.
    private let isTimed: Bool
    let progress: TransferProgressHandler?
    /// The observer of the attempts, or `nil` if there is none.
    let watch: AttemptMonitor?
    let avoided: [Server.ID]
    /// The time at which the call was dispatched.
    let dispatchedAt: MonotonicTime
    /// The reason for the first attempt.
    let firstKind: CallAttempt.Kind
    let completion: RequestCompletion

    /// Creates the failover of a request.
    ///
    /// If `round` is given, the failover runs one round of a ``RequestFlow``: the first try at the request or a retry.
    init(
        id: RequestID,
        owner: OwnerID,
        configuration: APIConfiguration,
        core: ClientCore,
        pool: ServerPool,
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
        callersDeadline = round?.callersDeadline
        isTimed = round?.isTimed ?? true
        firstKind = round?.kind ?? .first
        self.pool = pool
        startedAt = core.now
        dispatchedAt = round?.dispatchedAt ?? startedAt
        deadline = round?.deadline ?? core.deadline(of: configuration, in: pool, startedAt: startedAt)
    }

    /// The settings of a failover that runs one round of a ``RequestFlow`` (the first try at the request or a retry) or
    /// one part of a transfer.
    struct Round {
        /// The deadline of the request over all its rounds.
        ///
        /// If `nil`, the deadline of the configuration applies.
        var deadline: MonotonicTime?
        /// The time at which the call was dispatched.
        ///
        /// If `nil`, the round is the whole call.
        var dispatchedAt: MonotonicTime?
        /// The reason for the first attempt of the round.
        var kind = CallAttempt.Kind.first
        /// Whether the failover ends itself at the deadline.
        ///
        /// `false` in a ``RequestFlow``, because the flow ends its rounds.
        var isTimed = true
        /// A closure that returns the time until which a caller waits for the request.
        ///
        /// The time may change while the request runs. If the closure is `nil`, the deadline applies.
        var callersDeadline: (@Sendable () -> MonotonicTime)?
        /// The observer of the attempts.
        var watch: AttemptMonitor?
        /// The names of the servers that are used only if no other server is available.
        var avoided: [Server.ID] = []
    }

    var callOwner: CallOwner? { configuration.callOwner }

    /// The number of times that the cookies had been removed when the call was made, or `nil` for a call without
    /// cookies.
    var cookies: UInt64? { callOwner?.cookies }

    /// The environment that the request is built for.
    var environment: ServiceEnvironment { pool.environment }

    /// The rule that determines when the request may be resent, and whether it may be sent to two servers at the same
    /// time.
    var resendRule: ResendRule { resendRule(state.withLock { $0.changedMethod }) }

    /// The method of the request as it is sent.
    ///
    /// A modifier or a transform may have changed the method of the call.
    var method: HTTPMethod { state.withLock { $0.changedMethod } ?? configuration.sentMethod }

    /// Returns the resend rule of the request, for the changed method if a modifier or a transform has changed the
    /// method.
    func resendRule(_ changedMethod: HTTPMethod?) -> ResendRule {
        changedMethod.map(configuration.resendRule(sending:)) ?? configuration.resendRule
    }

    /// The latest time until which a caller waits for the request.
    ///
    /// This is the deadline, or the latest deadline of the requests that share the transfer if that is earlier.
    var awaitedUntil: MonotonicTime { callersDeadline.map { min(deadline, $0()) } ?? deadline }

    /// The servers that another attempt uses only if no other server is available: those to avoid, and those to which
    /// an attempt was redirected.
    var lastResorts: [Server.ID] {
        let targets = state.withLock { $0.redirectTargets }
        return targets.isEmpty ? avoided : avoided + targets.compactMap(pool.server(of:))
    }

    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Sends the first attempt of a request that is already in the table.
    func start() {
        guard state.withLock({ $0.begin() }) else { return core.finish(self) }
        if let answer = configuration.stubResponse { return end(with: .success(answer)) }
        do throws(RequestFailure.Reason) {
            let (route, probe) = try core.firstRoute(for: configuration, avoiding: avoided, in: pool, at: startedAt)
            launch(route, at: startedAt)
            if let probe { core.probe(probe, in: pool) }
        } catch {
            end(with: .failure(error))
        }
    }

    /// Chooses another server, because a modifier has changed the request so that the chosen server does not serve it.
    ///
    /// If attempts were made before, the failover or hedge for which the server was chosen is decided again without
    /// this server.
    func leaveUnsuitable(
        _ route: ServerPool.Route,
        _ request: HTTPRequest,
        after kind: FailureKind?,
        at now: MonotonicTime
    ) {
        let (barred, isFirst) = state.withLock { ($0.bar(route.server), $0.tried.isEmpty) }
        guard isFirst else { return route.attempt?.role == .hedge ? timerFired() : tryAnother(after: kind) }
        var unserved = UnservedRequest(
            method: request.method,
            path: request.url.path,
            servers: [route.server].compactMap(\.self)
        )
        guard configuration.leavesChoice else { return end(with: .failure(.unserved(unserved))) }
        do throws(RequestFailure.Reason) {
            let next = try core.firstRoute(for: configuration, avoiding: avoided, barring: barred, in: pool, at: now)
            if let probe = next.probe { core.probe(probe, in: pool) }
            launch(next.route, at: now)
        } catch {
            guard case .unserved(let refusal) = error else { return end(with: .failure(error)) }
            unserved.servers = refusal.servers
            end(with: .failure(.unserved(unserved)))
        }
    }

    func cancel(_ reason: RequestFailure.Reason) {
        stop(reason)
    }

    /// Ends the request for a reason and returns its result, or `nil` if it has already ended.
    ///
    /// If the reason is the deadline, the result may be a response that an attempt has already received.
    @discardableResult
    func stop(_ reason: RequestFailure.Reason) -> Result<HTTPResponse, RequestFailure.Reason>? {
        guard let ending = state.withLock({ $0.end(with: .failure(reason)) }) else { return nil }
        finish(ending, at: core.now)
        return ending.result
    }

    /// Tries the next server immediately if this request waits for a server that has just been ejected (taken out of
    /// use for a time).
    func evacuate(_ server: Server.ID, in pool: ServerPool) {
        guard pool === self.pool, resendRule == .anytime else { return }
        if let ending = state.withLock({ $0.takeRefusal(waitingFor: server) }) { return finish(ending, at: core.now) }
        let waits = state.withLock { $0.newestLive?.route.server == server }
        if waits { tryAnother(after: nil) }
    }
}

// MARK: - Time

extension Failover {
    /// Sets the timer for the time at which the request is hedged (sent to a second server as well), or for the
    /// deadline if it is earlier.
    func setTimer(_ number: Int, for route: ServerPool.Route, _ rule: ResendRule, at now: MonotonicTime) {
        var wakeUp = deadline
        if let delay = pool.helpDelay(for: route, rule, from: now, to: awaitedUntil) {
            wakeUp = min(wakeUp, now.advanced(bySeconds: delay))
        }
        setTimer(number, at: wakeUp)
    }

    func setTimer(_ number: Int, at wakeUp: MonotonicTime) {
        // The timer retains the failover until the failover ends. A weak reference would make every access to the
        // failover slower.
        let timer = core.time.schedule(at: wakeUp) { [self] in timerFired() }
        state.withLock { $0.replaceTimer(timer, number: number, firingAt: wakeUp) }?.cancel()
    }

    private func timerFired() {
        switch state.withLock({ $0.look() }) {
        case .held(let held):
            tryAnother(after: held.kind, heldSince: held.since)
        case .slow(let attempt, let tried, let timer):
            let now = core.now
            guard now < deadline else {
                if isTimed { end(with: .failure(.deadlineExceeded)) }
                return
            }
            help(attempt, tried, timer, at: now)
        }
    }

    /// Returns the time of the next check of an attempt if the process was suspended during the attempt, otherwise
    /// `nil`.
    ///
    /// After a suspension, the time that the server has to respond starts again at the resumption.
    private func checkAfterPause(at attempt: FailoverState.Attempt, at now: MonotonicTime) -> MonotonicTime? {
        guard let resumedAt = core.clock.resumedAt, attempt.startedAt < resumedAt,
            let delay = pool.helpDelay(for: attempt.route, resendRule, from: now, to: awaitedUntil)
        else { return nil }
        let next = resumedAt.advanced(bySeconds: delay)
        return now < next ? next : nil
    }

    /// Handles a slow attempt, and sets the next timer.
    ///
    /// If the request may be sent to two servers, it is hedged if possible. Otherwise, suspicion probes find out
    /// whether the slow server is at fault: the same safe request goes to the slow server and to another server
    /// (``ClientCore/compare(_:besides:becauseOf:atBase:in:undecided:)``).
    private func help(_ slow: FailoverState.Attempt?, _ tried: [Server.ID], _ timer: Int, at now: MonotonicTime) {
        if let next = slow?.activity?.nextCheckTime(at: now) {
            return setTimer(timer, at: min(next, deadline))
        }
        if let next = slow.flatMap({ checkAfterPause(at: $0, at: now) }) {
            return setTimer(timer, at: min(next, deadline))
        }
        guard let slow, let attempt = slow.route.attempt, configuration.leavesChoice else {
            return setTimer(timer, at: deadline)
        }
        guard resendRule == .anytime else {
            setTimer(timer, at: deadline)
            return compare(slow.route, besides: tried)
        }
        let (barred, unreached) = state.withLock { ($0.barred, $0.unreached) }
        let lastResorts = lastResorts
        let route = pool.hedge(
            beside: attempt,
            excluding: tried,
            lastResorts,
            barring: barred,
            unreached: unreached,
            for: configuration,
            at: now
        )
        // If the attempt was redirected out of the service, its server is not slow, so no hedge is tried later.
        let checksAgain = route == nil && !slow.isOutsideService
        let pause =
            checksAgain
            ? pool.hedgePause(
                of: attempt,
                excluding: tried,
                lastResorts,
                barring: barred,
                unreached: unreached,
                for: configuration,
                at: now
            )
            : nil
        setTimer(timer, at: pause.map { min(deadline, now.advanced(by: $0)) } ?? deadline)
        if let route { return launch(route, at: now) }
        if pause == nil { checkSuspect() }
    }
}
