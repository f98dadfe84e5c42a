@testable import SwitchyardServices

extension BreakerCase {
    /// The keys that are read in the cases of all three libraries, except their settings.
    ///
    /// Consecutive successes and the text and cause of a rejection have no counterpart here and are not compared.
    static let keys = """
        config steps expected expected_final_state
        steps.op steps.times steps.seconds steps.outcome steps.error steps.result steps.breaks steps.to
        steps.states steps.durationSeconds steps.untilSecondsFromNow steps.forSeconds
        steps.expect.state steps.expect.permitted steps.expect.change steps.expect.throughput
        steps.expect.failureRate steps.expect.failures steps.expect.slowCalls steps.expect.slowCallRate
        steps.expect.maxRequestsHalfOpen steps.expect.intervalSeconds steps.expect.timeoutSeconds
        steps.expect.breakSeconds steps.expect.halfOpenAttemptsSeenByGenerator
        steps.expect.counts.requests steps.expect.counts.successes steps.expect.counts.failures
        steps.expect.counts.exclusions steps.expect.counts.consecutiveFailures
        steps.expect.counts.consecutiveSuccesses
        steps.expect.metrics.failureRate steps.expect.metrics.successes steps.expect.metrics.buffered
        steps.expect.metrics.failures steps.expect.metrics.rejected
        steps.expect.error steps.expect.error.kind steps.expect.error.innerError
        steps.expect.error.retryAfterSeconds
        """

    /// Compares every number that a step expects.
    func figures(_ expected: CaseValue, _ harness: BreakerHarness) -> CaseOutcome {
        .all([counts(expected["counts"], harness), metrics(expected["metrics"], harness), health(expected, harness)])
    }

    /// Compares the counts of gobreaker; the core has no counts of excluded outcomes.
    private func counts(_ expected: CaseValue, _ harness: BreakerHarness) -> CaseOutcome {
        let statistics = harness.statistics
        let excluded = expected["exclusions"].int ?? 0
        return .all([
            .compare(statistics.failures, expected["failures"].int),
            .compare(statistics.consecutiveFailures, expected["consecutiveFailures"].int),
            .compare(statistics.requests, expected["requests"].int.map { $0 - excluded }),
            .compare(statistics.requests - statistics.failures, expected["successes"].int),
        ])
    }

    /// Compares the metrics of resilience4j; a rate of -1 means too few calls.
    private func metrics(_ expected: CaseValue, _ harness: BreakerHarness) -> CaseOutcome {
        let statistics = harness.statistics
        let minimum = harness.core.policy.detection.ratio?.minimum ?? 1
        let rate = statistics.requests < minimum ? -1 : 100 * statistics.errorRatio
        return .all([
            .compare(statistics.failures, expected["failures"].int),
            .compare(statistics.requests, expected["buffered"].int),
            .compare(statistics.requests - statistics.failures, expected["successes"].int),
            .compare(refusals, expected["rejected"].int),
            Self.near(rate, expected["failureRate"].double),
        ])
    }

    /// Compares the health of Polly and the time in a rejection.
    private func health(_ expected: CaseValue, _ harness: BreakerHarness) -> CaseOutcome {
        let statistics = harness.statistics
        return .all([
            .compare(statistics.requests, expected["throughput"].int),
            .compare(statistics.failures, expected["failures"].int),
            Self.near(statistics.errorRatio, expected["failureRate"].double),
            Self.near(harness.retryAfter ?? 0, expected["error"]["retryAfterSeconds"].double),
        ])
    }

    private static func near(_ actual: Double, _ expected: Double?) -> CaseOutcome {
        let isNear = expected.map { abs($0 - actual) < 1e-6 } ?? true
        return .compare(isNear ? expected : actual, expected)
    }
}
