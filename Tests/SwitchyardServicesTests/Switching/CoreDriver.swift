@testable import SwitchyardServices

/// Drives a core by hand: holds the time, and settles what it chooses.
struct CoreDriver {
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

    mutating func advance(_ seconds: Double) {
        now = now.advanced(by: .seconds(seconds))
    }

    mutating func settle(_ attempt: Attempt, _ outcome: AttemptOutcome) {
        events += core.settle(attempt, outcome, at: now)
    }

    mutating func settle(_ request: [SettledAttempt]) {
        events += core.settle(request, at: now)
    }

    /// One request with one attempt.
    mutating func request(_ outcome: AttemptOutcome) {
        guard let attempt = core.choose(at: now) else { return }
        settle(attempt, outcome)
    }

    /// Requests of which each takes `gap` seconds.
    mutating func requests(_ count: Int, _ outcome: AttemptOutcome, gap: Double = 0.01) {
        for _ in 0..<count {
            advance(gap)
            request(outcome)
        }
    }

    /// One request whose first attempt fails, and whose second one on another server succeeds.
    mutating func failedOver(_ kind: FailureKind) {
        guard let first = core.choose(at: now) else { return }
        guard let second = core.takeFailover(after: kind, excluding: [first.server], at: now) else {
            return settle(first, .failure(kind))
        }
        settle([SettledAttempt(first, .failure(kind)), SettledAttempt(second, .success(latency: .milliseconds(10)))])
    }

    func state(_ id: String) -> HealthState? {
        core.snapshot(at: now).first { $0.id == id }?.state
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
