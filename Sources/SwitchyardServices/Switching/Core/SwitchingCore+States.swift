extension SwitchingCore {
    /// Takes a server out of use until probes find it working.
    mutating func eject(_ position: Int, _ cause: SwitchCause, at time: Double) {
        let statistics = statistics(of: position, at: time)
        let ended = health[position].generation
        health[position].eject(generation: takeGeneration(), at: time, rules)
        health[position].dueAt =
            time + jittered(min(rules.policy.recovery.longestProbe.inSeconds, firstProbe(position)))
        emit(.ejected(members[position].id, generation: ended, cause: cause), statistics)
        if steering?.forced == position { endSteering(at: time) }
        updateCurrent(cause, at: time)
    }

    /// Makes a server healthy.
    mutating func recover(_ position: Int, at time: Double) {
        let outage = time - health[position].outageSince
        let statistics = statistics(of: position, at: time)
        health[position].recover(generation: takeGeneration(), at: time)
        emit(.recovered(members[position].id, outage: .seconds(outage)), statistics)
        updateCurrent(.recovered, at: time)
    }

    /// Updates the preferred server, and reports a switch.
    mutating func updateCurrent(_ cause: SwitchCause, at time: Double) {
        let healthy = order.first { health[Int($0)].state == .healthy }
        guard let first = steering?.forced.map({ UInt8($0) }) ?? healthy, first != currentPosition else { return }
        let previous = Int(currentPosition)
        let figures = statistics(of: previous, at: time)
        moveTraffic(to: first, from: members[previous].id, cause, at: time, figures)
    }

    /// Makes a server the preferred one, and reports that.
    mutating func moveTraffic(
        to position: UInt8,
        from previous: Server.ID,
        _ cause: SwitchCause,
        at time: Double,
        _ figures: HealthStatistics = HealthStatistics()
    ) {
        currentPosition = position
        version &+= 1
        switchedAt = time
        if !rules.policy.failsBack { turnRing(to: position) }
        if rules.policy.detection.startsFreshWindow {
            health[Int(position)].window.clear()
            health[Int(position)].consecutiveFailures = 0
        }
        emit(.switched(from: previous, to: current, cause: cause), figures)
    }

    /// Turns the order of preference, as a ring, so that it begins with a server; one to be avoided stays the last.
    mutating func turnRing(to position: UInt8) {
        guard let start = baseOrder.firstIndex(of: position) else { return }
        order = Array(baseOrder[start...] + baseOrder[..<start])
        guard let command = steering?.command, command.mode == .avoid else { return }
        guard let avoided = order.firstIndex(where: { members[Int($0)].id == command.server }), avoided > 0 else {
            return
        }
        order.append(order.remove(at: avoided))
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
        events.append(SwitchEvent(at: clock.reading, kind, statistics: statistics))
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
            clock.freeze(at: now)
        } else if clock.isFrozen {
            clock.thaw(at: now)
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
        pathSince = now
        quietUntil = time + rules.policy.detection.quietAfterPathChange.inSeconds
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
        resumedAt = max(resumedAt, end)
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

    /// Replaces the list of servers; servers that stay, by name, keep their health.
    ///
    /// The order of preference is that of the new list; a pushed command in force stays in force. Attempts on removed
    /// servers say nothing any more.
    ///
    /// - Parameters:
    ///   - members: The new list.
    ///   - now: The time.
    /// - Returns: The events that followed.
    /// - Throws: The defect of the list, and then nothing has changed; for an empty list ``SwitchError/noServers``.
    package mutating func replace(_ members: [Member], at now: MonotonicTime) throws(SwitchError) -> [SwitchEvent] {
        try SwitchingCore.check(members)
        let time = read(now)
        let previous = current
        let forced = steering?.forced.map { self.members[$0].id }
        var known: [Server.ID: ServerHealth] = [:]
        for (member, health) in zip(self.members, health) { known[member.id] = health }
        health = members.map { known[$0.id] ?? ServerHealth(generation: takeGeneration(), at: time) }
        self.members = members
        endpoints.forgetFailures()  // Their servers may stand elsewhere in the list now.
        cursor = 0
        baseOrder = naturalOrder()
        order = baseOrder
        steering?.forced = members.firstIndex { $0.id == forced }
        if let command = steering?.command { order = steered(by: command) }
        reprefer(previous, at: time)
        return takeEvents()
    }

    /// Finds the current server in a new list, and reports a switch if the server is gone or no longer preferred.
    private mutating func reprefer(_ previous: Server.ID, at time: Double) {
        if let position = members.firstIndex(where: { $0.id == previous }) {
            currentPosition = UInt8(position)
            if !rules.policy.failsBack { turnRing(to: currentPosition) }
            return updateCurrent(.listReplaced, at: time)
        }
        let healthy = order.first { health[Int($0)].state == .healthy }
        moveTraffic(to: healthy ?? order[0], from: previous, .listReplaced, at: time)
    }

    /// Returns the current state of every server, in the order of the list.
    ///
    /// - Parameter now: The time.
    /// - Returns: One snapshot per server.
    package func snapshot(at now: MonotonicTime) -> [ServerSnapshot] {
        var clock = clock
        let time = clock.read(now)
        return members.indices.map { position in
            let server = health[position]
            return ServerSnapshot(
                id: members[position].id,
                state: server.state,
                isCurrent: position == Int(currentPosition),
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
        // Attempts that are made after a jump must not seem to be from before the change of path.
        if now < pathSince, clock.jumpsBack(to: now) { pathSince = now }
        if now < resumedAt, clock.jumpsBack(to: now) { resumedAt = now }
        let time = clock.read(now)
        if steering != nil || pendingPush != nil { steer(at: time) }
        return time
    }
}
