import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTransport

/// A request's path through its limits, interceptors, credentials and retries, in rounds until one of them ends it.
///
/// A flow replaces a bare ``Failover`` if options or configuration contain any of these: limits, interceptors,
/// credentials, a retry policy. A round has this fixed order:
///
/// 1. limits: each admits the round, makes it wait, or refuses it
/// 2. adapt: interceptors change the configuration, the client's first, then the configuration's own
/// 3. credentials: one is taken, after a refresh if it is about to expire; a request of another user is cancelled here
/// 4. attempts: a server is chosen, the request is built, signed and sent; redirects, failover, hedges
/// 5. observe: observers are notified of the result (and of every other event)
/// 6. credentials again: a 401 may lead to another credential and another round
/// 7. retry: interceptors in the same order, then the retry policy; the first decision applies
/// 8. wait, then the next round
///
/// Identifier, environment and deadline belong to the whole flow. It ends exactly once: by a round, by a cancellation
/// or by the deadline, whichever comes first. Cancellation and deadline wait for nothing, not even for an interceptor
/// that never returns. The task that runs the rounds sees the end at its next step and stops.
final class RequestFlow: DispatchedRequest, CredentialUser {
    let id: RequestID
    let owner: OwnerID
    let configuration: APIConfiguration
    let plan: FlowPlan
    let core: ClientCore
    let pool: ServerPool
    /// The servers that are used only if there is no other.
    let avoided: [Server.ID]
    let startedAt: MonotonicTime
    let deadline: MonotonicTime
    let patience: (@Sendable () -> MonotonicTime)?
    let state = Locked(RequestFlowState())
    let progress: TransferProgressHandler?
    private let completion: RequestCompletion

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

    /// The environment that the request is built for.
    var environment: ServiceEnvironment { pool.environment }

    /// The owner of the call; `nil` for a call that is bound to no login and uses no cookies.
    var callOwner: CallOwner? { configuration.rare?.value.callOwner }

    /// The latest time until which a caller waits: the deadline, or the last deadline of the requests that share the
    /// transfer.
    var awaitedUntil: MonotonicTime { patience.map { min(deadline, $0()) } ?? deadline }

    var hasEnded: Bool { state.withLock { $0.hasEnded } }
    var isRunning: Bool { state.withLock { $0.isRunning } }

    func start() {
        let beginning = event(.dispatched(configuration), round: 0)
        let hasBegun = state.withLock { state in
            guard state.begin() else { return false }
            // In one step, so that the end is reported after the start.
            if let beginning { core.observers.send(beginning, to: plan.observers) }
            return true
        }
        guard hasBegun else { return core.finish(self) }
        let timer =
            deadline == .distantFuture
            ? nil
            : core.time.schedule(at: deadline) { [weak self] in self?.cancel(.deadlineExceeded) }
        let task = CallOwner.$inherited.withValue(ownersOfParts) { Task { await travel() } }
        guard state.withLock({ $0.hold(task, timer) }) else {
            timer?.cancel()
            return task.cancel()
        }
    }

    /// The owners of requests that interceptors send: a request for a call belongs to the user of the call.
    private var ownersOfParts: [CallOwner] {
        let inherited = CallOwner.inherited
        guard plan.hasParts, !configuration.outlivesLogout, let callOwner else { return inherited }
        return [callOwner] + inherited
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

    /// Stores the action of a limit that holds the round when another server becomes the preferred one.
    func keep(onSwitch action: (@Sendable () -> Void)?) {
        // The old value is released after the lock.
        let old = state.withLock { state in
            defer { state.onSwitch = action }
            return state.onSwitch
        }
        withExtendedLifetime(old) {}
    }
}

// MARK: - End of the flow

extension RequestFlow {
    /// Ends the flow unless it has ended: stops the work in flight, then notifies observers and the caller.
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
            // A flow that is cancelled before its start reports its start too.
            if !ending.hasBegun { observe(.dispatched(configuration), round: 0) }
            let context = finalContext()
            core.recordWrite(configuration, result, context, in: pool)
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

    /// Ends the round in flight and returns its available response at the deadline, unless interceptors may change
    /// responses.
    private func stopRound(
        of ending: RequestFlowState.Ending,
        before result: Result<HTTPResponse, RequestFailure.Reason>
    ) -> HTTPResponse? {
        guard case .failure(let reason) = result, case .success(let answer) = ending.failover?.stop(reason),
            plan.retriers.isEmpty
        else { return nil }
        return answer
    }

    /// Returns the context of the last round, with the totals of all rounds.
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

    /// Returns the context of a request that was not sent.
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

    /// Notifies the observers, but of nothing after the end; costs nothing if there are no observers.
    func observe(_ kind: DispatchEvent.Kind, round: Int) {
        guard let event = event(kind, round: round) else { return }
        state.withLock { state in
            if state.mayTell(event) { core.observers.send(event, to: plan.observers) }
        }
    }

    /// Returns the event for the observers; `nil` if there are none.
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
