import SwitchyardServices
import Testing

@testable import SwitchyardInspector

@Suite struct SwitchEventSentenceTests {
    private func sentence(_ cause: SwitchCause) -> String {
        let figures = HealthStatistics(requests: 100, failures: 1, lastFailure: .wire(.connectionRefused))
        return SwitchEvent(at: .zero, .ejected("b", generation: 1, cause: cause), statistics: figures).sentence
    }

    @Test func `the sentence for an ejection because of an error ratio counts the failed requests`() {
        let counts = "1 of the last 100 requests failed, and the last time, it refused connections"
        #expect(sentence(.errorRatio).hasSuffix("because too many of its requests failed: \(counts)"))
    }

    @Test(arguments: [SwitchCause.score, .consecutiveFailures, .trialFailed, .lateness])
    func `the sentence for an ejection for a reason other than an error ratio names only the last failure`(
        cause: SwitchCause
    ) {
        #expect(!sentence(cause).contains("100"))
        #expect(sentence(cause).hasSuffix(": the last time, it refused connections"))
    }
}
