import SwitchyardHTTP
import SwitchyardServices

/// The data that the rounds of one flow pass on to each other.
struct RequestFlowMemory {
    /// The records of the rounds that have ended.
    var history: [RoundRecord] = []
    /// The number of refreshes that this request has caused.
    var refreshes = 0
    /// Whether the client's credential was refused and no other can be obtained, so that later rounds are sent without
    /// one.
    var isSentWithoutCredential = false
    /// The attempts to satisfy the digest challenges of each origin.
    var digests: [RequestURL.Origin: DigestTrial] = [:]
    /// The tokens that the last retry took from the budget.
    var tokens: Int?
    /// The number of tokens of a retry that has not been sent yet.
    var unspentTokens: Int?
    /// The idempotency key of the last round: an interceptor may have set it.
    var idempotencyKey = IdempotencyKey.none
    /// How the last round ended.
    var ending: Result<HTTPResponse, RequestFailure.Reason>?
    /// The number of times the network had come back when the last round was sent, if the policy waits for the network.
    var openings: UInt64 = 0
    /// The random numbers for the jitter of pauses.
    var random: RandomSource
}

extension RequestFlow {
    /// Executes rounds until one of them ends the flow.
    func travel() async {
        var memory = RequestFlowMemory(random: RandomSource(seed: core.options.seed ^ id.number))
        do throws(RequestFailure.Reason) {
            if let problem = plan.retry?.problem {
                throw .vetoed(InterceptorError(name: "retry policy", underlying: problem))
            }
            while true {
                guard let passed = try await round(&memory) else {
                    giveBackTokens(&memory)
                    return end(with: memory.ending ?? .failure(.cancelled))
                }
                leaveLimits()
                observe(.roundEnded(passed.ended.result), round: passed.ended.context.round)
                switch try await nextStep(of: passed, &memory) {
                case .end(let result):
                    // The owner is checked again, because interceptors may have taken long.
                    try checkOwner(dropping: passed.ended.result)
                    return end(with: result)
                case .again(let pause, let isReauthorized):
                    // A streamed body that is not read must not hold its connection while other requests wait.
                    if case .success(let answer) = passed.ended.result { answer.discardBody() }
                    var record = RoundRecord(passed.ended.result, round: passed.ended.context.round)
                    record.isReauthorized = isReauthorized
                    memory.history.append(record)
                    memory.ending = passed.ended.ending
                    try await wait(pause, round: record.round)
                }
            }
        } catch {
            giveBackTokens(&memory)
            end(with: .failure(error))
        }
    }

    /// A round that has ended, and the credential that it carried.
    struct PassedRound {
        var ended: RoundResult
        var lease: CredentialLease?
    }

    /// Goes one round; `nil` when what interceptors have made of the call must not be sent behind the rounds before.
    private func round(_ memory: inout RequestFlowMemory) async throws(RequestFailure.Reason) -> PassedRound? {
        var context = DispatchContext(
            id: id,
            round: memory.history.count + 1,
            service: pool.service,
            environment: environment,
            startedAt: startedAt,
            deadline: awaitedUntil,
            history: memory.history,
            time: core.time,
            owner: owner,
            isOfRefresh: CredentialBypass.isRefreshing,
            end: { [weak self] in self?.cancel($0) },
            preferred: { [pool] in pool.current },
            whenSwitched: { [weak self] in self?.keep(onSwitch: $0) }
        )
        try await passLimits(context)
        var adapted = try await adapted(context, &memory)
        guard mayFollow(adapted) else { return nil }
        // The count is read before sending, because the network may come back before the failure is handled here.
        if plan.retry?.networkWait != nil { memory.openings = core.connectivity.openings }
        let lease: CredentialLease?
        do throws(RequestFailure.Reason) {
            lease = try await authorize(&adapted, after: memory)
        } catch {
            guard error.refreshFailure != nil else { throw error }
            try checkRunning()
            return PassedRound(ended: unsent(adapted, context, error))
        }
        try checkOwner()
        try checkRunning()
        observe(.roundBegan(adapted), round: context.round)
        memory.unspentTokens = nil
        let result = await failover(adapted, round: context.round)
        try checkRunning()
        try checkOwner(dropping: result)
        // The deadline may have changed, because other callers may share the request by now.
        context.deadline = awaitedUntil
        return PassedRound(ended: RoundResult(configuration: adapted, context: context, result: result), lease: lease)
    }

    /// Ends a round that had no credential; interceptors and the retry policy may start another.
    private func unsent(
        _ configuration: APIConfiguration,
        _ context: DispatchContext,
        _ reason: RequestFailure.Reason
    ) -> RoundResult {
        let failure = RequestFailure(reason, id: id, context: unsentContext(of: configuration))
        return RoundResult(configuration: configuration, context: context, result: .failure(failure))
    }

