import Testing

@testable import SwitchyardServices

/// Circuit breaker sequences of resilience4j, Polly and gobreaker, where the core has the feature.
@Suite struct BreakerCaseTests {
    @Test func `the switching core handles the circuit breaker sequences of resilience4j`() throws {
        let settings = """
            config.failureRateThreshold config.permittedCallsInHalfOpen config.slowCallDurationThresholdSeconds
            config.slowCallRateThreshold config.maxWaitInHalfOpenSeconds config.stateAfterHalfOpenTimeout
            config.waitInOpenSeconds config.waitInOpen.exponentialBackoffMs config.waitInOpen.multiplier
            config.ignoredErrors config.initialState
            config.window.type config.window.size config.window.seconds config.window.minimumCalls
            """
        try CaseFile("resilience4j_circuit_breaker").run(reading: CaseKeys(settings, BreakerCase.keys)) { item in
            let config = item["config"]
            let rule = config["window"]
            let minimum = rule["minimumCalls"].int ?? rule["size"].int ?? 5
            guard max(minimum, rule["size"].int ?? 1) <= SwitchPolicy.Window.maximumCount else {
                return .notApplicable("A window holds at most \(SwitchPolicy.Window.maximumCount) outcomes.")
            }
            let window =
                rule["type"].string == "count"
                ? SwitchPolicy.Window.last(rule["size"].int ?? 5) : .last(.seconds(rule["seconds"].double ?? 60))
            let policy = SwitchPolicy.errorRatio(
                threshold: (config["failureRateThreshold"].double ?? 50) / 100,
                minimum: minimum,
                window: window
            )
            let wait = config["waitInOpen"]["exponentialBackoffMs"].double.map { $0 / 1000 }
            return try BreakerCase(item).judge(
                policy,
                openFor: wait ?? config["waitInOpenSeconds"].double ?? 60,
                trial: config["permittedCallsInHalfOpen"].int ?? 1
            )
        }
    }

    @Test func `the switching core handles the circuit breaker sequences of Polly`() throws {
        let settings = """
            config.breakDurationSeconds config.breakDuration config.samplingDurationSeconds config.windows
            """
        try CaseFile("polly_circuit_breaker").run(reading: CaseKeys(settings, BreakerCase.keys)) { item in
            let config = item["config"]
            guard let row = Self.failuresToBreak(item) else {
                return .notApplicable("A fixed rule for all servers defines how many failures are too many.")
            }
            var policy = SwitchPolicy.consecutiveFailures(row)
            policy.detection.window = .last(.seconds(config["samplingDurationSeconds"].double ?? 60))
            return try BreakerCase(item).judge(policy, openFor: config["breakDurationSeconds"].double ?? 60, trial: 1)
        }
    }

    /// The number of consecutive failures after which the breaker of a case opens; `nil` if it varies or if fewer
    /// failures can open the breaker.
    private static func failuresToBreak(_ item: CaseValue) -> Int? {
        var rows: Set<Int> = []
        var row = 0
        var longest = 0
        for step in item["steps"].array {
            if let breaks = step["breaks"].bool {
                row += step["times"].int ?? 1
                if breaks { rows.insert(row) } else { longest = max(longest, row) }
                if breaks { row = 0 }
            } else if !["observe", "advance", "acquire"].contains(step["op"].string) {
                row = 0
            }
        }
        let limit = rows.first ?? max(100, longest + 1)
        return rows.count > 1 || longest >= limit ? nil : limit
    }

    @Test func `the switching core handles the circuit breaker sequences of gobreaker`() throws {
        let settings = """
            config.maxRequestsHalfOpen config.intervalSeconds config.timeoutSeconds config.tripAfter
            config.excludedErrorsAreNeutral config.everythingIsSuccess config.bucketSeconds config.window
            """
        try CaseFile("gobreaker").run(reading: CaseKeys(settings, BreakerCase.keys)) { item in
            let config = item["config"]
            guard var policy = Self.policy(trippingAfter: config["tripAfter"].string) else {
                return .notApplicable("The case limits failures neither by a consecutive count nor by a ratio.")
            }
            let interval = config["intervalSeconds"].double ?? 0
            policy.detection.window = interval > 0 ? .last(.seconds(interval)) : .last(SwitchPolicy.Window.maximumCount)
            return try BreakerCase(item).judge(
                policy,
                openFor: config["timeoutSeconds"].double ?? 60,
                trial: config["maxRequestsHalfOpen"].int ?? 1
            )
        }
    }

    /// The policy for a trip rule of gobreaker; more than five consecutive failures by default.
    private static func policy(trippingAfter rule: String?) -> SwitchPolicy? {
        guard let rule else { return .consecutiveFailures(6) }
        if let match = rule.wholeMatch(of: /more than (\d+) consecutive failures/), let row = Int(match.1) {
            return .consecutiveFailures(row + 1)
        }
        guard let match = rule.wholeMatch(of: /at least (\d+) counted requests and failure ratio >= (\d\.\d+)/),
            let minimum = Int(match.1), let threshold = Double(match.2), minimum <= SwitchPolicy.Window.maximumCount
        else { return nil }
        return .errorRatio(threshold: threshold, minimum: minimum, window: .last(SwitchPolicy.Window.maximumCount))
    }
}
