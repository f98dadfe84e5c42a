extension SwitchingCore {
    /// Takes the shadow probe that is due, if any.
    ///
    /// Call it whenever the client has traffic and an idempotent request to copy. One probe per server is in flight at
    /// a time; a probe that is never settled expires after a minute. Only servers that are preferred to the current one
    /// are probed, and any server if none is healthy or if the policy does not select by preference.
    ///
    /// A copy of a request to an endpoint that every server fails would find no server working, so it is skipped for up
    /// to 5 s while a better one may come.
    ///
    /// - Parameters:
    ///   - traits: The properties of the available request.
    ///   - now: The time.
    /// - Returns: The probe, which has to be passed to ``settleProbe(_:_:at:)``.
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
    ///   - now: The time.
    /// - Returns: The events that followed.
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
    /// It is twice the server's usual time, or that of the preferred server while its own is unknown, and at most a
    /// minute; zero while neither is known.
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

    /// Takes the warm-up of the first fallback, if it is due (``SwitchPolicy/warmUp``).
    ///
    /// Call it whenever the client has traffic and an idempotent request to copy. The warm-up says nothing about the
    /// server; its purpose is the connection that it opens.
    ///
    /// - Parameter now: The time.
    /// - Returns: The attempt, which may be passed to ``settleProbe(_:_:at:)`` like a probe.
    package mutating func takeWarmUp(at now: MonotonicTime) -> Attempt? {
        guard let gap = rules.policy.warmUp, rules.policy.selection == .priority else { return nil }
        let time = read(now)
        guard recovery.isWarmUpDue(every: gap.inSeconds, at: time, &random), !timeline.isFrozen,
            let fallback = firstFallback(at: time)
        else { return nil }
        recovery.planWarmUp(after: gap.inSeconds, at: time, &random)
        return attempt(Choice(position: fallback), .warmUp, at: now)
    }

    /// The server that would be next if the preferred one failed, and that has nothing to recover from.
    private func firstFallback(at time: Double) -> Int? {
        steering.order.lazy.map { Int($0) }.first { position in
            position != Int(steering.current) && recovery.state(of: position) == .healthy
                && admission.isClean(position, at: time)
        }
    }
}
