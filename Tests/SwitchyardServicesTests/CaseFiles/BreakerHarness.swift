import Testing

@testable import SwitchyardServices

/// Drives one server of a core like a circuit breaker: closed is healthy, open is ejected, half-open is the trial.
///
/// A second server is always healthy, because the last healthy server is never ejected. It also confirms every failure,
/// so the network is never in doubt. Probes are sent and succeed as soon as they are due, so the time until the first
/// probe is the time that a breaker stays open.
struct BreakerHarness {
    var core: SwitchingCore
    var now = MonotonicTime.zero
    private var open: [Attempt] = []

    init(_ policy: SwitchPolicy, openFor seconds: Double = 60, trial successes: Int = 1) throws {
        var policy = policy
        policy.recovery.firstProbe = .seconds(seconds)
        policy.recovery.longestProbe = .seconds(10_000)
        policy.recovery.jitter = 0
        policy.recovery.seriesGap = .zero
        policy.recovery.spreadShare = 0
        policy.recovery.trialSuccesses = successes
        policy.recovery.partialTrialSuccesses = successes
        let members = [SwitchingCore.Member(id: "subject"), SwitchingCore.Member(id: "peer")]
        core = try SwitchingCore(members: members, policy: policy, at: now, seed: 1)
    }

    var state: String {
        switch core.recovery.servers[0].state {
        case .healthy: "closed"
        case .ejected: "open"
        case .trial: "half_open"
        }
    }

    var statistics: HealthStatistics { core.statistics(of: 0, at: now.seconds) }

    /// The time until the breaker permits a request again.
    var retryAfter: Double? { core.snapshot(at: now).first?.nextProbe?.inSeconds }

    mutating func advance(_ seconds: Double) {
        now = now.advanced(by: .nanoseconds(Int64((seconds * 1e9).rounded())))
        probe()
    }

    mutating func probe() {
        while let probe = core.takeProbe(at: now) {
            _ = core.settleProbe(probe, .success(latency: .milliseconds(1)), at: now)
        }
    }

    /// Returns whether a request would go to the server.
    mutating func acquire() -> Bool {
        guard let attempt = core.choose(at: now) else { return false }
        guard attempt.server == 0 else {
            _ = core.settle(attempt, .neutral, at: now)
            return false
        }
        open.append(attempt)
        return true
    }

    /// Ends a permitted request, or makes one; an open breaker permits none.
    mutating func complete(_ outcome: AttemptOutcome) throws {
        if open.isEmpty {
            guard core.recovery.servers[0].state != .ejected else { return }
            let chosen = core.choose(excluding: [1], at: now)
            open.append(try #require(chosen))
        }
        let attempt = open.removeFirst()
        guard case .failure = outcome else {
            _ = core.settle(attempt, outcome, at: now)
            return
        }
        let chosen = core.choose(excluding: [0], at: now)
        let confirmation = SettledAttempt(try #require(chosen), .success(latency: .milliseconds(1)))
        _ = core.settle([SettledAttempt(attempt, outcome), confirmation], at: now)
    }

    /// Ejects the server regardless of its results.
    mutating func forceOpen() {
        core.eject(0, .requested, at: core.read(now))
    }

    /// Ends a forced ejection with successful probes.
    mutating func forceHalfOpen() {
        if core.recovery.state(of: 0) == .ejected { core.recover(0, at: core.read(now)) }
        // A server whose ejection is restored is probed immediately.
        _ = core.restore(SwitchMemory(savedAt: 0, current: "peer", ejected: ["subject"]), wallClock: 0, at: now)
        probe()
    }

    mutating func reset() {
        _ = core.reset(at: now)
    }
}
