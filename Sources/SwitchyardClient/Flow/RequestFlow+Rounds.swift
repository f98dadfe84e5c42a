import SwitchyardHTTP
import SwitchyardServices

/// The data that a round of a ``RequestFlow`` passes on to the next round.
///
/// A round is one try at the request with its failovers and hedges.
struct RequestFlowMemory {
    /// The records of the rounds that have ended.
    var history: [DispatchContext.RoundRecord] = []
    /// The number of refreshes that this request has caused.
    var refreshes = 0
    /// Whether later rounds are sent without a credential.
    ///
    /// This is the case if a server rejected the client's credential and no other credential is available.
    var isSentWithoutCredential = false
    /// The replies to digest challenges, by origin.
    var digests: [RequestURL.Origin: DigestTrial] = [:]
    /// The number of tokens that the last retry took from the ``RetryBudget``, or `nil` before the first retry.
    var tokens: Int?
    /// The number of tokens of the ``RetryBudget`` that were taken for a retry that has not been sent yet, or `nil` if
    /// there is none.
    var unspentTokens: Int?
    /// The idempotency key of the last round.
    ///
    /// An interceptor may have set this key.
    var idempotencyKey = IdempotencyKey.none
    /// The result of the last round, or `nil` before the first round has ended.
    var ending: Result<HTTPResponse, RequestFailure.Reason>?
    /// The value of ``ConnectivityGate/openings`` (the number of network returns) before the last round was sent.
    ///
    /// The number is only updated if the retry policy waits for the network.
    var openings: UInt64 = 0
    /// The random numbers for the jitter of pauses.
    var random: RandomSource
}

extension RequestFlow {
    /// Runs rounds until the flow ends.
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
                    // The user may have logged out while the interceptors were running, so the user of the call is
                    // checked again.
                    try checkOwner(dropping: passed.ended.result)
                    return end(with: result)
                case .again(let pause, let isReauthorized):
                    // The body of this response is not read, so it must not occupy its connection until the next round
                    // ends.
                    if case .success(let answer) = passed.ended.result { answer.discardBody() }
                    var record = DispatchContext.RoundRecord(passed.ended.result, round: passed.ended.context.round)
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

    /// Runs one round.
    ///
    /// - Returns: The round, or `nil` if an interceptor has changed the call so that it must not be sent after the
    ///   earlier rounds.
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
            preferred: { [pool, configuration] in pool.preferred(for: configuration) },
            whenSwitched: { [weak self] in self?.keep(onSwitch: $0) }
        )
        try await passLimits(context)
        var adapted = try await adapted(context, &memory)
        guard mayFollow(adapted) else { return nil }
        // The count is read before sending, because the network may become available before a failure is handled below.
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
        let kind = memory.history.last.map { $0.isReauthorized ? CallAttempt.Kind.refresh : .retry } ?? .first
        let result = await failover(adapted, kind, round: context.round)
        try checkRunning()
        try checkOwner(dropping: result)
        // The deadline may be later now, because other calls may have joined the request.
        context.deadline = awaitedUntil
        return PassedRound(ended: RoundResult(configuration: adapted, context: context, result: result), lease: lease)
    }

    /// Returns the result of a round that was not sent because no credential was available.
    ///
    /// Interceptors and the retry policy may start another round.
    private func unsent(
        _ configuration: APIConfiguration,
        _ context: DispatchContext,
        _ reason: RequestFailure.Reason
    ) -> RoundResult {
        let failure = RequestFailure(reason, id: id, context: unsentContext(of: configuration))
        return RoundResult(configuration: configuration, context: context, result: .failure(failure))
    }

    /// Throws if the flow has ended, so that the task stops.
    func checkRunning() throws(RequestFailure.Reason) {
        guard state.withLock({ $0.isRunning }) else { throw .cancelled }
    }

    /// Throws if the user of the call has logged out.
    ///
    /// The body of `result` is then discarded.
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

    /// Keeps the idempotency key of the previous round if the key is automatic, or if a server may have executed the
    /// request in an earlier round.
    ///
    /// With another key, a server could execute the request twice.
    private func keepKey(of adapted: inout APIConfiguration, _ memory: inout RequestFlowMemory) {
        guard adapted.idempotencyKey != .none else { return }
        let isBound = adapted.idempotencyKey == .automatic || state.withLock { $0.fate.mayHaveBeenExecuted }
        if isBound, memory.idempotencyKey != .none { adapted.idempotencyKey = memory.idempotencyKey }
        if adapted.idempotencyKey == .automatic { adapted.idempotencyKey = .random() }
        memory.idempotencyKey = adapted.idempotencyKey
    }

    /// Whether the call may be sent again, given what the servers may have executed in earlier rounds.
    ///
    /// An interceptor may have changed the method or removed the idempotency key, so that sending the call again is not
    /// safe.
    private func mayFollow(_ adapted: APIConfiguration) -> Bool {
        let fate = state.withLock { $0.fate }
        return !fate.mayHaveBeenExecuted || adapted.resendRule.allowsResend(after: fate)
    }
}

// MARK: - Attempts

extension RequestFlow {
    private func failover(
        _ configuration: APIConfiguration,
        _ kind: CallAttempt.Kind,
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
                    dispatchedAt: startedAt,
                    kind: kind,
                    isTimed: false,
                    callersDeadline: callersDeadline,
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
        return AttemptMonitor(of: id, detours: plan.detours) { [weak self] in self?.observe($0, round: round) }
    }
}

extension Result where Success == ServiceResponse, Failure == RequestFailure {
    /// Whether the response reports that a server has executed a call with a side effect.
    fileprivate func isEffect(of configuration: APIConfiguration) -> Bool {
        guard case .success(let response) = self else { return false }
        return configuration.hasEffect && response.status < 400
    }
}
