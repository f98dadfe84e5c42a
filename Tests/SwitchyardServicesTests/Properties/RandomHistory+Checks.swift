@testable import SwitchyardServices

extension RandomHistory {
    /// The state of a server that evidence may change.
    private struct Mark: Equatable {
        var state: ServerSnapshot.State
        var generation: UInt32
        var score: Double
        var ejections: UInt8

        static func == (left: Mark, right: Mark) -> Bool {
            left.generation == right.generation && left.score == right.score && left.state == right.state
                && left.ejections == right.ejections
        }
    }

    private var marks: [Mark] {
        zip(core.recovery.servers, core.evidence.servers).map {
            Mark(state: $0.state, generation: $0.generation, score: $1.score.value, ejections: $0.ejections)
        }
    }

    /// Settles a request and checks that it changes only the permitted state.
    mutating func check(_ settled: [SettledAttempt]) throws {
        let before = marks
        var owners = ServerSet()
        var isNeutral = true
        var hasFailure = false
        for one in settled {
            if let owner = core.recovery.position(of: one.attempt) { owners.insert(owner) }
            if one.outcome != .neutral { isNeutral = false }
            if one.outcome == .unfinished { hasFailure = true }
            if case .failure = one.outcome { hasFailure = true }
        }
        let provenAt = core.evidence.provenAt
        let followed = core.settle(settled, at: now)
        if !followed.isEmpty {
            note(followed)
            let hasEjected = followed.contains { if case .ejected = $0.kind { true } else { false } }
            try require(hasFailure || !hasEjected, "I3")
            if hasEjected { try checkEjection(settled, followed, provenAt: provenAt) }
        }
        let after = marks
        var position = 0
        while position < before.count {
            let isUntouched = before[position] == after[position]
            try require(isUntouched || owners.contains(position), owners.isEmpty ? "I5" : "I6")
            try require(isUntouched || !isNeutral, "I14")
            position += 1
        }
    }

    /// Settles suspicion probes and checks that they change only the permitted state.
    mutating func check(_ probe: SuspicionProbe, _ suspect: AttemptOutcome, _ peer: AttemptOutcome) throws {
        let before = marks
        let owner = core.recovery.position(of: probe.suspect)
        let isBlind = core.timeline.isFrozen
        note(core.settleSuspicion(probe, suspect: suspect, peer: peer, at: now))
        for (position, mark) in marks.enumerated() where mark != before[position] {
            try require(position == owner, owner == nil ? "I5" : "I6")
            try require(suspect != .neutral && (!isBlind || suspect.isAnswer), "I14")
        }
        if let owner { try require(!core.evidence.servers[owner].isSuspected, "I11") }
    }

    private func checkEjection(_ settled: [SettledAttempt], _ followed: [SwitchEvent], provenAt: Double) throws {
        let hasAnswer = settled.contains {
            if case .failure(let kind, _) = $0.outcome { kind.isAnswer } else { $0.outcome.isAnswer }
        }
        let isRecent = now.seconds - provenAt <= 2 || commands > 0
        try require(hasAnswer || isRecent || core.policy.detection.countsUnproven, "I4")
        let isTrial = followed.contains {
            if case .ejected(_, _, .trialFailed) = $0.kind { true } else { false }
        }
        try require(isTrial || core.recovery.servers.contains { $0.state == .healthy }, "I4")
    }

    func checkProbe(_ probe: Attempt) throws {
        let server = core.recovery.servers[probe.server]
        try require(server.state == .ejected && server.generation == probe.generation, "I7")
        let isUnderWay = probes.contains {
            $0.generation == probe.generation && $0.startedAt.duration(to: now) < .seconds(60)
        }
        try require(!isUnderWay, "I7")
        let hasHealthy = core.recovery.servers.contains { $0.state == .healthy }
        if core.policy.failsBack, core.policy.selection == .priority, hasHealthy {
            let place = core.steering.order.firstIndex(of: UInt8(probe.server)) ?? 0
            let current = core.steering.order.firstIndex(of: core.steering.current) ?? 0
            try require(place < current, "I7")
        }
        if let earliest = nextProbe[core.serverIDs[probe.server]] { try require(now >= earliest, "I7") }
    }

