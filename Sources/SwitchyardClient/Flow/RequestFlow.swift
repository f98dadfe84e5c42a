import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTransport

/// A request's way through everything that surrounds it, in rounds until one is its end.
///
/// It takes the place of a bare ``Failover`` when options or configuration name anything of the kind: limits,
/// interceptors, credentials, a retry policy. A round has this order, which is fixed:
///
/// 1. limits: each lets the round pass, makes it wait, or refuses it
/// 2. adapt: interceptors change the configuration, the client's first, then the configuration's own
/// 3. credentials: one is taken, after a renewal if it is about to end; what is another user's ends here
/// 4. attempts: server chosen, request built, signed and sent; redirects, the next server, hedges
/// 5. observe: observers hear how it ended (they hear of everything else too)
/// 6. credentials' answer to a 401: another credential, and another round
/// 7. retry: interceptors in the same order, then the retry policy; the first that decides
/// 8. wait, then the next round
///
/// The identifier, the environment and the deadline are those of the whole flow. It ends exactly once: by a round, by
/// a cancel or by the deadline, whichever comes first, and the latter two wait for nobody, not even for an interceptor
/// that never returns. The task that goes the rounds finds out at its next step and stops.
final class RequestFlow: DispatchedRequest, CredentialUser {
    let id: RequestID
    let owner: OwnerID
    let configuration: APIConfiguration
    let plan: FlowPlan
    let core: ClientCore
    let pool: ServerPool
    /// Servers that are not asked as long as there is another.
    let avoided: [Server.ID]
    let startedAt: MonotonicTime
    let deadline: MonotonicTime
    let patience: (@Sendable () -> MonotonicTime)?
    let state = Locked(RequestFlowState())
    let progress: TransferProgressHandler?
    private let completion: RequestCompletion

    /// Creates the flow of a request.
    init(
        id: RequestID,
        owner: OwnerID,
        configuration: APIConfiguration,
        plan: FlowPlan,
        core: ClientCore,
        pool: ServerPool,
        avoiding avoided: [Server.ID] = [],
        patience: (@Sendable () -> MonotonicTime)? = nil,
        progress: TransferProgressHandler?,
        completion: @escaping RequestCompletion
    ) {
        self.id = id
        self.owner = owner
        self.configuration = configuration
        self.plan = plan
        self.patience = patience
        self.core = core
        self.progress = progress
        self.completion = completion
        self.avoided = avoided
        self.pool = pool
        startedAt = core.now
        deadline = core.deadline(of: configuration, in: pool, startedAt: startedAt)
    }

    /// The environment the request is built for.
    var environment: ServiceEnvironment { pool.environment }

    /// Whose call it is; `nil` for one that is bound to no login and takes no cookies.
    var callOwner: CallOwner? { configuration.rare?.value.callOwner }

    /// Until when anybody waits: the deadline, or the last one of those who share the request.
    var awaitedUntil: MonotonicTime { patience.map { min(deadline, $0()) } ?? deadline }

    var hasEnded: Bool { state.withLock { $0.hasEnded } }
    var isRunning: Bool { state.withLock { $0.isRunning } }

    /// Sets out.
    func start() {
        let beginning = event(.dispatched(configuration), round: 0)
        let hasBegun = state.withLock { state in
            guard state.begin() else { return false }
            // In one step, so that whoever ends it tells of the end behind it.
            if let beginning { core.observers.send(beginning, to: plan.observers) }
            return true
        }
        guard hasBegun else { return core.finish(self) }
        let timer =
            deadline == .distantFuture
            ? nil
            : core.time.schedule(at: deadline) { [weak self] in self?.cancel(.deadlineExceeded) }
        let task = Task { await travel() }
        guard state.withLock({ $0.hold(task, timer) }) else {
            timer?.cancel()
            return task.cancel()
        }
    }

    func cancel(_ reason: RequestFailure.Reason) {
        end(with: .failure(reason))
    }

