@testable import SwitchyardServices

/// A history of random requests, faults and commands that is applied to a core and checked at every step.
struct RandomHistory {
    /// A pending request.
    struct Request {
        var attempts: [Attempt]
        var isIdempotent: Bool
    }

    /// A violated rule.
    struct Violation: Error, CustomStringConvertible {
        var rule: String
        var seed: UInt64
        var step: Int

        var description: String { "\(rule) broken, seed \(seed), step \(step)" }
    }

    let seed: UInt64
    var random: RandomSource
    var core: SwitchingCore
    var now = MonotonicTime.zero
    var step = 0
    var pending: [Request] = []
    var probes: [Attempt] = []
    var suspicions: [SuspicionProbe] = []
    var failureRates: [Double] = []
    var events: [SwitchEvent] = []
    var commands = 0
    /// The decisions, for the comparison of two runs.
    var decisions: [Int] = []
    var pushVersion: UInt64 = 0
    /// The earliest time of each server's next probe.
    var nextProbe: [Server.ID: MonotonicTime] = [:]

    init(seed: UInt64, policy: SwitchPolicy? = nil) throws {
        self.seed = seed
        random = RandomSource(seed: seed)
        let count = 1 + Int(random.next() % 4)
        let members = (0..<count).map { SwitchingCore.Member(id: "s\($0)", weight: Double($0)) }
        let drawn = RandomHistory.policies[Int(random.next() % UInt64(RandomHistory.policies.count))]
        core = try SwitchingCore(members: members, policy: policy ?? drawn, at: now, seed: seed)
        failureRates = Array(repeating: 0, count: count)
        for position in failureRates.indices { failureRates[position] = randomRate() }
    }

    static let policies: [SwitchPolicy] = [
        .recommended, .smallFleet, .stickyErrorRatio, staying,
        .errorRatio(threshold: 0.2, minimum: 5, window: .last(20)),
        .consecutiveFailures(3), .off,
        strategy(.roundRobin), strategy(.weighted), strategy(.lowestLatency), strategy(.sticky),
    ]

    /// A policy with all rules that does not fail back.
    private static var staying: SwitchPolicy {
        var policy = SwitchPolicy.recommended
        policy.failsBack = false
        return policy
    }

    private static func strategy(_ selection: SelectionStrategy) -> SwitchPolicy {
        var policy = SwitchPolicy.recommended
        policy.selection = selection
        return policy
    }

    mutating func run(steps: Int, withCommands: Bool = true) throws {
        for _ in 0..<steps {
            step += 1
            now = now.advanced(by: .milliseconds(Int64(random.next() % (chance(0.1) ? 20_000 : 300))))
            if chance(0.05) { failureRates[randomServer()] = randomRate() }
            if withCommands, chance(0.06) { try command() }
            try begin()
            try probe()
            try suspect()
            while !pending.isEmpty, chance(0.7) {
                let index = Int(random.next() % UInt64(pending.count))
                try settle(pending.remove(at: index))
            }
            try checkBounds()
            try checkOrder()
        }
    }

    // MARK: - Requests

    private mutating func begin() throws {
        let tried = chance(0.2) ? randomTried() : []
        let traits = RequestTraits(session: chance(0.5) ? "session \(random.next() % 5)" : nil)
        var before = core
        let isOverloaded = before.isOverloadedEverywhere(at: before.read(now))
        guard let first = core.choose(excluding: tried, for: traits, at: now) else {
            return try require(tried.count == core.recovery.servers.count, "I1")
        }
        let states = core.recovery.servers.map(\.state)
        try require(!tried.contains(first.server), "I1")
        let hasHealthy = states.indices.contains { states[$0] == .healthy && !tried.contains($0) }
        try require(states[first.server] != .ejected || !hasHealthy || isOverloaded, "I2")
        decisions.append(first.server)
        pending.append(Request(attempts: [first], isIdempotent: chance(0.7)))
    }

