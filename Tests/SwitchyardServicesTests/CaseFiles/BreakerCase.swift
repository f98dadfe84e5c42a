import Testing

@testable import SwitchyardServices

/// A sequence of circuit breaker steps, run on one server of a switching core.
struct BreakerCase {
    /// An unexpected result of a step.
    struct Mismatch {
        var step: CaseValue
        var text: String
        /// The state before the step and the state after it.
        var before: String
        var after: String
        /// The number of ejections of the server before the step.
        var ejections: Int
        /// Whether the server was in a trial before or during the step.
        var sawTrial: Bool
        /// Whether only numbers differed, while the state and the permission were as expected.
        var isFigure: Bool
        /// The seconds since the start.
        var seconds: Double
    }

    let item: CaseValue
    var ejections = 0
    private var sawTrial = false
    /// The states before and after the last change.
    var change: [String] = []
    /// The number of rejected requests in the current state.
    var refusals = 0

    init(_ item: CaseValue) {
        self.item = item
    }

    /// Runs the sequence if the core has the features that it needs.
    ///
    /// - Parameters:
    ///   - policy: The policy that ejects the server.
    ///   - seconds: The duration of an ejection.
    ///   - successes: The number of successes in a trial.
    /// - Returns: The outcome of the sequence.
    /// - Throws: An error if the policy is invalid.
    func judge(_ policy: SwitchPolicy, openFor seconds: Double, trial successes: Int) throws -> CaseOutcome {
        if let reason = BreakerRules.notApplicable(item) { return .notApplicable(reason) }
        var harness = try BreakerHarness(policy, openFor: seconds, trial: successes)
        switch item["config"]["initialState"].string {
        case "open": harness.forceOpen()
        case "half_open": harness.forceHalfOpen()
        default: break
        }
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
            for _ in 0..<(step["times"].int ?? 1) { isPermitted = try perform(step, &harness) }
            let states = states(step["expect"], harness, isPermitted)
            guard case .failed(let text) = CaseOutcome.all([states, figures(step["expect"], harness)]) else { continue }
            return Mismatch(
                step: step,
                text: "step \(index + 1): \(text)",
                before: before,
                after: harness.state,
                ejections: priorEjections,
                sawTrial: sawTrial,
                isFigure: states == .passed,
                seconds: harness.now.seconds
            )
        }
        guard let state = item["expected_final_state"].string, state != harness.state else { return nil }
        return Mismatch(
            step: CaseValue(["expect": ["state": state]]),
            text: "ended \(harness.state) instead of \(state)",
            before: harness.state,
            after: harness.state,
            ejections: ejections,
            sawTrial: sawTrial,
            isFigure: false,
            seconds: harness.now.seconds
        )
    }

    /// Performs a step once and records the changes.
    private mutating func perform(_ step: CaseValue, _ harness: inout BreakerHarness) throws -> Bool? {
        let state = harness.state
        let isPermitted = try Self.perform(step, &harness)
        if state != harness.state {
            change = [state, harness.state]
            refusals = 0
            if harness.state == "open" { ejections += 1 }
        }
        if isPermitted == false { refusals += 1 }
        sawTrial = sawTrial || state == "half_open" || harness.state == "half_open"
        return isPermitted
    }

    // MARK: - Steps

    private static func perform(_ step: CaseValue, _ harness: inout BreakerHarness) throws -> Bool? {
        switch step["op"].string {
        case "success", "failure", "excluded":
            // Only an open breaker rejects all requests.
            let isPermitted = harness.state != "open"
            let isSuccess = step["op"].string == "success"
            try harness.complete(step["op"].string == "excluded" ? .neutral : outcome(step, isSuccess: isSuccess))
            return isPermitted
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

    private func states(_ expected: CaseValue, _ harness: BreakerHarness, _ isPermitted: Bool?) -> CaseOutcome {
        .all([
            .compare(harness.state, expected["state"].string), .compare(isPermitted, expected["permitted"].bool),
            .compare(change, expected["change"].exists ? expected["change"].array.compactMap(\.string) : nil),
        ])
    }
}
