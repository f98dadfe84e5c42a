import Switchyard

// MARK: - Attempts

extension FleetSimulation {
    /// Starts a request, and a probe or warm-up if one is due.
    mutating func start(client: Int, at now: MonotonicTime) {
        tally.addRequest(at: now.seconds)
        let isShed = clients.cores[client].sheds(.normal, at: now)
        guard !isShed, let attempt = clients.cores[client].choose(at: now) else {
            tally.ended += 1
            return tally.addFailure("overloaded", ofRequestFrom: now.seconds)
        }
        let probe = clients.cores[client].takeProbe(at: now) ?? clients.cores[client].takeWarmUp(at: now)
        launch(attempt, of: enter(client, at: now), at: now)
        if let probe { launchProbe(probe, of: client, at: now) }
    }

    private mutating func enter(_ client: Int, at now: MonotonicTime) -> Int {
        let request = FleetRequest(
            client: UInt32(client),
            older: clients.newestRequest[client],
            startedAt: now
        )
        let place: Int
        if let free = freeRequests.popLast() {
            place = Int(free)
            requests[place] = request
        } else {
            place = requests.count
            requests.append(request)
            attempts.append(contentsOf: repeatElement(nil, count: FleetRequest.attempts))
        }
        clients.newestRequest[client] = UInt32(place)
        return place
    }

    private mutating func launch(_ attempt: Attempt, of request: Int, at now: MonotonicTime) {
        let client = Int(requests[request].client)
        let deadline = requests[request].deadline
        let (sent, endsAt) = send(attempt, of: client, until: deadline, at: now)
        let index = Int(requests[request].count)
        attempts[request * FleetRequest.attempts + index] = sent
        requests[request].count += 1
        requests[request].live += 1
        if let endsAt { schedule(.reply(request: request, attempt: index), of: request, at: endsAt) }
        let delay = clients.cores[client].hedgeDelay(for: attempt, remaining: now.duration(to: deadline))
        setTimer(of: request, at: min(deadline, delay.map(now.advanced(by:)) ?? deadline))
    }

    mutating func replyArrived(_ request: Int, _ index: Int, at now: MonotonicTime) {
        let place = request * FleetRequest.attempts + index
        guard !requests[request].hasEnded, let end = attempts[place]?.end else { return }
        attempts[place]?.isOver = true
        requests[request].live -= 1
        if let kind = end.failure {
            tryAnother(request, after: kind, at: now)
        } else {
            finish(request, winner: index, at: now)
        }
    }

    /// Sends the request to another server if the core allows it.
    ///
    /// Otherwise, the request waits for the failover budget, or it ends if no attempt is in progress.
    private mutating func tryAnother(
        _ request: Int,
        after kind: FailureKind?,
        heldSince: MonotonicTime? = nil,
        at now: MonotonicTime
    ) {
        let client = Int(requests[request].client)
        let tried = serversTried(by: request)
        if now < requests[request].deadline,
            let attempt = clients.cores[client].takeFailover(
                after: kind,
                excluding: tried,
                isPaidFor: isPaidFor(request),
                at: now
            )
        {
            return launch(attempt, of: request, at: now)
        }
        guard requests[request].live == 0 else { return }
        let since = heldSince ?? now
        let held = since.duration(to: now)
        if now < requests[request].deadline,
            let pause = clients.cores[client].failoverPause(after: kind, held: held, excluding: tried, at: now)
        {
            requests[request].held = FleetRequest.Held(kind: kind, since: since)
            return setTimer(of: request, at: min(requests[request].deadline, now.advanced(by: pause)))
        }
        finish(request, winner: nil, at: now)
    }

    private func isPaidFor(_ request: Int) -> Bool {
        (0..<Int(requests[request].count)).contains { index in
            attempts[request * FleetRequest.attempts + index]?.attempt.isPaid == true
        }
    }

    private func serversTried(by request: Int) -> ServerSet {
        var tried = ServerSet()
        for index in 0..<Int(requests[request].count) {
            if let sent = attempts[request * FleetRequest.attempts + index] { tried.insert(sent.attempt.server) }
        }
        return tried
    }
}

// MARK: - Timers

extension FleetSimulation {
    private mutating func setTimer(of request: Int, at time: MonotonicTime) {
        requests[request].timerAt = time
        schedule(.timer(request: request), of: request, at: time)
    }

    /// Handles the timer of a request: sends it to another server if it waits for the failover budget, sends a hedge (a
    /// second attempt while the first is slow), or ends the request at its deadline.
    ///
    /// A timer that was replaced is ignored.
    mutating func timerRang(_ request: Int, at now: MonotonicTime) {
        guard !requests[request].hasEnded, requests[request].timerAt == now else { return }
        if let held = requests[request].held {
            requests[request].held = nil
            return tryAnother(request, after: held.kind, heldSince: held.since, at: now)
        }
        let deadline = requests[request].deadline
        guard now < deadline else { return finish(request, winner: nil, at: now) }
        let client = Int(requests[request].client)
        let tried = serversTried(by: request)
        guard let slow = newestLive(of: request)?.attempt else { return setTimer(of: request, at: deadline) }
        if let attempt = clients.cores[client].takeHedge(beside: slow, excluding: tried, at: now) {
            return launch(attempt, of: request, at: now)
        }
        let pause = clients.cores[client].hedgePause(for: slow, excluding: tried, at: now)
        setTimer(of: request, at: pause.map { min(deadline, now.advanced(by: $0)) } ?? deadline)
    }
}

