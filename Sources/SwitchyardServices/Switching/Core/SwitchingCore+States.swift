extension SwitchingCore {
    /// Takes a server out of use until probes find it working.
    mutating func eject(_ position: Int, _ cause: SwitchCause, at time: Double) {
        let statistics = statistics(of: position, at: time)
        let ended = health[position].generation
        health[position].eject(generation: takeGeneration(), at: time, rules)
        health[position].dueAt =
            time + jittered(min(rules.policy.recovery.longestProbe.inSeconds, firstProbe(position)))
        emit(.ejected(steering.members[position].id, generation: ended, cause: cause), statistics)
        if steering.forced == position { endSteering(at: time) }
        updateCurrent(cause, at: time)
    }

    /// Makes a server healthy.
    mutating func recover(_ position: Int, at time: Double) {
        let outage = time - health[position].outageSince
        let statistics = statistics(of: position, at: time)
        health[position].recover(generation: takeGeneration(), at: time)
        emit(.recovered(steering.members[position].id, outage: .seconds(outage)), statistics)
        updateCurrent(.recovered, at: time)
    }

    /// The healthy servers.
    var healthy: ServerSet {
        var set = ServerSet()
        for position in health.indices where health[position].state == .healthy { set.insert(position) }
        return set
    }

    /// Gives a server a fresh start, its share included.
    mutating func startAfresh(_ position: Int, at time: Double) {
        let wasHealthy = health[position].state == .healthy
        health[position].recover(generation: wasHealthy ? health[position].generation : takeGeneration(), at: time)
        health[position].window.clear()
        health[position].admission = AdmissionShare()
    }

    func firstProbe(_ position: Int) -> Double {
        let doublings = Double(UInt64(1) &<< UInt64(max(1, health[position].ejections) - 1))
        return rules.policy.recovery.firstProbe.inSeconds * doublings
    }

    /// Varies a wait at random, so that the clients of a fleet do not come at the same moment.
    mutating func jittered(_ seconds: Double) -> Double {
        let jitter = rules.policy.recovery.jitter
        return seconds * (1 - jitter + 2 * jitter * random.unit())
    }

    func statistics(of position: Int, at time: Double) -> HealthStatistics {
        let server = health[position]
        let counts = server.window.counts(at: time, age: rules.window)
        return HealthStatistics(
            requests: counts.requests,
            failures: counts.failures,
            consecutiveFailures: Int(server.consecutiveFailures),
            score: server.score.value,
            share: server.admission.present(at: time, rules),
            lastFailure: server.lastFailure
        )
    }

    mutating func emit(_ kind: SwitchEvent.Kind, _ statistics: HealthStatistics = HealthStatistics()) {
        events.append(SwitchEvent(at: timeline.reading, kind, statistics: statistics))
    }

    /// Returns the events since the last call.
    mutating func takeEvents() -> [SwitchEvent] {
        guard !events.isEmpty else { return [] }
        defer { events = [] }
        return events
    }
}

extension SwitchingCore {
    /// Records whether the machine is known to be offline.
    ///
    /// While it is, nothing counts and the core's time is stopped. Unknown is not offline.
    ///
    /// - Parameters:
    ///   - isOffline: Whether it is.
    ///   - now: The time.
    package mutating func setOffline(_ isOffline: Bool, at now: MonotonicTime) {
        if isOffline {
            timeline.freeze(at: now)
        } else if timeline.isFrozen {
            timeline.thaw(at: now)
            pathChanged(at: now)
        }
    }

    /// Records that the machine's network path has changed, or that the app was suspended.
    ///
    /// Earlier attempts, and for a moment all others, say nothing about servers any more. Scores return to 0, and
    /// ejected servers are probed within a second.
    ///
    /// - Parameter now: The time.
    package mutating func pathChanged(at now: MonotonicTime) {
        let time = read(now)
        timeline.changePath(at: now, quietUntil: time + rules.policy.detection.quietAfterPathChange.inSeconds)
        endpoints.forgetFailures()
        for position in health.indices {
            health[position].score.clear()
            health[position].consecutiveFailures = 0
            health[position].lateness.reset()
            health[position].admission.clearDoubt()
            if health[position].state == .ejected {
                health[position].dueAt = min(health[position].dueAt, time + random.unit())
            }
        }
    }

    /// Records that the process was paused until `end`.
    ///
    /// The duration of an earlier attempt says nothing about its server, nor does its failure unless it is a response:
    /// during the pause the process neither read what the server sent nor responded.
    ///
    /// - Parameter end: The time at which the process continued; an earlier time than the last one changes nothing.
    package mutating func processResumed(at end: MonotonicTime) {
        timeline.resume(at: end)
    }

    /// Forgets all health for a change of environment, because the same names belong to other servers now.
    ///
    /// Attempts in flight say nothing about the new servers. A requested preference stays.
    ///
    /// - Parameter now: The time.
    /// - Returns: The events that followed.
    package mutating func reset(at now: MonotonicTime) -> [SwitchEvent] {
        let time = read(now)
        for position in health.indices {
            health[position] = ServerHealth(generation: takeGeneration(), at: time)
        }
        endpoints = EndpointTable()
        updateCurrent(.reset, at: time)
        return takeEvents()
    }

    /// Returns the current state of every server, in the order of the list.
    ///
    /// - Parameter now: The time.
    /// - Returns: One snapshot per server.
    package func snapshot(at now: MonotonicTime) -> [ServerSnapshot] {
        let time = timeline.time(at: now)
        return steering.members.indices.map { position in
            let server = health[position]
            return ServerSnapshot(
                id: steering.members[position].id,
                state: server.state,
                isCurrent: position == Int(steering.current),
                statistics: statistics(of: position, at: time),
                p50: server.latency.quantile(0.5).map { .seconds($0) },
                p99: server.latency.quantile(0.99).map { .seconds($0) },
                ejections: Int(server.ejections),
                nextProbe: server.state == .healthy ? nil : .seconds(max(0, server.dueAt - time))
            )
        }
    }

    /// Reads the time, and performs what is due.
    mutating func read(_ now: MonotonicTime) -> Double {
        let time = timeline.read(now)
        if steering.isCommanded { steer(at: time) }
        return time
    }
}
