import Testing

@testable import SwitchyardServices

/// The breaker sequences of resilience4j, Polly and gobreaker, as far as the notion exists here.
@Suite struct BreakerCaseTests {
    @Test func `resilience4j's sequences`() throws {
        try CaseFile("resilience4j_circuit_breaker").run { item in
            let config = item["config"]
            let rule = config["window"]
            let minimum = rule["minimumCalls"].int ?? rule["size"].int ?? 5
            let window =
                rule["type"].string == "count"
                ? WindowRule.last(rule["size"].int ?? 5) : .last(.seconds(rule["seconds"].double ?? 60))
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

    @Test func `Polly's sequences`() throws {
        try CaseFile("polly_circuit_breaker").run { item in
            let config = item["config"]
            let breaks = item["steps"].array.contains { $0["breaks"].bool == true }
            var policy = SwitchPolicy.consecutiveFailures(breaks ? 1 : 100)
            policy.detection.window = .last(.seconds(config["samplingDurationSeconds"].double ?? 60))
            return try BreakerCase(item).judge(policy, openFor: config["breakDurationSeconds"].double ?? 60, trial: 1)
        }
    }

    @Test func `gobreaker's sequences`() throws {
        try CaseFile("gobreaker").run { item in
            let config = item["config"]
            let isRatio = config["tripAfter"].string?.contains("ratio") == true
            let policy =
                isRatio
                ? SwitchPolicy.errorRatio(threshold: 0.6, minimum: 3, window: .last(.seconds(30)))
                : SwitchPolicy.consecutiveFailures(6)
            return try BreakerCase(item).judge(
                policy,
                openFor: config["timeoutSeconds"].double ?? 60,
                trial: config["maxRequestsHalfOpen"].int ?? 1
            )
        }
    }
}
