import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTransport

/// One request with limits, interceptors, credentials, retries, observers or a user, which is sent in one or more
/// rounds.
///
/// A round is one try at the request with its failovers and hedges (one run of ``Failover``). Each retry starts another
/// round. A request flow replaces a bare failover if the client's options or the call's configuration require any of
/// the steps below. A round has this fixed order:
///
/// 1. limits: each limit admits the round, makes it wait, or refuses it
/// 2. adapt: interceptors change the configuration, first the client's interceptors, then the call's
/// 3. credentials: the round gets a credential, which is refreshed first if it is about to expire. If another user has
///    logged in, the request is cancelled.
/// 4. attempts: a server is chosen, and the request is built, signed and sent, with redirects, failover and hedges
/// 5. observe: observers are notified of the result, as they are of every other event
/// 6. credentials again: a 401 may lead to another round with another credential
/// 7. retry: interceptors decide in the same order, then the retry policy decides, and the first decision applies
/// 8. wait: if the decision is a retry, the next round starts after a pause
///
/// Identifier, environment and deadline belong to the flow with all its rounds. The flow ends exactly once: by a round,
/// by a cancellation or by the deadline, whichever comes first. Cancellation and deadline take effect immediately, even
/// if an interceptor never returns. The task that runs the rounds detects the end before its next action and stops.
final class RequestFlow: DispatchedRequest, CredentialUser {
    let id: RequestID
    let owner: OwnerID
    let configuration: APIConfiguration
    let plan: FlowPlan
    let core: ClientCore
    let pool: ServerPool
    /// The servers that the request uses only if no other server is available.
    let avoided: [Server.ID]
    let startedAt: MonotonicTime
    let deadline: MonotonicTime
    let callersDeadline: (@Sendable () -> MonotonicTime)?
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
        callersDeadline: (@Sendable () -> MonotonicTime)? = nil,
        progress: TransferProgressHandler?,
        completion: @escaping RequestCompletion
    ) {
        self.id = id
        self.owner = owner
        self.configuration = configuration
        self.plan = plan
        self.callersDeadline = callersDeadline
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

    var callOwner: CallOwner? { configuration.callOwner }

    /// The latest time until which a caller waits for the request.
    ///
    /// This is the deadline, or the latest deadline of the requests that share the transfer if that is earlier.
    var awaitedUntil: MonotonicTime { callersDeadline.map { min(deadline, $0()) } ?? deadline }

    var hasEnded: Bool { state.withLock { $0.hasEnded } }
    var isRunning: Bool { state.withLock { $0.isRunning } }

    func start() {
        let beginning = event(.dispatched(configuration), round: 0)
        let hasBegun = state.withLock { state in
            guard state.begin() else { return false }
            // The start is reported under the lock, so that the end cannot be reported before it.
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

    /// The users and environments that apply to requests sent by this call's interceptors.
    ///
    /// Such a request belongs to the user of the call.
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

    /// Stores the action to run when another server becomes the preferred one while a limit makes the round wait.
    func keep(onSwitch action: (@Sendable () -> Void)?) {
        // The previous action is released after the lock.
        let old = state.withLock { state in
            defer { state.onSwitch = action }
            return state.onSwitch
        }
        withExtendedLifetime(old) {}
    }
}

// MARK: - End of the flow

extension RequestFlow {
    /// Ends the flow: stops the round in progress, then notifies observers and the caller.
    ///
    /// Does nothing if the flow has already ended.
    func end(with result: Result<HTTPResponse, RequestFailure.Reason>) {
        guard let ending = state.withLock({ $0.end() }) else { return }
        ending.timer?.cancel()
        ending.task?.cancel()
        let last = stopRound(of: ending, before: result)
        let answer: HTTPResponse? = if case .success(let response)? = last { response } else { nil }
        if case .failure = result, answer == nil { state.withLock { $0.dropResponse() } }
        // The round may have ended on another thread without having been recorded yet.
        if configuration.hasEffect { state.withLock { $0.dropUntoldRound() } }
        let result = last ?? result
        for pass in ending.passes { pass.leave?() }
        core.finish(self) {
            // If a flow is cancelled before its start, observers are notified of the start and then of the end.
            if !ending.hasBegun { observe(.dispatched(configuration), round: 0) }
            let context = finalContext()
            core.pathCounters(in: pool).recordWrite(configuration, result, context)
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

    /// Stops the round in progress.
    ///
    /// - Returns: The result of the round, which at the deadline may be a response that the round has already received,
    ///   even if the response cannot be used. `nil` if there is no round, or if interceptors may change responses.
    private func stopRound(
        of ending: RequestFlowState.Ending,
        before result: Result<HTTPResponse, RequestFailure.Reason>
    ) -> Result<HTTPResponse, RequestFailure.Reason>? {
        guard case .failure(let reason) = result, let last = ending.failover?.stop(reason), plan.retriers.isEmpty
        else { return nil }
        return last
    }

    /// Returns the context of the last round, with the attempts, the duration and the fate of all rounds together.
    private func finalContext() -> RequestContext {
        let state = state.withLock { $0 }
        var context = state.lastContext ?? unsentContext(of: configuration)
        context.attempts = state.attempts
        context.rounds = state.rounds
        context.history = state.history
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

    /// Notifies the observers of an event, unless the end has already been reported.
    ///
    /// Without observers, this costs nothing.
    func observe(_ kind: DispatchEvent.Kind, round: Int) {
        guard let event = event(kind, round: round) else { return }
        state.withLock { state in
            if state.mayTell(event) { core.observers.send(event, to: plan.observers) }
        }
    }

    /// Returns the event for the observers, or `nil` if there are no observers.
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
