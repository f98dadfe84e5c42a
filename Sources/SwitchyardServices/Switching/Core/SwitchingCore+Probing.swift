extension SwitchingCore {
    /// Begins the probe that is due, if any.
    ///
    /// A probe is a shadow read: a copy of a read to an ejected server (one taken out of use for a time), whose
    /// response is discarded. Call this method whenever the client has traffic and an idempotent request that can be
    /// copied. One probe per server is in flight at a time, and a probe whose outcome is never reported expires after a
    /// minute. Only servers that are preferred to the current server are probed. If no server is healthy, or the policy
    /// does not select by preference, any ejected server is probed.
    ///
    /// If an endpoint fails on every server, a copy of a request to that endpoint cannot show that a server works. Such
    /// a request is skipped for up to 5 s, because a more suitable request may come.
    ///
    /// - Parameters:
    ///   - traits: The properties of the request that can be copied.
    ///   - now: The current time.
    /// - Returns: The probe, which must be passed to ``settleProbe(_:_:at:)``, or `nil` if none is due.
    package mutating func takeProbe(for traits: RequestTraits = RequestTraits(), at now: MonotonicTime) -> Attempt? {
        let time = read(now)
        guard recovery.hasEjected, !timeline.isFrozen else { return nil }
        let due = evidence.isOdd(traits.endpoint) ? time - 5 : time
        guard recovery.hasDueProbe(at: time, since: due) else { return nil }
        if steering.layout.hasRoles { tryServersWithoutReads(at: time) }
        let goesByPreference =
            rules.policy.failsBack && rules.policy.selection == .priority && steering.layout.groups.isEmpty
        let hasHealthy = !recovery.healthy.subtracting(traits.unsuitable).isEmpty
        let preferred = preferredPosition(without: traits.unsuitable)
        for position in steering.order.lazy.map({ Int($0) }) where !traits.unsuitable.contains(position) {
            if goesByPreference, hasHealthy, position == preferred { return nil }
            guard recovery.isProbeDue(position, at: time, since: due) else { continue }
            recovery.beginProbe(position, at: time)
            return attempt(Choice(position: position), .probe, at: now)
        }
        return nil
    }

    /// Whether a probe or a warm-up request may be due, so that the next request must check this.
    package mutating func mayProbe(at now: MonotonicTime) -> Bool {
        let time = read(now)
        if recovery.hasDueProbe(at: time, since: time) { return true }
        guard let gap = rules.warmUp, rules.policy.selection == .priority else { return false }
        return recovery.isWarmUpDue(every: gap, at: time, &random)
    }

    /// Begins the trials of the ejected servers that are due for a probe and serve no request that a probe can send.
    private mutating func tryServersWithoutReads(at time: Double) {
        for position in steering.members.indices
        where !steering.members[position].servesReads && recovery.isProbeDue(position, at: time, since: time) {
            recovery.beginTrial(position, at: time)
            evidence.beginTrial(position)
            inFlight?.clear(position)
            emit(.trialStarted(steering.members[position].id, after: .zero))
        }
    }

    /// Reports the outcome of a probe.
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
    package func timeLimit(of probe: Attempt) -> Duration {
        let known = recovery.position(of: probe).flatMap { evidence.servers[$0].latency.bulk }
        let usual = known ?? evidence.servers[Int(steering.current)].latency.bulk ?? 0
        return .seconds(min(Recovery.probeBudget, 2 * usual))
    }

    private mutating func finishProbe(_ position: Int, succeeded: Bool, at time: Double) {
        let id = steering.members[position].id
        emit(.probed(id, succeeded: succeeded), statistics(of: position, at: time))
        guard let wait = recovery.settleProbe(position, succeeded: succeeded, at: time, &random) else { return }
        evidence.beginTrial(position)
        inFlight?.clear(position)
        emit(.trialStarted(id, after: .seconds(wait)))
    }

    /// Begins the warm-up request to the first fallback, if it is due (``SwitchPolicy/warmUp``).
    ///
    /// A warm-up request is a copy of a read whose response is discarded. The warm-up request opens a connection. Its
    /// outcome is no evidence about the server. Call this method whenever the client has traffic and an idempotent
    /// request that can be copied.
    ///
    /// - Parameters:
    ///   - traits: The properties of the request that can be copied.
    ///   - now: The current time.
    /// - Returns: The attempt, which may be passed to ``settleProbe(_:_:at:)`` like a probe, or `nil` if no warm-up
    ///   request is due.
    package mutating func takeWarmUp(
        for traits: RequestTraits = RequestTraits(),
        at now: MonotonicTime
    ) -> Attempt? {
        guard let gap = rules.warmUp, rules.policy.selection == .priority else { return nil }
        let time = read(now)
        guard recovery.isWarmUpDue(every: gap, at: time, &random), !timeline.isFrozen,
            let fallback = firstFallback(without: traits.unsuitable, at: time)
        else { return nil }
        recovery.planWarmUp(after: gap, at: time, &random)
        return attempt(Choice(position: fallback), .warmUp, at: now)
    }

    /// Returns the server that would replace the preferred server: the next in order that is healthy and not recently
    /// overloaded.
    ///
    /// The servers that share the traffic of the preferred server need no warm-up.
    private func firstFallback(without unsuitable: ServerSet, at time: Double) -> Int? {
        let preferred = preferredPosition(without: unsuitable)
        let group = steering.layout.groups.first { $0.contains(preferred) } ?? []
        return steering.order.lazy.map { Int($0) }.first { position in
            position != preferred && !unsuitable.contains(position) && !group.contains(position)
                && recovery.state(of: position) == .healthy && admission.isClean(position, at: time)
        }
    }
}