    /// Throws if the flow has ended, which stops its task.
    func checkRunning() throws(RequestFailure.Reason) {
        guard state.withLock({ $0.isRunning }) else { throw .cancelled }
    }

    /// Ends the call of a user who has left, before the call is sent and before its response is returned.
    func checkOwner(dropping result: Result<ServiceResponse, RequestFailure>? = nil) throws(RequestFailure.Reason) {
        guard let owner = callOwner, !configuration.outlivesLogout, let reason = owner.refusal else { return }
        if case .success(let response) = result { response.discardBody() }
        throw reason
    }

    private func wait(_ pause: Duration, round: Int) async throws(RequestFailure.Reason) {
        observe(.waiting(pause), round: round)
        do throws(CancellationError) { try await core.time.sleep(for: pause) } catch { throw .cancelled }
        try checkRunning()
    }
}

// MARK: - Limits and interceptors

extension RequestFlow {
    private func passLimits(_ context: DispatchContext) async throws(RequestFailure.Reason) {
        for limit in plan.limits {
            let pass: LimitPass
            do {
                pass = try await limit.enter(configuration, context)
            } catch {
                leaveLimits()
                throw RequestFailure.Reason(thrown: error, by: "\(type(of: limit))")
            }
            guard state.withLock({ $0.hold(pass) }) else {
                pass.leave?()
                throw .cancelled
            }
        }
    }

    private func leaveLimits() {
        for pass in state.withLock({ $0.takePasses() }) { pass.leave?() }
    }

    private func adapted(
        _ context: DispatchContext,
        _ memory: inout RequestFlowMemory
    ) async throws(RequestFailure.Reason) -> APIConfiguration {
        var adapted = configuration
        for adapter in plan.adapters {
            do {
                try await ConcurrencyLimit.holding(plan.limits) { try await adapter.part(&adapted, context) }
            } catch {
                throw RequestFailure.Reason(thrown: error, by: adapter.name)
            }
            try checkRunning()
        }
        keepKey(of: &adapted, &memory)
        return adapted
    }

    /// Sends a call with the key of the round before, as long as the server may have executed that: with another key the
    /// server would execute the call twice.
    private func keepKey(of adapted: inout APIConfiguration, _ memory: inout RequestFlowMemory) {
        guard adapted.idempotencyKey != .none else { return }
        let isBound = adapted.idempotencyKey == .automatic || state.withLock { $0.fate.mayHaveBeenExecuted }
        if isBound, memory.idempotencyKey != .none { adapted.idempotencyKey = memory.idempotencyKey }
        if adapted.idempotencyKey == .automatic { adapted.idempotencyKey = .random() }
        memory.idempotencyKey = adapted.idempotencyKey
    }

    /// Whether a call may be sent behind the rounds before: interceptors may have changed its method, or taken its key.
    private func mayFollow(_ adapted: APIConfiguration) -> Bool {
        let fate = state.withLock { $0.fate }
        return !fate.mayHaveBeenExecuted || adapted.resendRule.allowsResend(after: fate)
    }
}

// MARK: - Attempts

extension RequestFlow {
    private func failover(
        _ configuration: APIConfiguration,
        round: Int
    ) async -> Result<ServiceResponse, RequestFailure> {
        await withUnsafeContinuation { continuation in
            let failover = Failover(
                id: id,
                owner: owner,
                configuration: configuration,
                core: core,
                pool: pool,
                round: Failover.Round(
                    deadline: deadline,
                    isTimed: false,
                    patience: patience,
                    watch: attemptMonitor(of: round),
                    avoided: avoided
                ),
                progress: progress
            ) { [self] result in
                state.withLock { $0.roundEnded(result.context, hasEffect: result.isEffect(of: configuration)) }
                continuation.resume(returning: result)
            }
            guard state.withLock({ $0.hold(failover) }) else { return failover.cancel(.cancelled) }
            failover.start()
        }
    }

    private func attemptMonitor(of round: Int) -> AttemptMonitor? {
        guard !plan.observers.isEmpty else { return nil }
        return AttemptMonitor(of: id, detours: plan.detours) { [weak self] event in
            let kind: DispatchEvent.Kind =
                switch event {
                case .sent(let attempt): .attemptSent(attempt)
                case .redirected(let attempt, let step): .redirected(attempt, step)
                case .ended(let attempt, let result): .attemptEnded(attempt, result)
                }
            self?.observe(kind, round: round)
        }
    }
}

extension Result where Success == ServiceResponse, Failure == RequestFailure {
    /// Whether the status reports that a call with effect was executed.
    fileprivate func isEffect(of configuration: APIConfiguration) -> Bool {
        guard case .success(let response) = self else { return false }
        return configuration.hasEffect && response.status < 400
    }
}