    func evacuate(_ server: Server.ID, in pool: ServerPool) {
        state.withLock { $0.current }?.evacuate(server, in: pool)
    }

    func serverSwitched(in pool: ServerPool) {
        if pool === self.pool { state.withLock { $0.onSwitch }?() }
    }

    /// Keeps what a limit that holds the round up does when another server is preferred.
    func keep(onSwitch action: (@Sendable () -> Void)?) {
        // What goes with the old one goes behind the lock.
        let old = state.withLock { state in
            defer { state.onSwitch = action }
            return state.onSwitch
        }
        withExtendedLifetime(old) {}
    }
}

// MARK: - The end

extension RequestFlow {
    /// Ends the flow unless it has ended: stops what is under way, then tells observers and the caller.
    func end(with result: Result<HTTPResponse, RequestFailure.Reason>) {
        guard let ending = state.withLock({ $0.end() }) else { return }
        ending.timer?.cancel()
        ending.task?.cancel()
        let answer = stopRound(of: ending, before: result)
        if case .failure = result, answer == nil { state.withLock { $0.dropResponse() } }
        // Its end may be on its way from another thread.
        if configuration.hasEffect { state.withLock { $0.dropUntoldRound() } }
        let result = answer.map(Result.success) ?? result
        for pass in ending.passes { pass.leave?() }
        core.finish(self) {
            // One that is cancelled before its start is told of from its beginning, too.
            if !ending.hasBegun { observe(.dispatched(configuration), round: 0) }
            let context = finalContext()
            core.noteWrite(configuration, result, context, in: pool)
            let outcome: Result<ServiceResponse, RequestFailure> =
                switch result {
                case .success(let response): .success(ServiceResponse(id: id, response: response, context: context))
                case .failure(let reason): .failure(RequestFailure(reason, id: id, context: context))
                }
            if answer != nil { observe(.roundEnded(outcome), round: context.rounds) }
            observe(.ended(outcome), round: context.rounds)
            completion(outcome)
        }
    }

    /// Ends the round that is under way, and returns the answer that it may have at hand when the time is over; not past
    /// interceptors that have a say in what answers are.
    private func stopRound(
        of ending: RequestFlowState.Ending,
        before result: Result<HTTPResponse, RequestFailure.Reason>
    ) -> HTTPResponse? {
        guard case .failure(let reason) = result, case .success(let answer) = ending.failover?.stop(reason),
            plan.retriers.isEmpty
        else { return nil }
        return answer
    }

    /// Where the last round went, with the figures of all of them.
    private func finalContext() -> RequestContext {
        let state = state.withLock { $0 }
        var context = state.lastContext ?? unsentContext(of: configuration)
        context.attempts = state.attempts
        context.rounds = state.rounds
        context.mayHaveBeenExecuted = state.mayHaveBeenExecuted
        context.fate = state.fate
        context.elapsed = startedAt.duration(to: core.now)
        return context
    }

    /// The context of a request of which nothing was sent.
    func unsentContext(of configuration: APIConfiguration) -> RequestContext {
        var context = RequestContext(
            service: pool.service,
            environment: environment,
            method: configuration.sentMethod,
            elapsed: startedAt.duration(to: core.now)
        )
        context.path = configuration.place
        return context
    }

    /// Tells the observers, of nothing behind the end; costs nothing when there are none.
    func observe(_ kind: DispatchEvent.Kind, round: Int) {
        guard let event = event(kind, round: round) else { return }
        state.withLock { state in
            if state.mayTell(event) { core.observers.send(event, to: plan.observers) }
        }
    }

    /// What the observers are told; `nil` when there are none.
    private func event(_ kind: @autoclosure () -> DispatchEvent.Kind, round: Int) -> DispatchEvent? {
        guard !plan.observers.isEmpty else { return nil }
        return DispatchEvent(
            id: id,
            service: pool.service,
            environment: environment,
            round: round,
            time: core.now,
            kind: kind(),
            call: configuration
        )
    }
}
