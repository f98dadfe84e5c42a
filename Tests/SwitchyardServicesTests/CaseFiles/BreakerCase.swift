import Testing

@testable import SwitchyardServices

/// One sequence of a circuit breaker, run on a server that stands for it.
struct BreakerCase {
    /// What a step brought that was not expected.
    struct Mismatch {
        var step: CaseValue
        var text: String
        /// The state before the step.
        var before: String
        /// How often the server had been ejected before the step.
        var ejections: Int
        /// Whether the server had been in trial before, up to this step.
        var sawTrial: Bool
        /// Whether the state and the permission were as expected, and only figures were not.
        var isFigure: Bool
        /// The seconds since the beginning.
        var seconds: Double
    }

    let item: CaseValue
    private var ejections = 0
    private var sawTrial = false

    init(_ item: CaseValue) {
        self.item = item
    }

    /// Runs the sequence, if it has a meaning here.
    ///
    /// - Parameters:
    ///   - policy: What ejects the server.
    ///   - seconds: How long an ejection lasts.
    ///   - successes: How many successes a trial takes.
    /// - Returns: What became of it.
    /// - Throws: That the policy is not usable.
    func judge(_ policy: SwitchPolicy, openFor seconds: Double, trial successes: Int) throws -> CaseOutcome {
        if let reason = BreakerRules.notApplicable(item) { return .notApplicable(reason) }
        var harness = try BreakerHarness(policy, openFor: seconds, trial: successes)
        if item["config"]["initialState"].string == "open" { harness.forceOpen() }
        var copy = self
        guard let mismatch = try copy.firstMismatch(&harness) else { return .passed }
        if let reason = BreakerRules.difference(item, mismatch) { return .differs(reason) }
        return .failed(mismatch.text)
    }

    private mutating func firstMismatch(_ harness: inout BreakerHarness) throws -> Mismatch? {
        for (index, step) in item["steps"].array.enumerated() {
            let before = harness.state
            let priorEjections = ejections
            var isPermitted: Bool?
            for _ in 0..<(step["times"].int ?? 1) {
                let state = harness.state
                isPermitted = try Self.perform(step, &harness)
                if state != "open", harness.state == "open" { ejections += 1 }
                sawTrial = sawTrial || state == "half_open" || harness.state == "half_open"
            }
            let states = Self.states(step["expect"], harness, isPermitted)
            guard case .failed(let text) = CaseOutcome.all([states, Self.figures(step["expect"], harness)]) else {
                continue
            }
            return Mismatch(
                step: step,
                text: "step \(index + 1): \(text)",
                before: before,
                ejections: priorEjections,
                sawTrial: sawTrial,
                isFigure: states == .passed,
                seconds: harness.now.seconds
            )
        }
        guard let state = item["expected_final_state"].string, state != harness.state else { return nil }
        return Mismatch(
            step: CaseValue(nil),
            text: "ended \(harness.state) in place of \(state)",
            before: harness.state,
            ejections: ejections,
            sawTrial: sawTrial,
            isFigure: false,
            seconds: harness.now.seconds
        )
    }

    // MARK: - Steps

    private static func perform(_ step: CaseValue, _ harness: inout BreakerHarness) throws -> Bool? {
        switch step["op"].string {
        case "success": try harness.complete(.ok)
        case "failure": try harness.complete(outcome(step, isSuccess: false))
        case "excluded": try harness.complete(.neutral)
        case "complete", "finish":
            try harness.complete(outcome(step, isSuccess: step["outcome"].string == "success"))
        case "release": try harness.complete(.neutral)
        case "advance": harness.advance(step["seconds"].double ?? 0)
        case "acquire", "start": return harness.acquire()
        case "reset": harness.reset()
        case "observe": break
        case "force" where step["to"].string == "open": harness.forceOpen()
        case "force" where step["to"].string == "half_open": harness.forceHalfOpen()
        case "force" where step["to"].string == "closed": harness.reset()
        default: throw UnknownStep(name: step["op"].string ?? "")
        }
        return nil
    }

    private static func outcome(_ step: CaseValue, isSuccess: Bool) -> AttemptOutcome {
        if isSuccess { return .ok }
        return step["error"].string?.lowercased().contains("ignored") == true ? .neutral : .failure(.http(500))
    }

    private struct UnknownStep: Error {
        var name: String
    }

    // MARK: - Expectations

    private static func states(_ expected: CaseValue, _ harness: BreakerHarness, _ isPermitted: Bool?) -> CaseOutcome {
        .all([
            .compare(harness.state, expected["state"].string), .compare(isPermitted, expected["permitted"].bool),
        ])
    }

    private static func figures(_ expected: CaseValue, _ harness: BreakerHarness) -> CaseOutcome {
        let statistics = harness.statistics
        let counts = expected["counts"]
        let metrics = expected["metrics"]
        var outcomes = [
            CaseOutcome.compare(statistics.failures, counts["failures"].int ?? metrics["failures"].int),
            .compare(statistics.consecutiveFailures, counts["consecutiveFailures"].int),
            .compare(statistics.requests, expected["throughput"].int ?? metrics["buffered"].int),
            .compare(statistics.requests - statistics.failures, metrics["successes"].int),
        ]
        if let seconds = expected["error"]["retryAfterSeconds"].double {
            let isNear = abs((harness.retryAfter ?? 0) - seconds) < 1e-6
            outcomes.append(.compare(isNear ? seconds : harness.retryAfter, seconds))
        }
        // Excluded outcomes are in neither count here.
        if let requests = counts["requests"].int, let excluded = counts["exclusions"].int {
            outcomes.append(.compare(statistics.requests, requests - excluded))
        }
        if expected["failureRate"].exists, expected["throughput"].exists {
            outcomes.append(.compare(statistics.errorRatio, expected["failureRate"].double))
        }
        return .all(outcomes)
    }
}
