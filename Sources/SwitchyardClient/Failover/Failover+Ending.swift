import SwitchyardHTTP
import SwitchyardServices

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
        core.remove(self) { [ending] in
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