    func checkBounds() throws {
        let policy = core.policy
        try require((0...core.extras.failoverCapacity).contains(core.extras.failovers.tokens), "I8")
        try require((0...core.extras.hedgeCapacity).contains(core.extras.hedges.tokens), "I8")
        let floor = policy.admission?.floor ?? 1
        let timeline = core.timeline
        let time = timeline.time(at: now)
        for (position, server) in core.recovery.servers.enumerated() {
            let evidence = core.evidence.servers[position]
            let share = core.admission.lastShare(of: position)
            try require(server.state != .trial || !evidence.isSuspected || !suspicions.isEmpty, "I11")
            try require(core.admission.share(of: position, at: time) >= floor, "I8")
            try require(evidence.score.value >= 0, "I8")
            try require(evidence.score.value <= 2 * (policy.detection.score?.threshold ?? 0), "I8")
            try require(share >= floor && share <= 1, "I8")
            try require(server.ejections <= 8, "I8")
        }
    }

    /// Checks that the order is a permutation, and that the preferred server is the first usable one.
    func checkOrder() throws {
        let positions = core.steering.members.indices.map { UInt8($0) }
        try require(core.steering.order.sorted() == positions && core.steering.baseOrder.sorted() == positions, "order")
        guard core.steering.forced == nil else { return }
        let first = core.steering.order.first { core.recovery.servers[Int($0)].state == .healthy }
        try require(first == nil || first == core.steering.current, "order")
        let isRing = core.steering.order == core.steering.baseOrder.rotated(to: core.steering.current)
        try require(core.policy.failsBack || core.steering.hasCommand || isRing, "order")
    }

    /// Settles everything that is pending and checks the whole history.
    mutating func finish() throws {
        core.setOffline(false, at: now)
        for probe in suspicions { try check(probe, .neutral, .neutral) }
        suspicions = []
        try require(core.evidence.servers.allSatisfy { !$0.isSuspected }, "I11")
        for probe in probes { note(core.settleProbe(probe, .neutral, at: now)) }
        while let request = pending.popLast() {
            try check(request.attempts.map { SettledAttempt($0, .neutral) })
        }
        try require(core.recovery.servers.allSatisfy { $0.trialPlaces == 0 }, "I11")
        guard commands == 0 else { return }
        var ejections = 0
        var switches = 0
        for event in events {
            if case .ejected = event.kind { ejections += 1 }
            guard case .switched(let from, let to, _) = event.kind else { continue }
            switches += 1
            try require(from != to, "I9")
        }
        try require(switches <= 2 * ejections + 2, "I9")
    }

    /// Checks that a call does not change any evidence.
    func checkUntouched(_ rule: String, _ call: (inout SwitchingCore, MonotonicTime) throws -> Void) throws {
        var copy = self
        _ = copy.core.choose(at: now)
        let before = copy.marks
        try call(&copy.core, now)
        try require(before == copy.marks, rule)
    }

    mutating func note(_ followed: [SwitchEvent]) {
        events += followed
        for event in followed {
            switch event.kind {
            case .ejected(let id, _, _):
                nextProbe[id] = event.at.advanced(by: core.policy.recovery.firstProbe * 0.7)
            case .probed(let id, false):
                nextProbe[id] = event.at.advanced(by: core.policy.recovery.firstProbe * 0.69)
            case .probed(let id, true), .recovered(let id, _):
                nextProbe[id] = nil
            default: break
            }
        }
    }

    func require(_ condition: Bool, _ rule: String) throws {
        if !condition { throw Violation(rule: rule, seed: seed, step: step) }
    }
}

extension Array where Element: Equatable {
    /// The elements in the same cyclic order, starting with an element; unchanged if the element is missing.
    fileprivate func rotated(to element: Element) -> [Element] {
        guard let start = firstIndex(of: element) else { return self }
        return Array(self[start...] + self[..<start])
    }
}

// MARK: - Random choices

extension RandomHistory {
    mutating func chance(_ probability: Double) -> Bool {
        random.unit() < probability
    }

    mutating func randomServer() -> Int {
        Int(random.next() % UInt64(core.serverIDs.count))
    }

    mutating func randomRate() -> Double {
        [0, 0.02, 0.2, 0.9, 1][Int(random.next() % 5)]
    }

    mutating func randomTried() -> ServerSet {
        var tried = ServerSet()
        for position in core.serverIDs.indices where chance(0.4) { tried.insert(position) }
        return tried
    }

    func failureRate(_ position: Int) -> Double {
        position < failureRates.count ? failureRates[position] : 0
    }

    mutating func randomOutcome(of attempt: Attempt) -> AttemptOutcome {
        if chance(0.05) { return .neutral }
        if chance(0.05) { return .answered }
        guard chance(failureRate(attempt.server)) else { return .success(latency: .milliseconds(10)) }
        let kinds: [FailureKind] = [.refused, .timeout, .reset, .truncated, .http(500), .http(503), .dnsFailure]
        let kind = kinds[Int(random.next() % UInt64(kinds.count))]
        return .failure(kind, retryAfter: kind == .http(503) && chance(0.5) ? .seconds(2) : nil)
    }
}
