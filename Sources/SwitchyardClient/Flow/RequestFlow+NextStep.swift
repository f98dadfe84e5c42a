import SwitchyardHTTP
import SwitchyardServices

extension RequestFlow {
    /// The step that follows a round (one try at the request with its failovers and hedges).
    enum NextStep {
        /// The flow ends with this result.
        case end(Result<HTTPResponse, RequestFailure.Reason>)
        /// Another round follows after a pause.
        ///
        /// `isReauthorized` is `true` if the round follows because of a 401. In this case, the round does not count as
        /// a retry.
        case again(after: Duration, isReauthorized: Bool = false)
    }

    /// Determines what follows a round: the end of the flow, or another round.
    ///
    /// The credentials decide first, then the interceptors, then the retry policy.
    func nextStep(
        of passed: PassedRound,
        _ memory: inout RequestFlowMemory
    ) async throws(RequestFailure.Reason) -> NextStep {
        var round = passed.ended
        if case .failure(let failure) = round.result, failure.reason.isFinal { throw failure.reason }
        do throws(RequestFailure.Reason) {
            if try await refreshesCredential(after: passed, &memory) {
                return .again(after: .zero, isReauthorized: true)
            }
        } catch {
            guard error.refreshFailure != nil, case .success(let refusal) = round.result else { throw error }
            try checkRunning()
            refusal.discardBody()
            var context = refusal.context
            // A request that got a 401 was not executed and may be sent again with a credential.
            if context.fate == .refused { context.fate = .unsent }
            round.result = .failure(RequestFailure(error, id: id, context: context))
        }
        for retrier in plan.retriers {
            let decision: RetryDecision
            do {
                decision = try await retrier.part(round)
            } catch {
                throw RequestFailure.Reason(thrown: error, by: retrier.name, insteadOf: round.failure)
            }
            try checkRunning()
            switch decision {
            case .undecided: continue
            case .accept: return finished(round, memory)
            case .answer(let response): return .end(.success(response))
            case .fail(let error):
                throw RequestFailure.Reason(thrown: error, by: retrier.name, insteadOf: round.failure)
            case .retry(let pause):
                guard round.isSafeToRepeat, pause < round.context.remaining else { return finished(round, memory) }
                return .again(after: pause)
            }
        }
        return await policyStep(of: round, &memory)
    }

    private func policyStep(of round: RoundResult, _ memory: inout RequestFlowMemory) async -> NextStep {
        guard let policy = plan.retry,
            case .retry(let pause) = policy.decision(for: round, random: memory.random.unit())
        else { return finished(round, memory) }
        let wait = round.isOffline ? policy.networkWait : nil
        guard wait != nil || pause < round.context.remaining else { return finished(round, memory) }
        if let budget = policy.budget {
            guard let tokens = budget.take(after: round.transportError) else { return .end(round.ending) }
            memory.tokens = tokens
            memory.unspentTokens = tokens
        }
        guard let wait else { return .again(after: pause) }
        let limit = min(awaitedUntil, core.now.advanced(by: wait))
        let isBack = await core.connectivity.wait(since: memory.openings, until: limit, on: core.time)
        if !isBack { giveBackTokens(&memory) }
        return isBack ? .again(after: .zero) : .end(round.ending)
    }

    /// Gives the tokens of a retry back to the retry budget, because the retry was not sent.
    func giveBackTokens(_ memory: inout RequestFlowMemory) {
        if let tokens = memory.unspentTokens { plan.retry?.budget?.refund(tokens) }
        memory.unspentTokens = nil
    }

    /// Ends the flow with the result of the round.
    ///
    /// After a success, the tokens of the last retry are given back to the retry budget.
    private func finished(_ round: RoundResult, _ memory: RequestFlowMemory) -> NextStep {
        if let budget = plan.retry?.budget, let status = round.status, status < 400 { budget.refund(memory.tokens) }
        return .end(round.ending)
    }
}

// MARK: - Credentials

extension RequestFlow {
    /// Gets a credential for the round and adds it to every request that the round builds.
    func authorize(
        _ configuration: inout APIConfiguration,
        after memory: RequestFlowMemory
    ) async throws(RequestFailure.Reason) -> CredentialLease? {
        let trials = memory.digests
        if let credential = plan.credential {
            configuration.authorization = authorization(with: credential, after: trials)
            return CredentialLease(credential: credential, version: 0, takenAt: 0)
        }
        guard let credentials = plan.credentials else { return nil }
        let lease = try await lease(from: credentials, for: configuration, without: memory.isSentWithoutCredential)
        configuration.authorization = lease.credential.map { authorization(with: $0, after: trials) }
        return lease
    }

