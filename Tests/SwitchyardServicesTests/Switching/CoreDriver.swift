@testable import SwitchyardServices

/// Drives a core by hand: holds the time and settles the chosen attempts.
final class CoreDriver {
    var core: SwitchingCore
    var now: MonotonicTime
    var events: [SwitchEvent] = []

    init(
        _ ids: [String] = ["a", "b", "c"],
        policy: SwitchPolicy = .recommended,
        seed: UInt64 = 1,
        at start: Double = 0
    ) throws {
        now = MonotonicTime(seconds: start)
        let members = ids.map { SwitchingCore.Member(id: $0) }
        core = try SwitchingCore(members: members, policy: policy, at: now, seed: seed)
    }

    func choose(excluding tried: ServerSet = [], for traits: RequestTraits = RequestTraits()) -> Attempt? {
        core.choose(excluding: tried, for: traits, at: now)
    }

    func failover(after kind: FailureKind?, excluding tried: ServerSet) -> Attempt? {
        core.takeFailover(after: kind, excluding: tried, at: now)
    }

    func hedge(excluding tried: ServerSet) -> Attempt? {
        core.takeHedge(excluding: tried, at: now)
    }

    func sheds(_ priority: RequestPriority) -> Bool {
        core.sheds(priority, at: now)
    }

    func probe() -> Attempt? {
        core.takeProbe(at: now)
    }

    func suspicion(of attempt: Attempt) -> SuspicionProbe? {
        core.takeSuspicion(of: attempt, at: now)
    }

    func switchTo(_ id: String, from version: UInt64? = nil) throws(SwitchError) {
        events += try core.switchTo(id, from: version, at: now)
    }

    func next(from version: UInt64? = nil) {
        events += core.next(from: version, at: now)
    }

    func push(_ command: PushCommand) throws(SwitchError) {
        events += try core.apply(command, at: now)
    }

    func replace(_ members: [SwitchingCore.Member]) throws(SwitchError) {
        events += try core.replace(members, at: now)
    }

    func advance(_ seconds: Double) {
        now = now.advanced(by: .seconds(seconds))
    }

    func settle(_ attempt: Attempt, _ outcome: AttemptOutcome) {
        events += core.settle(attempt, outcome, at: now)
    }

    func settle(_ request: [SettledAttempt]) {
        events += core.settle(request, at: now)
    }

    /// Makes a request with one attempt.
    func request(_ outcome: AttemptOutcome) {
        guard let attempt = core.choose(at: now) else { return }
        settle(attempt, outcome)
    }

    /// Makes `count` requests, each after `gap` seconds.
    func requests(_ count: Int, _ outcome: AttemptOutcome, gap: Double = 0.01) {
        for _ in 0..<count {
            advance(gap)
            request(outcome)
        }
    }

    /// Makes a request whose first attempt fails and whose second attempt succeeds on another server.
    func failedOver(_ kind: FailureKind) {
        guard let first = core.choose(at: now) else { return }
        guard let second = core.takeFailover(after: kind, excluding: [first.server], at: now) else {
            return settle(first, .failure(kind))
        }
        settle([SettledAttempt(first, .failure(kind)), SettledAttempt(second, .success(latency: .milliseconds(10)))])
    }

    /// Makes a server fail after successful requests until it is ejected.
    func fail(_ id: String) {
        requests(36, .ok, gap: 0.001)
        for _ in 0..<100 where state(id) == .healthy { requests(1, .refused, gap: 0.001) }
    }

    /// Sends successful probes and requests until a server is healthy.
    func recover(_ id: String) {
        for _ in 0..<400 where state(id) != .healthy {
            advance(0.5)
            while let probe = core.takeProbe(at: now) { events += core.settleProbe(probe, .ok, at: now) }
            guard let position = core.serverIDs.firstIndex(of: id), state(id) == .trial else { continue }
            var others = ServerSet()
            for other in core.serverIDs.indices where other != position { others.insert(other) }
            if let attempt = core.choose(excluding: others, at: now) { settle(attempt, .ok) }
        }
    }

    /// Ejects a server regardless of its results.
    func eject(_ id: String) {
        guard let position = core.serverIDs.firstIndex(of: id) else { return }
        core.eject(position, .score, at: core.read(now))
        events += core.takeEvents()
    }

    /// Sends successful probes until a server is in a trial, and lets the trial begin.
    func startTrial(_ id: String) {
        for _ in 0..<400 where state(id) == .ejected {
            advance(0.5)
            while let probe = core.takeProbe(at: now) { events += core.settleProbe(probe, .ok, at: now) }
        }
        advance(120)
    }

    /// Records a confirmed overload of every server, each for a different endpoint.
    func overload() {
        for id in core.serverIDs { overload(id, .http(503)) }
    }

    /// Records a confirmed overload of one server.
    func overload(_ id: String, _ kind: FailureKind) {
        guard let position = core.serverIDs.firstIndex(of: id) else { return }
        let endpoint = UInt32(position + 1)
        let attempt = Attempt(server: position, generation: 0, role: .first, endpoint: endpoint, startedAt: now)
        let failure = SwitchingCore.Failure(kind, attempt, hasConfirmation: true)
        core.recordFailure(position, failure, at: core.read(now))
    }

    func state(_ id: String) -> ServerSnapshot.State? {
        core.serverIDs.firstIndex(of: id).map { core.recovery.servers[$0].state }
    }

    func statistics(_ id: String) -> HealthStatistics? {
        core.snapshot(at: now).first { $0.id == id }?.statistics
    }

    var switches: [SwitchEvent] {
        events.filter { if case .switched = $0.kind { true } else { false } }
    }
}

extension AttemptOutcome {
    static let ok = AttemptOutcome.success(latency: .milliseconds(10))
    static let refused = AttemptOutcome.failure(.refused)
    static let timedOut = AttemptOutcome.failure(.timeout)
}
