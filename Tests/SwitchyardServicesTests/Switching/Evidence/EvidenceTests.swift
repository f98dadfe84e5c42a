import Testing

@testable import SwitchyardServices

@Suite struct OutcomeWindowTests {
    @Test func `a server's window of outcomes holds the last outcomes up to its maximum count`() {
        var window = OutcomeWindow()

        for index in 0..<250 {
            window.record(index % 10 == 0 ? .failure : .success, at: Double(index) * 0.01, count: 100, age: .infinity)
        }

        #expect(window.requests == 100)
        #expect(window.failures == 10)
    }

    @Test func `outcomes leave a server's outcome window when they reach the maximum age`() {
        var window = OutcomeWindow()

        for second in 0..<10 { window.record(.failure, at: Double(second), count: 100, age: 60) }

        #expect(window.counts(at: 59.9, age: 60).requests == 10)
        #expect(window.counts(at: 60, age: 60).requests == 9)
        #expect(window.counts(at: 65, age: 60).failures == 4)
        #expect(window.counts(at: 1e9, age: 60).requests == 0)
    }

    @Test func `an outcome window and a plain array give the same counts for random outcomes`() {
        var random = RandomSource(seed: 11)
        var window = OutcomeWindow()
        var list: [(at: Double, outcome: OutcomeWindow.Outcome)] = []
        var now = 0.0
        for _ in 0..<5000 {
            now += Double(random.next() % 256) / 512 * (random.unit() < 0.02 ? 80 : 1)
            let outcome: OutcomeWindow.Outcome =
                random.unit() < 0.3 ? .failure : random.unit() < 0.2 ? .uncountedFailure : .success
            window.record(outcome, at: now, count: 100, age: 30)
            list.append((now, outcome))
            list.removeAll { now - $0.at >= 30 }
            list = Array(list.suffix(100))
            let counts = window.counts(at: now, age: 30)
            #expect(counts.requests == list.count && window.failures == list.count { $0.outcome == .failure })
            #expect(counts.uncounted == list.count { $0.outcome == .uncountedFailure })
        }
    }

    @Test func `outcomes that are years apart do not crash an outcome window`() {
        var window = OutcomeWindow()

        for years in [0.0, 1, 1.1, 100, 1e6] {
            window.record(.failure, at: years * 3.15e7, count: 10, age: 60)
            #expect(window.requests == 1)
        }
    }
}

@Suite struct LatencyDigestTests {
    @Test func `quantiles of the latency match the last 64 samples to within 0.8 percent`() throws {
        var random = RandomSource(seed: 5)
        var digest = LatencyDigest()
        var samples: [Double] = []
        for _ in 0..<200 {
            let sample = random.unit() * 3
            digest.record(sample)
            samples = (samples + [sample]).suffix(64)
        }

        let sorted = samples.sorted()
        for share in [0, 0.5, 0.95, 0.99, 1] {
            let exact = sorted[Int(share * 63)]
            let found = try #require(digest.quantile(share))
            #expect(abs(found - exact) <= exact * 0.008)
        }
    }

    @Test func `the typical latency of a server is known after eight samples`() {
        var digest = LatencyDigest()

        for _ in 0..<7 { digest.record(0.1) }
        #expect(digest.bulk == nil)
        digest.record(0.1)

        #expect(abs((digest.bulk ?? 0) - 0.1) < 0.001)
    }

    @Test(arguments: [-1, 0, 1e-12, 1e30, Double.infinity])
    func `extreme latency samples do not crash the switching core`(sample: Double) {
        var digest = LatencyDigest()

        for _ in 0..<20 { digest.record(sample) }

        #expect(digest.quantile(0.5) != nil)
    }
}

