import SwitchyardServices
import Testing

@Suite struct SwitchPolicyTests {
    @Test(arguments: [
        SwitchPolicy.recommended, .smallFleet, .stickyErrorRatio, .errorRatio(), .consecutiveFailures(5), .off,
        .errorRatio(threshold: 0, minimum: 1, window: .last(1)), .errorRatio(threshold: 1, window: .last(.seconds(1))),
    ])
    func `every named policy is valid`(policy: SwitchPolicy) throws {
        try policy.check()
    }

    @Test(arguments: [
        Change("errorRatio") { $0.detection.ratio?.threshold = 1.5 },
        Change("errorRatio") { $0.detection.ratio?.threshold = .nan },
        Change("minimumRequests") { $0.detection.ratio?.minimum = 0 },
        Change("minimumRequests") { $0.detection.ratio?.minimum = 101 },
        Change("window") { $0.detection.window.duration = .zero },
        Change("window") { $0.detection.window.duration = .seconds(-1) },
        Change("window") { $0.detection.window.duration = SwitchPolicy.Window.maximumDuration + .seconds(1) },
        Change("windowRequests") { $0.detection.window.count = 401 },
        Change("consecutiveFailures") { $0.detection.consecutive = 0 },
        Change("consecutiveFailures") { $0.detection.consecutive = 65_536 },
        Change("score.detected") { $0.detection.score?.detected = 0.001 },
        Change("score.detected") {
            $0.detection.score?.tolerated = 0.25
            $0.detection.score?.detected = 0.25
        },
        Change("score.tolerated") { $0.detection.score?.tolerated = 0 },
        Change("score.threshold") { $0.detection.score?.threshold = 0 },
        Change("score.halfLife") { $0.detection.score?.halfLife = .zero },
        Change("score.calmSpan") { $0.detection.score?.calmSpan = 0 },
        Change("score.leastTolerated") { $0.detection.score?.leastTolerated = 0.02 },
        Change("recovery.successesPerRelapse") { $0.recovery.successesPerRelapse = -1 },
        Change("recovery.mostSuccesses") { $0.recovery.mostSuccesses = 0 },
        Change("budgets.overloadCost") { $0.budgets.overloadCost = 0.5 },
        Change("warmUp") { $0.warmUp = .seconds(-1) },
        Change("recovery.firstProbe") { $0.recovery.firstProbe = .seconds(-1) },
        Change("recovery.jitter") { $0.recovery.jitter = 2 },
        Change("recovery.spreadShare") { $0.recovery.spreadShare = .infinity },
        Change("recovery.successes") { $0.recovery.successes = 0 },
        Change("recovery.forgiveness") { $0.recovery.forgiveness = .zero },
        Change("admission.floor") { $0.admission?.floor = 0 },
        Change("admission.timeoutCut") { $0.admission?.timeoutCut = 1.1 },
        Change("budgets.failoverTokens") { $0.budgets.failoverTokens = -1 },
        Change("budgets.refill") { $0.budgets.refill = .zero },
        Change("hedging.deadlineShare") { $0.hedging?.deadlineShare = -0.1 },
        Change("maximumAttempts") { $0.maximumAttempts = 0 },
        Change("minimumInterval") { $0.minimumInterval = .seconds(-1) },
    ])
    func `an invalid rule is an error that names its key, and no switching core is created`(change: Change) {
        var policy = SwitchPolicy.recommended
        change.apply(&policy)

        let error = #expect(throws: SwitchError.self) {
            try SwitchingCore(members: [SwitchingCore.Member(id: "a")], policy: policy, at: .zero, seed: 1)
        }

        guard case .invalidPolicy(let problem) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(problem.key == change.key)
    }

    @Test func `consecutive failures cause a switch, and a success resets their count`() throws {
        let driver = try CoreDriver(policy: .consecutiveFailures(3))

        driver.requests(1, .ok)
        driver.requests(2, .timedOut)
        driver.requests(1, .ok)
        driver.requests(2, .timedOut)
        #expect(driver.core.current == "a")
        driver.requests(1, .timedOut)

        #expect(driver.core.current == "b")
    }

    @Test func `SwitchPolicy.off neither switches servers nor repeats requests, but still counts failures`() throws {
        let driver = try CoreDriver(policy: .off)

        driver.requests(5, .ok)
        driver.requests(100, .refused)

        #expect(driver.core.current == "a")
        #expect(driver.statistics("a")?.requests == 100)
        #expect(driver.failover(after: .refused, excluding: [0], ) == nil)
        #expect(driver.hedge(excluding: [0], ) == nil)
    }

    @Test func `an error ratio over a time window ignores older outcomes`() throws {
        let policy = SwitchPolicy.errorRatio(threshold: 0.5, minimum: 4, window: .last(.seconds(10)))
        let driver = try CoreDriver(policy: policy)

        driver.requests(4, .ok)
        driver.requests(3, .timedOut, gap: 0.1)
        driver.advance(10)
        driver.requests(1, .timedOut)

        #expect(driver.core.current == "a")
        #expect(driver.statistics("a")?.requests == 1)
    }
}

/// A change that makes a rule invalid.
struct Change: Sendable, CustomTestStringConvertible {
    var key: String
    var apply: @Sendable (inout SwitchPolicy) -> Void

    init(_ key: String, _ apply: @escaping @Sendable (inout SwitchPolicy) -> Void) {
        self.key = key
        self.apply = apply
    }

    var testDescription: String { key }
}
