import Testing

@testable import SwitchyardDiagnostics

/// The rules that decide which traces are recorded.
@Suite struct TraceSamplingTests {
    private let traces: [TraceNumber] = {
        var random = SystemRandomNumberGenerator()
        return (0..<10_000).map { _ in TraceNumber(high: random.next(), low: random.next()) }
    }()

    private func share(_ sampling: TraceSampling, parent: TraceContext? = nil) -> Double {
        Double(traces.count { sampling.isSampled($0, parent: parent) }) / Double(traces.count)
    }

    @Test func `the sampling rule .always records every trace, and the rule .never records no trace`() {
        #expect(share(.always) == 1)
        #expect(share(.never) == 0)
    }

    @Test(arguments: [(0.25, 0.25), (-1, 0), (2, 1), (.nan, 0)] as [(Double, Double)])
    func `a ratio sampler records the given fraction of the traces`(_ ratio: Double, _ expected: Double) {
        #expect(abs(share(.ratio(ratio)) - expected) < 0.03)
    }

    @Test func `a trace that a sampler with a small ratio records is also recorded with a larger ratio`() {
        let small = traces.filter { TraceSampling.ratio(0.1).isSampled($0, parent: nil) }

        #expect(!small.isEmpty)
        #expect(small.allSatisfy { TraceSampling.ratio(0.2).isSampled($0, parent: nil) })
    }

    @Test
    func `a parent-based sampler follows the flag of the parent span, or uses its root sampler without a parent`() {
        let sampled = TraceContext(trace: TraceNumber(high: 1, low: 0), span: 1, isSampled: true)
        let unsampled = sampled.with(span: 1, isSampled: false)

        #expect(share(.parentBased(.never), parent: sampled) == 1)
        #expect(share(.parentBased(.always), parent: unsampled) == 0)
        #expect(share(.parentBased(.never)) == 0)
        #expect(share(.parentBased()) == 1)
        #expect(share(.always, parent: unsampled) == 1)
    }
}
