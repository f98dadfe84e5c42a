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

    /// Sees who is preferred now, and reports a switch.
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

    /// Hands over what has happened since the last time.
    mutating func takeEvents() -> [SwitchEvent] {
        guard !events.isEmpty else { return [] }
        defer { events = [] }
        return events
    }
}
