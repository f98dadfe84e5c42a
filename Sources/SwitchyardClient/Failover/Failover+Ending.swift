import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTransport

// MARK: - End of the request

extension Failover {
    /// Ends the request, or does nothing if the request has ended.
    func end(with result: Result<HTTPResponse, RequestFailure.Reason>) {
        if let ending = state.withLock({ $0.end(with: result) }) { finish(ending, at: core.now) }
    }

    /// Performs the effects of the end: cancels attempts, reports the outcomes of the servers, and calls the
    /// completion.
    ///
    /// This method runs once and without a lock, because the state returns its ending only once.
    func finish(_ ending: FailoverState.Ending, at now: MonotonicTime) {
        ending.timer?.cancel()
        if ending.isAttemptInFlight {
            complete(ending.cancellingAttempts(), at: now)
        } else {
            complete(ending, at: now)
        }
        core.finish(self)
    }

    private func complete(_ ending: FailoverState.Ending, at now: MonotonicTime) {
        let events = settle(ending, at: now)
        if !events.isEmpty { core.publish(events, from: pool) }
        let hasEffect = configuration.hasEffect
        let context = context(of: ending, hasEffect: hasEffect, at: now)
        if hasEffect { core.pathCounters(in: pool).recordWrite(configuration, ending.result, context.value) }
        switch ending.result {
        case .success(let response):
            completion(.success(ServiceResponse(id: id, response: response, sharedContext: context)))
        case .failure(let reason):
            completion(.failure(RequestFailure(reason, id: id, sharedContext: context)))
        }
    }

    /// Reports the outcome of every attempt to the pool, once.
    ///
    /// The outcome of an attempt that is still in flight depends on the reason why the request ended.
    private func settle(_ ending: FailoverState.Ending, at now: MonotonicTime) -> [SwitchEvent] {
        if ending.attempts.count == 1, let attempt = ending.attempts[0].route.attempt {
            let outcome = ending.attempts[0].outcome ?? outcome(of: 0, in: ending, at: now)
            return pool.settle(attempt, outcome, resumedAt: core.clock.resumedAt, at: now)
        }
        let settled = ending.attempts.indices.compactMap { index in
            ending.attempts[index].route.attempt.map { attempt in
                let outcome = ending.attempts[index].outcome ?? outcome(of: index, in: ending, at: now)
                return SettledAttempt(attempt, outcome)
            }
        }
        return settled.isEmpty ? [] : pool.settle(settled, resumedAt: core.clock.resumedAt, at: now)
    }

    /// Returns the outcome of an attempt in flight, which counts for or against its server.
    ///
    /// The outcome does not count against a server that got the request too shortly before the deadline.
    private func outcome(of index: Int, in ending: FailoverState.Ending, at now: MonotonicTime) -> AttemptOutcome {
        guard ending.isOverdue, let attempt = ending.attempts[index].route.attempt else {
            return ending.outcome(of: index)
        }
        let wait = ending.attempts[index].startedAt.seconds(to: now)
        return pool.usuallyTakesLonger(than: wait, on: attempt) ? ending.withoutResponse : ending.outcome(of: index)
    }

    private func context(
        of ending: FailoverState.Ending,
        hasEffect: Bool,
        at now: MonotonicTime
    ) -> CopyOnWrite<RequestContext> {
        // The attempts are read in place, because copying an attempt would retain everything that it references.
        let decisive = ending.decisive
        let method = ending.changedMethod ?? configuration.sentMethod
        let hasEffect = hasEffect || !method.isSafe
        // The context is created in place, because a copy would retain everything that it references.
        return CopyOnWrite(
            RequestContext(
                service: pool.service,
                environment: pool.environment,
                method: method,
                server: decisive.flatMap { ending.attempts[$0].route.server },
                url: decisive.map { ending.attempts[$0].url },
                attempts: ending.attempts.count,
                elapsed: startedAt.duration(to: now),
                redirects: decisive.flatMap { ending.attempts[$0].trail?.value.steps } ?? [],
                mayHaveBeenExecuted: hasEffect && ending.mayHaveBeenExecuted,
                origin: RequestContext.Origin(
                    attempt: decisive.flatMap { ending.attempts[$0].chargeable },
                    isForeign: isForeign(ending, decisive),
                    path: decisive == nil ? configuration.place : nil,
                    fate: hasEffect ? ending.fate : .unsent,
                    history: history(of: ending, at: now)
                )
            )
        )
    }

    /// Whether the result is a 401 from a host that the credential is not for.
    private func isForeign(_ ending: FailoverState.Ending, _ decisive: Int?) -> Bool {
        guard case .success(let response) = ending.result, response.status == 401, let decisive else { return false }
        return !ending.attempts[decisive].isHome(configuration.authorization)
    }
}

// MARK: - Story of the request

