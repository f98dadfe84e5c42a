import Testing

@testable import SwitchyardServices

/// The breaker sequences of resilience4j, Polly and gobreaker, as far as the notion exists here.
@Suite struct BreakerCaseTests {
    @Test func `resilience4j's sequences`() throws {
        try CaseFile.run("resilience4j_circuit_breaker", except: CaseNotes.resilience4j) { value in
            let window = WindowRule.last(.seconds(value["config"]["window"]["seconds"].double ?? 60))
            let policy = SwitchPolicy.errorRatio(threshold: 0.5, minimum: 5, window: window)
            var harness = try BreakerHarness(policy, openFor: value["config"]["waitInOpenSeconds"].double ?? 60)
            try BreakerCaseTests.run(value, &harness)
        }
    }

    @Test func `Polly's sequences`() throws {
        try CaseFile.run("polly_circuit_breaker", except: CaseNotes.polly) { value in
            let breaks = value["steps"].array.contains { $0["breaks"].bool == true }
            var policy = SwitchPolicy.consecutiveFailures(breaks ? 1 : 100)
            policy.detection.window = .last(.seconds(value["config"]["samplingDurationSeconds"].double ?? 60))
            var harness = try BreakerHarness(policy, openFor: value["config"]["breakDurationSeconds"].double ?? 60)
            try BreakerCaseTests.run(value, &harness)
        }
    }

    @Test func `gobreaker's sequences`() throws {
        try CaseFile.run("gobreaker", except: CaseNotes.gobreaker) { value in
            let config = value["config"]
            let isRatio = config["tripAfter"].string?.contains("ratio") == true
            let window = WindowRule.last(.seconds(30))
            let policy =
                isRatio
                ? SwitchPolicy.errorRatio(threshold: 0.6, minimum: 3, window: window)
                : SwitchPolicy.consecutiveFailures(6)
            var harness = try BreakerHarness(policy, openFor: config["timeoutSeconds"].double ?? 60)
            try BreakerCaseTests.run(value, &harness)
        }
    }

    @Test(arguments: [CaseNotes.resilience4j, CaseNotes.polly, CaseNotes.gobreaker, CaseNotes.envoy, CaseNotes.okhttp])
    func `every case that is not run says why`(notes: [String: CaseNote]) {
        #expect(notes.values.allSatisfy { $0.reason.hasSuffix(".") && $0.reason.count > 20 })
    }

    private static func run(_ value: CaseValue, _ harness: inout BreakerHarness) throws {
        let id = Comment(rawValue: value["id"].string ?? "")
        for step in value["steps"].array {
            var isPermitted: Bool?
            for _ in 0..<(step["times"].int ?? 1) { isPermitted = try perform(step, &harness) }
            check(step["expect"], harness, isPermitted, id)
        }
        if let state = value["expected_final_state"].string { #expect(harness.state == state, id) }
    }

    private static func perform(_ step: CaseValue, _ harness: inout BreakerHarness) throws -> Bool? {
        switch step["op"].string {
        case "success": try harness.complete(.ok)
        case "failure": try harness.complete(.failure(.http(500)))
        case "excluded": try harness.complete(.neutral)
        case "complete": try harness.complete(step["outcome"].string == "success" ? .ok : .failure(.http(500)))
        case "advance": harness.advance(step["seconds"].double ?? 0)
        case "acquire": return harness.acquire()
        case "reset": harness.reset()
        case "observe": break
        case "force" where step["to"].string == "open": harness.forceOpen()
        case "force" where step["to"].string == "half_open": harness.forceHalfOpen()
        case "force" where step["to"].string == "closed": harness.reset()
        default: Issue.record("unknown step \(step["op"].string ?? "")")
        }
        return nil
    }

    private static func check(_ expected: CaseValue, _ harness: BreakerHarness, _ isPermitted: Bool?, _ id: Comment) {
        if let state = expected["state"].string { #expect(harness.state == state, id) }
        if let permitted = expected["permitted"].bool { #expect(isPermitted == permitted, id) }
        if let seconds = expected["error"]["retryAfterSeconds"].double {
            #expect(abs((harness.retryAfter ?? 0) - seconds) < 1e-6, id)
        }
        let statistics = harness.statistics
        let counts = expected["counts"]
        // An ejection, and the switch back after it, start a fresh window; excluded outcomes are in neither count.
        if let requests = counts["requests"].int, let excluded = counts["exclusions"].int {
            #expect(statistics.requests == requests - excluded, id)
        }
        if let failures = counts["failures"].int ?? expected["metrics"]["failures"].int {
            #expect(statistics.failures == failures, id)
        }
        if let row = counts["consecutiveFailures"].int { #expect(statistics.consecutiveFailures == row, id) }
        if let requests = expected["throughput"].int ?? expected["metrics"]["buffered"].int {
            #expect(statistics.requests == requests, id)
        }
        if let rate = expected["failureRate"].double { #expect(statistics.errorRatio == rate, id) }
    }
}
