import Testing

@testable import SwitchyardServices

/// With the same seed and calls, the core decides like the reference wherever the rules are the same.
///
/// The reference lacks some rules of the recommended policy for fleets: timeouts cut no share, a share does not recover
/// with time, overloaded servers are not spared, the hedge budget starts full, a switch starts no fresh window, usual
/// latencies are not learned, and a relapse needs no additional probes. It also lacks rules that avoid harm: failures
/// are not separated by endpoint, and being overtaken is a failure like any other. The rules are set accordingly here.
/// One rule of the reference was changed before the recording: the last healthy server is never ejected.
@Suite struct ReferenceDifferentialTests {
    @Test func `the switching core makes the same decisions as the reference implementation`() throws {
        let traces = try ReferenceTrace.all()
        #expect(traces.count == 14)
        for trace in traces {
            var replay = try Replay(trace)
            for (index, step) in trace.steps.enumerated() {
                try replay.apply(step.step, at: MonotonicTime(nanoseconds: step.nanoseconds), "\(trace.seed)/\(index)")
            }
        }
    }
}

extension SwitchPolicy {
    /// The policy with the rules of the reference.
    fileprivate static func reference(isSingle: Bool) -> SwitchPolicy {
        var policy = isSingle ? SwitchPolicy.smallFleet : .recommended
        policy.admission?.timeoutCut = 1
        policy.admission?.doubling = nil
        policy.detection.lateness = nil
        policy.detection.perEndpoint = false
        policy.budgets.firstHedgeTokens = 10
        policy.budgets.growsWithConcurrency = false
        policy.admission?.sparesOverloaded = false
        policy.detection.startsFreshWindow = false
        policy.detection.score?.calmSpan = nil
        policy.detection.score?.detected = 0.3
        policy.recovery.successesPerRelapse = 0
        policy.recovery.partialTrialSuccesses = policy.recovery.trialSuccesses
        return policy
    }
}

private struct Replay {
    var core: SwitchingCore
    var picks: [Attempt] = []

    init(_ trace: ReferenceTrace) throws {
        let members = (0..<trace.servers).map { SwitchingCore.Member(id: "\($0)") }
        core = try SwitchingCore(
            members: members,
            policy: .reference(isSingle: trace.isSingle),
            at: .zero,
            seed: trace.seed
        )
    }

    mutating func apply(_ step: ReferenceTrace.Step, at now: MonotonicTime, _ place: Comment) throws {
        switch step {
        case .pick(let tried, let chosen):
            let choice = core.choose(excluding: tried, at: now)
            let attempt = try #require(choice, place)
            #expect(attempt.server == chosen, place)
            picks.append(attempt)
        case .probe(let server, let succeeded):
            let due = core.takeProbe(at: now)
            let probe = try #require(due, place)
            #expect(probe.server == server, place)
            _ = core.settleProbe(probe, succeeded ? .success(latency: .zero) : .refused, at: now)
        case .success(let pick):
            let position = core.release(picks[pick])
            core.recordSuccess(position, latency: 0.01, at: core.read(now))
        case .failure(let pick, let kind, let hasConfirmation, let retryAfter, let ejected):
            let attempt = picks[pick]
            let failure = SwitchingCore.Failure(
                kind,
                attempt,
                retryAfter: retryAfter,
                hasConfirmation: hasConfirmation
            )
            let hasEjected = fail(attempt, failure, at: now)
            #expect(hasEjected == ejected, place)
        case .token(let granted):
            let time = core.read(now)
            let isGranted = core.extras.hasFailoverToken(at: time)
            if isGranted { core.extras.beginFailover(isFree: false, at: time) }
            #expect(isGranted == granted, place)
        case .state(let state):
            compare(state, place)
        }
    }

    private mutating func fail(_ attempt: Attempt, _ failure: SwitchingCore.Failure, at now: MonotonicTime) -> Bool {
        guard let position = core.release(attempt) else { return false }
        let wasEjected = core.recovery.servers[position].state == .ejected
        core.recordFailure(position, failure, at: core.read(now))
        return !wasEjected && core.recovery.servers[position].state == .ejected
    }

    private func compare(_ state: ReferenceState, _ place: Comment) {
        let letters = core.recovery.servers.map { ["h", "e", "t"][Int($0.state.rawValue)] }.joined()
        #expect(letters == state.states, place)
        #expect(Int(core.steering.current) == state.current, place)
        for (position, (score, share)) in zip(state.scores, state.shares).enumerated() {
            #expect(abs(core.evidence.servers[position].score.value - score) < 1e-5, place)
            #expect(abs(core.admission.lastShare(of: position) - share) < 1e-5, place)
        }
        #expect(abs(core.extras.failovers.tokens - state.tokens) < 1e-5, place)
        #expect(abs(core.extras.hedges.tokens - state.hedgeTokens) < 1e-5, place)
    }
}