    /// Returns a credential of the call's user.
    ///
    /// Throws if the credential belongs to another user.
    private func lease(
        from credentials: Credentials,
        for configuration: APIConfiguration,
        without goesWithout: Bool
    ) async throws(RequestFailure.Reason) -> CredentialLease {
        do throws(CredentialError) {
            let lease =
                if goesWithout {
                    credentials.leaseOfNothing(in: environment)
                } else {
                    try await credentials.lease(for: self, mayGoWithout: configuration.mayGoWithout(credentials))
                }
            guard let login = lease.login, let owner = callOwner else { return lease }
            owner.adopt(login)
            if owner.refusal(seeing: login) != nil { throw .loggedOut }
            return lease
        } catch {
            guard error == .loggedOut, let owner = callOwner, let reason = owner.refusal else {
                throw .credentials(error)
            }
            guard configuration.outlivesLogout, let kept = owner.credential else { throw reason }
            // The user has logged out. The call outlives the logout and is sent with the user's last credential, which
            // is not refreshed any more.
            return CredentialLease(credential: kept, version: 0, takenAt: 0)
        }
    }

    /// Whether another round follows a 401: with another credential, without a credential, or with a reply to a
    /// challenge.
    private func refreshesCredential(
        after passed: PassedRound,
        _ memory: inout RequestFlowMemory
    ) async throws(RequestFailure.Reason) -> Bool {
        guard let lease = passed.lease, case .success(let answer) = passed.ended.result else { return false }
        guard answer.status == 401 else {
            keepNextNonce(of: answer, with: lease.credential, &memory)
            return false
        }
        guard !answer.context.isForeign, passed.ended.mayRespondToChallenge else { return false }
        do throws(CredentialError) {
            if try respondsToDigest(answer, with: lease.credential, &memory) { return true }
            guard let credentials = plan.credentials, callOwner?.refusal == nil else { return false }
            let verdict = try await credentials.answer(
                answer.headers,
                to: lease,
                for: self,
                mayRefresh: memory.refreshes,
                mayGoWithout: passed.ended.configuration.mayGoWithout(credentials)
            )
            switch verdict {
            case .none: return false
            case .replaced: return true
            case .refreshed: memory.refreshes += 1
            case .without:
                memory.refreshes += 1
                memory.isSentWithoutCredential = true
            }
            return true
        } catch {
            guard error == .loggedOut, let reason = callOwner?.refusal else { throw .credentials(error) }
            if configuration.outlivesLogout { return false }
            throw reason
        }
    }
}

extension APIConfiguration {
    /// Whether the call may be sent without a credential if no credential can be obtained.
    fileprivate func mayGoWithout(_ credentials: Credentials) -> Bool {
        allowsAnonymous ?? credentials.policy.allowsAnonymous
    }
}

extension RoundResult {
    /// Whether this machine had no network route to the server, or to the server that refreshes credentials.
    fileprivate var isOffline: Bool {
        (transportError ?? failure?.reason.refreshFailure?.transportError)?.kind == .offline
    }

    /// The failure of the round, or `nil` if there is a response.
    fileprivate var failure: RequestFailure? {
        if case .failure(let failure) = result { failure } else { nil }
    }

    /// Whether the request may be sent again after a 401.
    ///
    /// Resending is not allowed if a server has already executed the request. A server that redirects a write request
    /// to the location of its result has executed it.
    fileprivate var mayRespondToChallenge: Bool { resendRule.allowsResend(afterChallengeWith: fate) }

    /// The result of the round as the result of a ``RequestFlow``.
    var ending: Result<HTTPResponse, RequestFailure.Reason> {
        switch result {
        case .success(let answer): .success(answer.response)
        case .failure(let failure): .failure(failure.reason)
        }
    }
}

extension RequestFailure.Reason {
    /// Whether a ``RequestFlow`` ends for this reason without asking interceptors or the retry policy.
    fileprivate var isFinal: Bool {
        switch self {
        case .cancelled, .deadlineExceeded, .closed: true
        default: false
        }
    }
}
