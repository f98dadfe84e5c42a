import SwitchyardServices

extension Failover {
    /// Returns the reason for an attempt.
    func kind(ofAttempt index: Int, on route: ServerPool.Route) -> CallAttempt.Kind {
        if index == 0 { return firstKind }
        return route.attempt?.role == .hedge ? .hedge : .failover
    }

    /// Returns the attempts of the request, in order.
    func history(of ending: FailoverState.Ending, at now: MonotonicTime) -> AttemptHistory {
        switch ending.attempts.count {
        case 0: .none
        case 1: .one(attempt(0, of: ending, at: now))
        default: .many(ending.attempts.indices.map { attempt($0, of: ending, at: now) })
        }
    }

    private func attempt(_ index: Int, of ending: FailoverState.Ending, at now: MonotonicTime) -> CallAttempt {
        // The attempt is read in place, because a copy would retain everything that it references.
        let (startedAt, end) = (ending.attempts[index].startedAt, ending.attempts[index].end)
        return CallAttempt(
            server: ending.attempts[index].route.server,
            kind: kind(ofAttempt: index, on: ending.attempts[index].route),
            start: dispatchedAt.duration(to: startedAt),
            duration: startedAt.duration(to: end?.time ?? now),
            ending: end?.ending ?? .cancelled,
            next: next(after: index, of: ending)
        )
    }

    private func next(after index: Int, of ending: FailoverState.Ending) -> CallAttempt.Next? {
        let next = index + 1
        guard next < ending.attempts.count else { return ending.obstacle.map(CallAttempt.Next.stopped) }
        return .attempt(kind(ofAttempt: next, on: ending.attempts[next].route))
    }
}
