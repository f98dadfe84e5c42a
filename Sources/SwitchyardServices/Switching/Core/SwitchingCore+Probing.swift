extension SwitchingCore {
    /// Begins the shadow probe that is due, if any.
    ///
    /// Call it whenever the client has traffic and an idempotent request that can be copied. One probe per server is in
    /// flight at a time, and a probe that is never settled expires after a minute. Only servers that are preferred to
    /// the current server are probed. If no server is healthy, or the policy does not select by preference, any ejected
    /// server is probed.
    ///
    /// If every server fails an endpoint, a copy of a request to that endpoint cannot show that a server works. Such a
    /// request is skipped for up to 5 s, because a more suitable request may come.
    ///
    /// - Parameters:
    ///   - traits: The properties of the request that can be copied.
    ///   - now: The current time.
    /// - Returns: The probe, which must be passed to ``settleProbe(_:_:at:)``, or `nil` if none is due.
    package mutating func takeProbe(for traits: RequestTraits = RequestTraits(), at now: MonotonicTime) -> Attempt? {
        let time = read(now)
        let due = evidence.isOdd(traits.endpoint) ? time - 5 : time
        guard !timeline.isFrozen, recovery.hasDueProbe(at: time, since: due) else { return nil }
        let goesByPreference = rules.policy.failsBack && rules.policy.selection == .priority
        let hasHealthy = !recovery.healthy.isEmpty
        for position in steering.order {
            if goesByPreference, hasHealthy, position == steering.current { return nil }
            guard recovery.isProbeDue(Int(position), at: time, since: due) else { continue }
            recovery.beginProbe(Int(position), at: time)
            return attempt(Choice(position: Int(position)), .probe, at: now)
        }
        return nil
    }

    /// Settles a shadow probe.
    ///
    /// A success that took longer than ``RecoveryRules/slownessFactor`` allows counts as a failure.
    ///
    /// - Parameters:
    ///   - probe: The probe.
    ///   - outcome: The outcome; a response with 4xx counts as a success.
    ///   - now: The current time.
    /// - Returns: The resulting events.
    package mutating func settleProbe(
        _ probe: Attempt,
        _ outcome: AttemptOutcome,
        at now: MonotonicTime
    ) -> [SwitchEvent] {
        let time = read(now)
        guard let position = recovery.position(of: probe), recovery.state(of: position) == .ejected else {
            return takeEvents()
        }
        recovery.endProbe(position)
        guard !timeline.isOutdated(probe, nil), !timeline.isFrozen else { return takeEvents() }
        switch outcome {
        case .success(let latency):
            let isSlow = evidence.isSlowProbe(latency.inSeconds, on: position)
            finishProbe(position, succeeded: !isSlow, at: time)
        case .answered: finishProbe(position, succeeded: true, at: time)
        case .failure: finishProbe(position, succeeded: false, at: time)
        case .unfinished, .neutral: break
        }
        return takeEvents()
    }

    /// Returns the time within which a working server responds to a probe.
    ///
    /// The time is twice the usual response time of the server. If that is unknown, it is twice the usual response time
    /// of the preferred server, and if both are unknown, zero. It is at most a minute.
    package func patience(with probe: Attempt) -> Duration {
        let known = recovery.position(of: probe).flatMap { evidence.servers[$0].latency.bulk }
        let usual = known ?? evidence.servers[Int(steering.current)].latency.bulk ?? 0
        return .seconds(min(Recovery.probeBudget, 2 * usual))
    }

    private mutating func finishProbe(_ position: Int, succeeded: Bool, at time: Double) {
        let id = steering.members[position].id
        emit(.probed(id, succeeded: succeeded), statistics(of: position, at: time))
        guard let wait = recovery.settleProbe(position, succeeded: succeeded, at: time, &random) else { return }
        evidence.beginTrial(position)
        emit(.trialStarted(id, after: .seconds(wait)))
    }

    /// Begins the warm-up request to the first fallback, if it is due (``SwitchPolicy/warmUp``).
    ///
    /// Call it whenever the client has traffic and an idempotent request that can be copied. The outcome of a warm-up
    /// is no evidence about the server; its purpose is to open a connection.
    ///
    /// - Parameter now: The current time.
    /// - Returns: The attempt, which may be passed to ``settleProbe(_:_:at:)`` like a probe, or `nil` if no warm-up is
    ///   due.
    package mutating func takeWarmUp(at now: MonotonicTime) -> Attempt? {
        guard let gap = rules.policy.warmUp, rules.policy.selection == .priority else { return nil }
        let time = read(now)
        guard recovery.isWarmUpDue(every: gap.inSeconds, at: time, &random), !timeline.isFrozen,
            let fallback = firstFallback(at: time)
        else { return nil }
        recovery.planWarmUp(after: gap.inSeconds, at: time, &random)
        return attempt(Choice(position: fallback), .warmUp, at: now)
    }

    /// Returns the server that would replace the preferred server: the next in order that is healthy and not recently
    /// overloaded.
    private func firstFallback(at time: Double) -> Int? {
        steering.order.lazy.map { Int($0) }.first { position in
            position != Int(steering.current) && recovery.state(of: position) == .healthy
                && admission.isClean(position, at: time)
        }
    }
}
