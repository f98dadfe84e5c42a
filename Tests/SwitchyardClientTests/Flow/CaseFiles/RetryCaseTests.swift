import Foundation
import SwitchyardServices
import Testing

@testable import SwitchyardClient

/// Retry decisions and pauses of other libraries.
@Suite struct RetryCaseTests {
    // MARK: - Alamofire (K7, K8)

    @Test func `the decisions are those of Alamofire's policy`() throws {
        try CaseFile("alamofire_retry").run { item in
            guard let outcome = item["outcomes"]?.array?.first else { return try Self.alamofirePreset(item) }
            let isRetry = item["expected"]?.array?.first?["retry"]?.bool ?? false
            let method = HTTPMethod(item["method"]?.string ?? "GET") ?? .get
            let policy = RetryPolicy(backoff: .exponential(base: .milliseconds(500), factor: 2, jitter: .none))
            guard let status = outcome["status"]?.int else {
                return Self.alamofireFailure(outcome.string ?? "", method, policy, isRetry)
            }
            let decision = policy.decision(for: .sample(method: method, status: status), random: 1)
            return Self.judge(decision, isRetry: isRetry, delay: 0.5)
        }
    }

    private static func judge(_ decision: RetryDecision, isRetry: Bool, delay: Double) -> CaseOutcome {
        guard case .retry(let pause) = decision else { return .compare("false", "\(isRetry)") }
        guard isRetry else { return .compare("true", "false") }
        return .compare("\(pause)", "\(Duration.seconds(delay))")
    }

    private static func alamofireFailure(
        _ name: String,
        _ method: HTTPMethod,
        _ policy: RetryPolicy,
        _ isRetry: Bool
    ) -> CaseOutcome {
        let kinds: [String: TransportError.Kind] = [
            "networkConnectionLost": .connectionReset, "cannotConnectToHost": .connectionRefused,
            "cannotFindHost": .dnsFailure, "dnsLookupFailed": .dnsFailure, "secureConnectionFailed": .tlsFailure,
            "badServerResponse": .protocolViolation, "serverCertificateHasUnknownRoot": .certificateRejected,
            "serverCertificateHasBadDate": .certificateRejected, "serverCertificateNotYetValid": .certificateRejected,
            "cannotDecodeContentData": .decodingFailed, "dataLengthExceedsMaximum": .bodyTooLarge, "unknown": .other,
        ]
        guard let kind = kinds[name] else {
            return .notApplicable("No transport here gives an error of this kind.")
        }
        let error = TransportError(kind, message: name)
        let outcome = judge(
            policy.decision(for: .sample(method: method, failure: error), random: 1),
            isRetry: isRetry,
            delay: 0.5
        )
        return outcome.or("A certificate that is refused is refused again.", if: kind == .certificateRejected)
    }

    private static func alamofirePreset(_ item: JSONValue) throws -> CaseOutcome {
        let settings = item["policy"]
        let base = settings?["exponentialBackoffBase"]?.int ?? 2
        let scale = settings?["exponentialBackoffScale"].flatMap(number) ?? 0.5
        var policy = RetryPolicy.connectionLost(
            maximumRetries: settings?["retryLimit"]?.int ?? 2,
            backoff: .exponential(base: .seconds(scale), factor: Double(base), jitter: .none)
        )
        policy.methods = settings?["methods"]?.array.map { Set($0.compactMap { HTTPMethod($0.string ?? "") }) }
        let expected = item["expected"]
        let isSame =
            policy.maximumRetries == expected?["retryLimit"]?.int && policy.statuses.isEmpty
            && policy.failures == [.connectionReset]
            && policy.backoff.growth == .exponential(factor: Double(expected?["exponentialBackoffBase"]?.int ?? 0))
        return isSame ? .passed : .failed("another policy")
    }

    private static func number(_ value: JSONValue) -> Double? {
        if case .number(let text) = value { Double(text) } else { nil }
    }

    // MARK: - AWS (K15)

    @Test func `back-off and quota are those of the AWS standard mode`() throws {
        try CaseFile("aws_standard_retry").run { item in
            if item["classifier"] != nil { return Self.awsClass(item) }
            if item["header"] != nil { return .notApplicable("Retry-After is read, no field of one vendor's.") }
            if item["capacity"] != nil { return Self.awsQuota(item) }
            let backoff = Backoff.exponential(base: .seconds(1), cap: .seconds(20))
            if let range = item["expected_range"]?.array, let attempt = item["attempt"]?.int {
                let low = backoff.delay(beforeRetry: attempt, random: 0)
                let high = backoff.delay(beforeRetry: attempt, random: 1)
                let expected = range.compactMap(\.int).map { Duration.seconds($0) }
                return .compare("\([low, high])", "\(expected)")
            }
            let attempts = item["attempts"]?.array?.compactMap(\.int) ?? []
            let delays = attempts.map { backoff.delay(beforeRetry: $0, random: 1) }
            let expected = item["expected_delays"]?.array?.compactMap(\.int).map { Duration.seconds($0) }
            return .compare("\(delays)", "\(expected ?? [])")
        }
    }