@Suite struct ScoreTests {
    /// The mean number of requests to an ejection, as measured: 270 at 5 %, 56 at 10 %, 12 at 30 %, 3 at 100 %.
    @Test(arguments: [(0.05, 270.0), (0.1, 56), (0.3, 12), (0.5, 6), (1, 3)])
    func `the evidence score reaches its threshold after the documented number of requests`(
        rate: Double,
        expected: Double
    ) throws {
        var policy = SwitchPolicy.recommended
        policy.detection.score?.calmSpan = nil
        let rules = CompiledPolicy(policy)
        var random = RandomSource(seed: 3)
        let runs = 300
        let total = (0..<runs).reduce(0) { sum, _ in
            var score = EvidenceScore(at: 0)
            return sum + ScoreTests.requestsToTrip(&score, rate: rate, rules, &random)
        }

        let mean = Double(total) / Double(runs)
        #expect(mean > expected * 0.8 && mean < expected * 1.25)
    }

    /// The mean number of requests from the first failure to the ejection of a server that was calm before.
    @Test(arguments: [(0.1, 25.0), (0.15, 15), (0.3, 7), (1, 2)])
    func `after many successes, the evidence score needs about half as many requests to reach its threshold`(
        rate: Double,
        expected: Double
    ) throws {
        var random = RandomSource(seed: 5)
        let rules = CompiledPolicy(.recommended)
        let total = (0..<500).reduce(0) { sum, _ in
            var score = EvidenceScore(at: 0)
            for _ in 0..<650 { score.lower(by: rules.successStep) }
            return sum + ScoreTests.requestsToTrip(&score, rate: rate, rules, &random)
        }

        let mean = Double(total) / 500
        #expect(mean > expected * 0.8 && mean < expected * 1.25)
    }

    @Test func `a server that fails 1 percent of its requests is not ejected within thousands of requests`() {
        var random = RandomSource(seed: 7)
        let rules = CompiledPolicy(.recommended)
        let total = (0..<50).reduce(0) { sum, _ in
            var score = EvidenceScore(at: 0)
            return sum + ScoreTests.requestsToTrip(&score, rate: 0.01, rules, &random)
        }

        #expect(total / 50 > 4000)
    }

    @Test func `one failure alone never brings the evidence score to its threshold`() {
        let rules = CompiledPolicy(.recommended)

        #expect(FailureKind.refused.weight * rules.failureStep(calm: .max) < rules.scoreThreshold)
    }

    @Test func `after an evidence score rises and returns to zero, a quarter of the earlier successes still counts`() {
        let rules = CompiledPolicy(.recommended)
        var score = EvidenceScore(at: 0)
        for _ in 0..<100 { score.lower(by: rules.successStep) }

        score.raise(by: 3, ceiling: 16)
        for _ in 0..<15 { score.lower(by: rules.successStep) }

        #expect(score.value == 0)
        #expect(score.calm == 25)
    }

    private static func requestsToTrip(
        _ score: inout EvidenceScore,
        rate: Double,
        _ rules: CompiledPolicy,
        _ random: inout RandomSource
    ) -> Int {
        var count = 0
        while score.value < rules.scoreThreshold {
            count += 1
            if random.unit() < rate {
                score.raise(by: rules.failureStep(calm: score.calm), ceiling: 16)
            } else {
                score.lower(by: rules.successStep)
            }
        }
        return count
    }

    @Test func `an evidence score of 6 decays to 3 within its half-life`() {
        var score = EvidenceScore(at: 0)
        score.raise(by: 6, ceiling: 16)

        score.decay(to: 600, halfLife: 600)

        #expect(abs(score.value - 3) < 1e-9)
    }

    @Test(arguments: [(4, 40, true), (9, 100, false), (10, 100, true), (3, 40, false), (4, 39, false)])
    func `the ratio rule triggers only with enough requests, errors and statistical confidence`(
        failures: Int,
        requests: Int,
        trips: Bool
    ) {
        #expect(RatioRule().isExceeded(failures: failures, of: requests) == trips)
    }

    @Test
    func `a ratio rule with a confidence bound triggers only above the error ratio that the sample size requires`() {
        let rule = RatioRule(confidenceFloor: 0.05)

        #expect(!rule.isExceeded(failures: 4, of: 40))
        #expect(rule.isExceeded(failures: 6, of: 40))
        #expect(rule.isExceeded(failures: 11, of: 100))
    }
}