// MARK: - End of a request

extension FleetSimulation {
    private mutating func finish(_ request: Int, winner: Int?, at now: MonotonicTime) {
        requests[request].hasEnded = true
        let client = Int(requests[request].client)
        unlink(request, from: client)
        tally.addEnd(ofRequestFrom: requests[request].startedAt.seconds, at: now.seconds)
        if let winner {
            let server = attempts[request * FleetRequest.attempts + winner]?.attempt.server
            if server == 0, plan.scenario.hasTroubledServer, now.seconds >= plan.scenario.troubleEnd,
                clients.returnTimes[client].isNaN
            {
                clients.returnTimes[client] = Float(now.seconds - plan.scenario.troubleEnd)
            }
        } else {
            tally.addFailure(failure(of: request, at: now), ofRequestFrom: requests[request].startedAt.seconds)
        }
        cancelRest(of: request, at: now)
        publish(settle(request, winner: winner, at: now), of: client, at: now)
    }

    /// Returns the kind of failure of a request that ends without a response: `timeout` if the deadline has passed,
    /// otherwise the failure of its last attempt.
    private func failure(of request: Int, at now: MonotonicTime) -> String {
        let last = request * FleetRequest.attempts + Int(requests[request].count) - 1
        guard now < requests[request].deadline, let end = attempts[last]?.end else { return "timeout" }
        return end.word
    }

    /// Cancels the other attempts of a request at their servers.
    private mutating func cancelRest(of request: Int, at now: MonotonicTime) {
        guard requests[request].live > 0 else { return }
        for index in 0..<Int(requests[request].count) {
            guard let sent = attempts[request * FleetRequest.attempts + index], !sent.isOver else { continue }
            servers[sent.attempt.server].drop(cost: sent.cost, place: sent.place, at: now.seconds)
        }
    }

    /// Reports the outcome of every attempt to the core.
    ///
    /// An attempt in progress is reported as unfinished if another attempt won, otherwise as timed out.
    private mutating func settle(_ request: Int, winner: Int?, at now: MonotonicTime) -> [SwitchEvent] {
        let client = Int(requests[request].client)
        let first = request * FleetRequest.attempts
        let unfinished: AttemptOutcome = winner == nil ? .failure(.timeout) : .unfinished
        func outcome(_ sent: FleetAttempt) -> AttemptOutcome {
            sent.isOver ? sent.end.outcome(after: sent.attempt.startedAt.duration(to: now)) : unfinished
        }
        if requests[request].count == 1, let only = attempts[first] {
            return clients.cores[client].settle(only.attempt, outcome(only), at: now)
        }
        let sent = attempts[first..<first + Int(requests[request].count)].compactMap(\.self)
        let settled = sent.map { SettledAttempt($0.attempt, outcome($0)) }
        return clients.cores[client].settle(settled, at: now)
    }

    private mutating func unlink(_ request: Int, from client: Int) {
        let older = requests[request].older
        guard Int(clients.newestRequest[client]) != request else {
            clients.newestRequest[client] = older
            return
        }
        var current = Int(clients.newestRequest[client])
        while current != FleetClients.noRequest {
            let next = requests[current].older
            if Int(next) == request { requests[current].older = older }
            current = Int(next)
        }
    }

    /// Counts the switches in the events, and sends requests that wait for an ejected server (one taken out of use for
    /// a time) to other servers.
    mutating func publish(_ events: [SwitchEvent], of client: Int, at now: MonotonicTime) {
        for event in events {
            switch event.kind {
            case .switched(let from, let to, let cause):
                clients.switches[client] += 1
                let places = (FleetClients.servers.firstIndex(of: from), FleetClients.servers.firstIndex(of: to))
                tally.addSwitch(from: places.0, to: places.1, cause, at: now.seconds)
            case .ejected(let id, _, _):
                guard let server = FleetClients.servers.firstIndex(of: id) else { continue }
                evacuate(server, of: client, at: now)
            default: continue
            }
        }
    }

    private mutating func evacuate(_ server: Int, of client: Int, at now: MonotonicTime) {
        var current = clients.newestRequest[client]
        while current != FleetClients.noRequest {
            let request = Int(current)
            current = requests[request].older
            if newestLive(of: request)?.attempt.server == server { tryAnother(request, after: nil, at: now) }
        }
    }

    private func newestLive(of request: Int) -> FleetAttempt? {
        let first = request * FleetRequest.attempts
        return attempts[first..<first + Int(requests[request].count)].last { $0?.isOver == false } ?? nil
    }
}