extension Failover {
    /// Returns the reason for an attempt.
    func kind(ofAttempt index: Int, on route: ServerPool.Route) -> CallAttempt.Kind {
        if index == 0 { return firstKind }
        return route.attempt?.role == .hedge ? .hedge : .failover
    }

    /// Returns the attempts of the request, in order.
    func history(of ending: FailoverState.Ending, at now: MonotonicTime) -> AttemptHistory {
        if ending.attempts.isEmpty { return .none }
        guard ending.attempts.count == 1, ending.obstacle == nil, let end = ending.attempts[0].end,
            case .response(let status, nil) = end.ending
        else { return .many(ending.attempts.indices.map { attempt($0, of: ending, at: now) }) }
        return .single(
            AttemptHistory.Single(
                server: ending.attempts[0].route.server,
                kind: firstKind,
                start: dispatchedAt.duration(to: ending.attempts[0].startedAt),
                duration: ending.attempts[0].startedAt.duration(to: end.time),
                status: status
            )
        )
    }

    private func attempt(_ index: Int, of ending: FailoverState.Ending, at now: MonotonicTime) -> CallAttempt {
        // The attempt is read in place, because a copy would retain everything that it references.
        let (startedAt, end) = (ending.attempts[index].startedAt, ending.attempts[index].end)
        let next = index + 1
        return CallAttempt(
            server: ending.attempts[index].route.server,
            kind: kind(ofAttempt: index, on: ending.attempts[index].route),
            start: dispatchedAt.duration(to: startedAt),
            duration: startedAt.duration(to: end?.time ?? now),
            ending: end?.ending ?? .cancelled,
            next: next < ending.attempts.count
                ? .attempt(kind(ofAttempt: next, on: ending.attempts[next].route))
                : ending.obstacle.map(CallAttempt.Next.stopped)
        )
    }
}

extension FailoverState {
    /// The result of a request that has ended, and everything that is needed to report the end and to stop the attempts
    /// and the timer.
    ///
    /// ``FailoverState`` returns it only once.
    struct Ending {
        var result: Result<HTTPResponse, RequestFailure.Reason>
        var winner: Int?
        /// The method that was sent, if it is unsafe and a modifier has changed it.
        var changedMethod: HTTPMethod?
        /// The index of the attempt whose result the request ends with if no attempt succeeded, or `nil` if there is
        /// none.
        var decisiveCandidate: Int?
        var attempts: ContiguousArray<Attempt> = []
        var timer: (any ScheduledTimer)?
        /// Whether the request ended at the deadline without a response as its result.
        var isOverdue = false
        /// Whether an attempt has not ended yet.
        var isAttemptInFlight = false
        /// Whether a server may have executed the request in an attempt that has ended, although no response confirms
        /// it.
        var mayHaveBeenExecuted = false
        /// The fate of the request in all attempts: whether a server may have executed it.
        var fate = RequestFate.unsent
        /// The guard that stopped the failover of the last attempt, or `nil` if no failover was stopped.
        var obstacle: FailoverGuard?

        /// The index of the attempt that determines the result, or `nil` if there was no attempt.
        var decisive: Int? { winner ?? decisiveCandidate ?? attempts.indices.last }

        /// Cancels the transfers of the attempts that have no response yet, and returns the ending that follows.
        func cancellingAttempts() -> Ending {
            var ending = self
            ending.cancelAttemptsWithoutResponse()
            return ending
        }

        private mutating func cancelAttemptsWithoutResponse() {
            for index in attempts.indices where attempts[index].outcome == nil {
                // If the request ended with another attempt's response, the end of this attempt is not reported to
                // observers.
                if case .failure = result, let watched = attempts[index].task as? MonitoredAttempt {
                    watched.tell(.failure(TransportError(.cancelled, message: "the request has ended")))
                }
                // An attempt that was redirected has reached a server, even if its present transfer is unsent. While an
                // attempt is being passed to its transport, it has no `task` yet and may still be sent.
                let isUnsent = attempts[index].task?.withdraw() ?? false
                guard !isUnsent || attempts[index].hops > 0 else { continue }
                (mayHaveBeenExecuted, fate) = (true, .open)
            }
        }

        /// Returns the outcome of an attempt in flight that counts for or against its server.
        ///
        /// The attempt is in flight because another server responded first, the deadline passed, or the caller ended
        /// the request. The outcome does not count against the server if the caller ended the request or if the attempt
        /// was redirected to a host outside the service.
        func outcome(of index: Int) -> AttemptOutcome {
            if attempts[index].isOutsideService { return .neutral }
            if isOverdue { return .failure(.timeout) }
            return if case .success = result { .unfinished } else { withoutResponse }
        }

        /// The outcome of an attempt that ended before its server could be expected to respond.
        ///
        /// It is neutral if another attempt ended the request with a failure. Otherwise, it is unfinished: the server
        /// may still be working on the request, and the budget does not get back what the attempt cost.
        var withoutResponse: AttemptOutcome { winner == nil ? .unfinished : .neutral }
    }
}