    private mutating func settle(_ request: Request) throws {
        var attempts = request.attempts
        var tried: ServerSet = []
        var settled: [SettledAttempt] = []
        while let attempt = attempts.popLast() {
            tried.insert(attempt.server)
            let outcome = randomOutcome(of: attempt)
            settled.append(SettledAttempt(attempt, outcome))
            guard request.isIdempotent, case .failure(let kind, _) = outcome else { break }
            let isPaidFor = settled.contains { $0.attempt.isPaid }
            let extra =
                chance(0.5)
                ? core.takeFailover(after: kind, excluding: tried, isPaidFor: isPaidFor, at: now)
                : core.takeHedge(excluding: tried, isPaidFor: isPaidFor, at: now)
            if let extra {
                try require(!tried.contains(extra.server), "I1")
                attempts.append(extra)
            }
        }
        if settled.count > 1, settled[0].attempt.role == .first, chance(0.3), settled.last?.outcome.isAnswer == true {
            settled[0].outcome = .unfinished
        }
        try check(settled)
    }

    private mutating func probe() throws {
        if let probe = core.takeProbe(at: now) {
            try checkProbe(probe)
            probes.append(probe)
        }
        while !probes.isEmpty, chance(0.7) {
            let probe = probes.removeFirst()
            let outcome = chance(failureRate(probe.server)) ? AttemptOutcome.refused : .ok
            note(core.settleProbe(probe, outcome, at: now))
        }
    }

    /// Starts and ends suspicion probes in random order.
    private mutating func suspect() throws {
        if chance(0.2), let attempt = pending.last?.attempts.last,
            let probe = core.takeSuspicion(of: attempt, at: now)
        {
            suspicions.append(probe)
        }
        guard !suspicions.isEmpty, chance(0.6) else { return }
        let probe = suspicions.remove(at: Int(random.next() % UInt64(suspicions.count)))
        let suspect = randomOutcome(of: probe.suspect)
        let peer = randomOutcome(of: probe.peer)
        try check(probe, suspect, peer)
    }

    // MARK: - Commands

    private mutating func command() throws {
        commands += 1
        let server = core.serverIDs[randomServer()]
        switch random.next() % 10 {
        case 0: note(try core.switchTo(server, at: now))
        case 1: note(core.next(at: now))
        case 2: try push(to: server)
        case 3: try checkUntouched("I14") { $0.setOffline(true, at: $1) }
        case 4: core.setOffline(false, at: now)
        case 5: core.pathChanged(at: now)
        case 6: note(core.reset(at: now))
        case 7: jumpBack()
        case 8: note(core.restore(core.memory(wallClock: 0), wallClock: 1, at: now))
        default: try replaceServers()
        }
        nextProbe = [:]
    }

    /// Sets the clock back and drops pending work, which would otherwise begin in the future.
    private mutating func jumpBack() {
        for probe in probes { note(core.settleProbe(probe, .neutral, at: now)) }
        probes = []
        now = MonotonicTime(seconds: now.seconds * random.unit())
    }

    private mutating func push(to server: Server.ID) throws {
        let modes = PushCommand.Mode.allCases
        let mode = modes[Int(random.next() % UInt64(modes.count))]
        try checkUntouched("I16") { (core, now) in
            let old = PushCommand(version: pushVersion, mode: mode, server: server)
            let unknown = PushCommand(version: pushVersion + 1, mode: .force, server: "nobody")
            let isRefused = pushVersion == 0 || (try? core.apply(old, at: now)) == nil
            if !isRefused || (try? core.apply(unknown, at: now)) != nil {
                core.recovery = Recovery(core.rules, count: 0, at: 0)
            }
        }
        pushVersion += 1
        let command = PushCommand(
            version: pushVersion,
            mode: mode,
            server: server,
            timeToLive: chance(0.5) ? .seconds(5) : nil,
            spread: chance(0.5) ? .seconds(2) : .zero
        )
        note(try core.apply(command, at: now))
    }

    private mutating func replaceServers() throws {
        let count = 1 + Int(random.next() % 5)
        let offset = Int(random.next() % 3)
        let members = (0..<count).map { SwitchingCore.Member(id: "s\(($0 + offset) % 6)") }
        note(try core.replace(members, at: now))
        failureRates = Array(repeating: 0, count: count)
        for position in failureRates.indices { failureRates[position] = randomRate() }
    }
}