    private static func awsClass(_ item: JSONValue) -> CaseOutcome {
        let isExpected = item["expected"]?.bool ?? false
        if item["error_code"]?.string == "connection error" {
            let error = TransportError(.connectionReset, message: "")
            return judge(
                RetryPolicy.standard.decision(for: .sample(failure: error), random: 0),
                isRetry: true,
                delay: 0
            )
        }
        let isNamed = item["error_code"]?.string != nil
        let decision = RetryPolicy.standard.decision(for: .sample(status: item["status"]?.int), random: 0)
        return judge(decision, isRetry: isExpected, delay: 0)
            .or("A code in the body is the app's vocabulary; a retrying interceptor reads it.", if: isNamed)
    }

    private static func awsQuota(_ item: JSONValue) -> CaseOutcome {
        let budget = RetryBudget(capacity: item["capacity"]?.int ?? 0)
        var seen: [Int] = []
        var taken: Int?
        for step in item["steps"]?.array ?? [] {
            if step["acquire"] != nil { taken = budget.take() }
            if let count = step["take"]?.int { (0..<count / 5).forEach { _ in _ = budget.take() } }
            if let status = step["release_status"]?.int, status < 400 { budget.refund(taken) }
            seen.append(budget.available)
        }
        return .compare("\(seen)", "\(item["expected_available"]?.array?.compactMap(\.int) ?? [])")
    }

    // MARK: - urllib3 (K15)

    @Test func `Retry-After, statuses and limits are those of urllib3`() throws {
        try CaseFile("urllib3_retry").run { item in
            if item["retry_after"] != nil { return Self.urllibRetryAfter(item) }
            if item["statusList"] != nil { return Self.urllibStatus(item) }
            if item["outcomes"] != nil { return Self.urllibLimits(item) }
            if item["expected_removed_headers"] != nil {
                let names = item["expected_removed_headers"]?.array?.compactMap(\.string) ?? []
                return names.allSatisfy(HTTPHeaders.sensitiveNames.contains) ? .passed : .failed("kept")
            }
            if item["config"]?["jitter"] != nil {
                return .differs("Jitter is spread below or around the pause, not added to it.")
            }
            // Their first retry has no pause, and their series begins with the second power.
            let backoff = Backoff.exponential(base: .milliseconds(200), cap: .seconds(1), jitter: .none)
            let delays = (2...5).map { backoff.delay(beforeRetry: $0, random: 1) }
            let expected = [0.4, 0.8, 1, 1].map { Duration.seconds($0) }
            return .compare("\(delays)", "\(expected)")
        }
    }

    private static func urllibRetryAfter(_ item: JSONValue) -> CaseOutcome {
        var policy = RetryPolicy(backoff: .constant(.zero))
        let isRespected = item["respectRetryAfter"]?.bool ?? true
        policy.retryAfterCeiling = isRespected ? .seconds(86_400) : nil
        if let limit = item["retryAfterMaxSeconds"]?.int { policy.retryAfterCeiling = .seconds(limit) }
        let now = item["now"]?.string.flatMap { try? Date($0, strategy: .iso8601) } ?? Date()
        let round = EndedRound.sample(status: 503, headers: ["Retry-After": item["retry_after"]?.string ?? ""])
        guard case .retry(let pause) = policy.decision(for: round, random: 0, now: now) else {
            return .differs("A server that asks for more than the ceiling is not asked again earlier than it wants.")
        }
        return .compare("\(pause)", "\(Duration.seconds(item["expected_delay_seconds"]?.int ?? 0))")
    }

    private static func urllibStatus(_ item: JSONValue) -> CaseOutcome {
        var policy = RetryPolicy(backoff: .constant(.zero))
        policy.statuses = Set(item["statusList"]?.array?.compactMap(\.int) ?? Array(500...599))
        policy.methods = item["allowedMethods"]?.array.map { Set($0.compactMap { HTTPMethod($0.string ?? "") }) }
        let method = HTTPMethod(item["method"]?.string ?? "GET") ?? .get
        let decision = policy.decision(for: .sample(method: method, status: item["status"]?.int), random: 0)
        return judge(decision, isRetry: item["expected_retry"]?.bool ?? false, delay: 0)
            .or("A write without a key is never sent twice, whatever the policy names.", if: method == .post)
    }

    private static func urllibLimits(_ item: JSONValue) -> CaseOutcome {
        let config = item["config"]
        var policy = RetryPolicy(maximumRetries: config?["total"]?.int ?? 10, backoff: .constant(.zero))
        if let limit = config?["connect"]?.int { policy.limits[.connect] = limit }
        if let limit = config?["read"]?.int { policy.limits[.read] = limit }
        if let limit = config?["other"]?.int { policy.limits[.other] = limit }
        let kinds: [String: TransportError.Kind] = [
            "connect timeout": .connectTimeout, "read timeout": .timeout, "POST read timeout": .timeout,
            "tls error": .tlsFailure, "error": .connectionReset,
        ]
        var history: [RoundRecord] = []
        var decisions: [Bool] = []
        for outcome in item["outcomes"]?.array?.compactMap(\.string) ?? [] {
            let error = TransportError(kinds[outcome] ?? .other, message: outcome)
            let method: HTTPMethod = outcome.hasPrefix("POST") ? .post : .get
            let round = EndedRound.sample(method: method, failure: error, after: history)
            if case .retry = policy.decision(for: round, random: 0) {
                decisions.append(true)
            } else {
                decisions.append(false)
            }
            history.append(RoundRecord(round.result, round: history.count + 1))
        }
        let expected = item["expected"]?.array?.compactMap(\.string).map { $0 == "retry" } ?? []
        return .compare("\(decisions)", "\(expected)")
    }
}
