extension SwitchingCore {
    /// How often in a row an endpoint has to be late on one server and quick on another; late at the same time is once.
    private static var latesInRow: UInt8 { 4 }

    /// Whether an answer came later than a hedge would have been sent.
    func isLate(_ latency: Double, of endpoint: UInt32, on position: Int) -> Bool {
        guard rules.policy.detection.lateness != nil, rules.policy.hedging != nil else { return false }
        return latency > usualWait(for: endpoint, on: position)
    }

    /// Takes note that a server was overtaken by another one: that counts when it is late clearly more often than the
    /// others, or an endpoint is late on it each time, and the other one was not slow as well.
    ///
    /// - Parameters:
    ///   - attempt: The attempt that was overtaken.
    ///   - position: Its server.
    ///   - winner: How the other attempt ended.
    ///   - weight: How much it counts.
    ///   - time: The time.
    mutating func recordOvertaken(
        _ attempt: Attempt,
        on position: Int,
        by winner: AttemptOutcome,
        weight: Double = 1,
        at time: Double
    ) {
        guard let rule = rules.policy.detection.lateness else {
            let failure = Failure(kind: .overtaken, endpoint: attempt.endpoint, isWitnessed: true)
            return recordFailure(position, failure, at: time)
        }
        health[position].age(to: time, rules)
        health[position].lastFailure = .overtaken
        let waited = max(0, attempt.startedAt.seconds(to: clock.reading))
        guard health[position].state != .ejected, isLate(waited, of: attempt.endpoint, on: position),
            isQuick(winner, of: attempt.endpoint)
        else { return }
        let began = time - waited
        let isAlways = isLateAgain(attempt.endpoint, on: position, began: began, at: time)
        if let step = rules.lateStep(others: lateShareOfOthers(than: position)) {
            health[position].lateness.noteOvertaken(
                by: weight * step,
                timelyStep: rules.timelyStep,
                began: began,
                before: attempt.timely,
                at: time,
                ceiling: 2 * rule.threshold
            )
        }
        guard isAlways || health[position].lateness.value >= rule.threshold, hasHealthyPeer(of: position),
            !sparesOverload(position, .overtaken, at: time), !isSwitchTooSoon(position, at: time)
        else { return }
        eject(position, health[position].state == .trial ? .trialFailed : .lateness, at: time)
    }

    /// Whether an endpoint has been late on a server several times in a row.
    private mutating func isLateAgain(_ endpoint: UInt32, on position: Int, began: Double, at time: Double) -> Bool {
        guard judgesEndpoints else { return false }
        return endpoints.noteLate(endpoint, on: position, began: began, at: time) >= Self.latesInRow
    }

    /// Whether an answer came as soon as most do, so that not everything was slow at the time.
    private func isQuick(_ outcome: AttemptOutcome, of endpoint: UInt32) -> Bool {
        guard case .success(let latency) = outcome else { return true }
        let usual = usualWait(for: endpoint, on: nil)
        return latency.inSeconds <= max(0.4 * rules.shortestHedge, usual > rules.shortestHedge ? usual : 0)
    }

    /// How often the answers of the best other server are late; 0 while nothing is known.
    private func lateShareOfOthers(than position: Int) -> Double {
        let others = health.indices.filter { $0 != position && health[$0].lateness.share.samples > 0 }
        return Double(others.map { health[$0].lateness.share.value }.min() ?? 0)
    }
}
