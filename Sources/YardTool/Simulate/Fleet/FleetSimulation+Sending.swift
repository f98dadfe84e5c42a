import Switchyard

extension FleetSimulation {
    /// Sends an attempt or a probe to its server.
    ///
    /// Returns the time at which the client receives the result, or `nil` if the client never receives one.
    mutating func send(
        _ attempt: Attempt,
        of client: Int,
        until deadline: MonotonicTime,
        at now: MonotonicTime
    ) -> (sent: FleetAttempt, endsAt: MonotonicTime?) {
        let server = attempt.server
        var sent = FleetAttempt(attempt: attempt, client: UInt32(client), end: .silent, cost: 0, place: 0)
        tally.attempts += 1
        if clients.isCutOff(client), plan.scenario.trouble.contains(now.seconds) { return (sent, nil) }
        sent.cost = clients.isConnected(client, to: server) ? 1 : FleetPlan.connectionCost
        tally.addLoad(sent.cost, to: server, at: now.seconds)
        let (reply, place) = servers[server].take(cost: sent.cost, at: now.seconds, until: deadline.seconds)
        sent.place = place
        if let endsAt = take(reply, of: client, on: server, into: &sent) {
            let time = MonotonicTime(seconds: endsAt)
            if time < deadline { return (sent, time) }
            sent.end = .silent
        }
        return (sent, nil)
    }

    private mutating func take(
        _ reply: SimulatedServer.Reply,
        of client: Int,
        on server: Int,
        into sent: inout FleetAttempt
    ) -> Double? {
        switch reply {
        case .answer(let time):
            clients.connect(client, to: server)
            sent.end = .answered
            return time
        case .rejection(let time):
            sent.end = .rejected
            return time
        case .refusal(let time):
            sent.end = .refused
            return time
        case .reset(let time):
            sent.end = .reset
            return time
        case .silence:
            return nil
        }
    }
}

// MARK: - Probes

extension FleetSimulation {
    /// Sends a probe to an ejected server: a copy of the client's request whose response is discarded.
    mutating func launchProbe(_ attempt: Attempt, of client: Int, at now: MonotonicTime) {
        let limit = now.advanced(by: FleetPlan.probeLimit)
        let (sent, endsAt) = send(attempt, of: client, until: limit, at: now)
        let place: Int
        if let free = freeProbes.popLast() {
            place = Int(free)
            probes[place] = sent
        } else {
            place = probes.count
            probes.append(sent)
        }
        queue.insert(Occurrence.probeReply(place).code, at: endsAt ?? limit)
    }

    mutating func probeEnded(_ place: Int, at now: MonotonicTime) {
        guard let probe = probes[place] else { return }
        probes[place] = nil
        freeProbes.append(UInt32(place))
        if probe.end == .silent {
            servers[probe.attempt.server].drop(cost: probe.cost, place: probe.place, at: now.seconds)
        }
        let outcome = probe.end.outcome(after: probe.attempt.startedAt.duration(to: now))
        publish(
            clients.cores[Int(probe.client)].settleProbe(probe.attempt, outcome, at: now),
            of: Int(probe.client),
            at: now
        )
    }
}
