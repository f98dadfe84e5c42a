import Foundation
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import Testing

@testable import SwitchyardClient

/// Retry decisions and delays of other libraries.
@Suite struct RetryCaseTests {
    // MARK: - Alamofire

    @Test func `retry decisions match Alamofire's retry policy`() throws {
        let keys: CaseKeys = """
            policy policy.kind policy.retryLimit policy.exponentialBackoffBase policy.exponentialBackoffScale
            policy.methods policy.statusCodes policy.urlErrorCodes
            method outcomes outcomes.status outcomes.error expected expected.retry expected.delay
            expected.retryLimit expected.exponentialBackoffBase expected.exponentialBackoffScale
            expected.methods expected.statusCodes expected.urlErrorCodes
            """
        try CaseFile("alamofire_retry").run(reading: keys) { item in
            guard item["outcomes"] != nil else { return try Self.alamofirePreset(item) }
            let settings = item["policy"]
            if let name = settings?.string, name != "default" {
                return .notApplicable("The name of the policy is unknown.")
            }
            guard settings?["urlErrorCodes"] == nil else {
                return .notApplicable("The errors of a system's loader have no equivalent.")
            }
            guard ["RetryPolicy", nil].contains(settings?["kind"]?.string) else {
                return .notApplicable("The name of the policy is unknown.")
            }
            var policy = RetryPolicy(
                maximumRetries: settings?["retryLimit"]?.int ?? 2,
                backoff: .exponential(
                    base: .seconds(settings?["exponentialBackoffScale"].flatMap(Self.number) ?? 0.5),
                    factor: Double(settings?["exponentialBackoffBase"]?.int ?? 2),
                    cap: nil,
                    jitter: .none
                )
            )
            if let list = settings?["statusCodes"]?.array { policy.statuses = Set(list.compactMap(\.int)) }
            if let list = settings?["methods"]?.array {
                policy.methods = Set(list.compactMap { HTTPMethod($0.string ?? "") })
            }
            let method = HTTPMethod(item["method"]?.string ?? "GET") ?? .get
            return Self.alamofireDecisions(item, method, policy)
        }
    }

    /// Decides after each outcome of a case.
    ///
    /// The outcomes are the rounds of one request.
    private static func alamofireDecisions(_ item: CaseValue, _ method: HTTPMethod, _ policy: RetryPolicy)
        -> CaseOutcome
    {
        var history: [DispatchContext.RoundRecord] = []
        var whole = CaseOutcome.passed
        let outcomes = item["outcomes"]?.array ?? []
        let isWrite = !method.isSafe
        guard !outcomes.isEmpty, outcomes.count == item["expected"]?.array?.count else {
            return .notApplicable("The case does not have exactly one decision for every outcome.")
        }
        for (outcome, expected) in zip(outcomes, item["expected"]?.array ?? []) {
            let kind = alamofireKind(outcome)
            let status = outcome["status"]?.int
            guard status != nil || kind != nil else {
                return .notApplicable("No transport reports an error of this kind.")
            }
            let failure = status == nil ? kind.map { TransportError($0, message: "") } : nil
            let round = RoundResult.sample(method: method, status: status, failure: failure, after: history)
            let isRetry = expected["retry"]?.bool ?? false
            let delay = expected["delay"].flatMap(number) ?? 0
            let verdict = judge(policy.decision(for: round, random: 1), isRetry: isRetry, delay: delay)
                .or("A rejected certificate would be rejected again.", if: kind == .certificateRejected && isRetry)
                .or("The responses 425 and 429 ask for a later retry.", if: [425, 429].contains(status) && !isRetry)
                .or("RFC 4918 section 11.5 defines 507 as temporary.", if: status == 507 && !isRetry)
                .or("An unknown 5xx status is treated as a 500 (RFC 9110 section 15).", if: status == 599 && !isRetry)
                .or("A write without a key is never sent twice, regardless of the policy.", if: isWrite && isRetry)
            // An intended difference applies to one decision only, not to later ones.
            if case .failed = verdict { return verdict }
            if whole == .passed { whole = verdict }
            history.append(DispatchContext.RoundRecord(round.result, round: history.count + 1))
        }
        return whole
    }

    @Test func `a retry test case with one intended difference still fails if a later decision is wrong`()
        throws
    {
        let text = #"{"outcomes": [{"status": 429}, {"status": 404}], "expected": [{"retry": false}, {"retry": true}]}"#

        let outcome = Self.alamofireDecisions(try CaseReader.read(text), .get, RetryPolicy())

        #expect(outcome == .failed("got false, expected true"))
    }

    private static func judge(_ decision: RetryDecision, isRetry: Bool, delay: Double) -> CaseOutcome {
        guard case .retry(let pause) = decision else { return .compare("false", "\(isRetry)") }
        guard isRetry else { return .compare("true", "false") }
        return .compare("\(pause)", "\(Duration.seconds(delay))")
    }

    private static func alamofireKind(_ outcome: CaseValue) -> TransportError.Kind? {
        let kinds: [String: TransportError.Kind] = [
            "networkConnectionLost": .connectionReset, "cannotConnectToHost": .connectionRefused,
            "cannotFindHost": .dnsFailure, "dnsLookupFailed": .dnsFailure, "secureConnectionFailed": .tlsFailure,
            "badServerResponse": .protocolViolation, "serverCertificateHasUnknownRoot": .certificateRejected,
            "serverCertificateHasBadDate": .certificateRejected, "serverCertificateNotYetValid": .certificateRejected,
            "serverCertificateUntrusted": .certificateRejected, "timedOut": .timeout,
            "notConnectedToInternet": .offline, "cannotDecodeContentData": .decodingFailed,
            "cannotDecodeRawData": .decodingFailed, "dataLengthExceedsMaximum": .bodyTooLarge, "unknown": .other,
        ]
        return outcome.string.flatMap { kinds[$0] }
    }

    private static func alamofirePreset(_ item: CaseValue) throws -> CaseOutcome {
        let settings = item["policy"]
        guard (settings?["kind"]?.string ?? settings?.string)?.hasPrefix("ConnectionLost") == true else {
            return .notApplicable("The case tests the settings of another library.")
        }
        let base = settings?["exponentialBackoffBase"]?.int ?? 2
        let scale = settings?["exponentialBackoffScale"].flatMap(number) ?? 0.5
        var policy = RetryPolicy.connectionLost(
            maximumRetries: settings?["retryLimit"]?.int ?? 2,
            backoff: .exponential(base: .seconds(scale), factor: Double(base), jitter: .none)
        )
        policy.methods = settings?["methods"]?.array.map { Set($0.compactMap { HTTPMethod($0.string ?? "") }) }
        let expected = item["expected"]
        let methods = expected?["methods"]?.array?.compactMap { HTTPMethod($0.string ?? "") } ?? []
        let isSame =
            policy.maximumRetries == expected?["retryLimit"]?.int && policy.statuses.isEmpty
            && expected?["statusCodes"]?.array?.isEmpty == true && policy.failures == [.connectionReset]
            && expected?["urlErrorCodes"]?.array?.compactMap(\.string) == ["networkConnectionLost"]
            && policy.methods.map { $0 == Set(methods) } ?? methods.allSatisfy(\.isIdempotent)
            && policy.backoff.base == expected?["exponentialBackoffScale"].flatMap(number).map { .seconds($0) }
            && policy.backoff.growth == .exponential(factor: Double(expected?["exponentialBackoffBase"]?.int ?? 0))
        return isSame ? .passed : .failed("another policy")
    }

    private static func number(_ value: CaseValue) -> Double? {
        if case .number(let text) = value { Double(text) } else { nil }
    }

    // MARK: - AWS

    @Test func `retry delays and the retry quota match the standard mode of the AWS SDKs`() throws {
        let keys: CaseKeys = """
            classifier status error_code expected header attempt attempts capacity steps expected_available
            backoff.base backoff.maxSeconds backoff.random expected_delays expected_range expected_delay_seconds
            steps.acquire steps.available steps.release_status steps.take steps.timeout steps.error
            maxAttempts maximumAttempts
            """
        try CaseFile("aws_standard_retry").run(reading: keys) { item in
            if item["classifier"] != nil { return Self.awsClass(item) }
            if item["header"] != nil { return .notApplicable("Retry-After is read, but no vendor-specific field.") }
            if item["capacity"] != nil { return Self.awsQuota(item) }
            let settings = item["backoff"]
            guard settings != nil else { return .notApplicable("The cases of urllib3 and Alamofire cover the limit.") }
            let backoff = Backoff.exponential(
                base: .seconds(settings?["base"].flatMap(Self.number) ?? 1),
                cap: .seconds(settings?["maxSeconds"].flatMap(Self.number) ?? 20)
            )
            if let range = item["expected_range"]?.array, let attempt = item["attempt"]?.int {
                let ends = [0, 1].map { backoff.delay(beforeRetry: attempt, random: $0).inSeconds }
                return Self.compare(ends, range.compactMap(Self.number))
            }
            let random = settings?["random"].flatMap(Self.number) ?? 1
            let attempts = item["attempts"]?.array?.compactMap(\.int) ?? []
            let delays = attempts.map { backoff.delay(beforeRetry: $0, random: random).inSeconds }
            return Self.compare(delays, item["expected_delays"]?.array?.compactMap(Self.number) ?? [])
        }
    }

    private static func compare(_ delays: [Double], _ expected: [Double]) -> CaseOutcome {
        let isNear = delays.count == expected.count && zip(delays, expected).allSatisfy { abs($0 - $1) < 1e-6 }
        return isNear ? .passed : .failed("\(delays), expected \(expected)")
    }

    private static func awsClass(_ item: CaseValue) -> CaseOutcome {
        guard ["throttling", "transient"].contains(item["classifier"]?.string) else {
            return .notApplicable("Vendor-specific error models are not read.")
        }
        let isExpected = item["expected"]?.bool ?? false
        guard let status = item["status"]?.int else {
            let error = TransportError(.connectionReset, message: "")
            let decision = RetryPolicy.standard.decision(for: .sample(failure: error), random: 0)
            return judge(decision, isRetry: isExpected, delay: 0)
        }
        let isNamed = item["error_code"]?.string != nil
        let asksForLess = item["classifier"]?.string != "transient" || [408, 425, 429].contains(status)
        return judge(
            RetryPolicy.standard.decision(for: .sample(status: status), random: 0),
            isRetry: isExpected,
            delay: 0
        )
        .or("A code in the body is specific to the app, so a retrying interceptor must read it.", if: isNamed)
        .or("All transient failures are one class, and Retry-After asks for fewer requests.", if: asksForLess)
    }

    private static func awsQuota(_ item: CaseValue) -> CaseOutcome {
        let steps = item["steps"]?.array ?? []
        let price = awsPrice(item, afterTimeout: false) ?? 5
        let budget = RetryBudget(
            capacity: item["capacity"]?.int ?? 0,
            cost: price,
            timeoutCost: awsPrice(item, afterTimeout: true) ?? 10
        )
        var seen: [Int] = []
        var taken: Int?
        for (index, step) in steps.enumerated() {
            let error = isTimeout(step) ? TransportError(.timeout, message: "") : nil
            if step["acquire"] != nil { taken = budget.take(after: error) }
            if let isGranted = step["acquire"]?.bool, isGranted != (taken != nil) {
                return .failed("step \(index + 1): \(isGranted ? "refused" : "granted")")
            }
            if let count = step["take"]?.int { (0..<count / price).forEach { _ in _ = budget.take() } }
            if let status = step["release_status"]?.int {
                if status < 400 { budget.refund(taken) }
                taken = nil
            }
            seen.append(budget.available)
        }
        return .compare("\(seen)", "\(item["expected_available"]?.array?.compactMap(\.int) ?? [])")
    }

    /// The tokens that one kind of retry takes.
    ///
    /// They are a setting, which the remaining quota of a case reveals.
    private static func awsPrice(_ item: CaseValue, afterTimeout: Bool) -> Int? {
        var before = item["capacity"]?.int
        for step in item["steps"]?.array ?? [] {
            let left = step["available"]?.int
            let isAsked = step["acquire"] != nil && step["acquire"]?.bool != false
            if isAsked, isTimeout(step) == afterTimeout, let before, let left { return max(1, before - left) }
            before = left ?? before
        }
        return nil
    }

    private static func isTimeout(_ step: CaseValue) -> Bool {
        step.members?.contains {
            $0.key == "timeout" && $0.value != .bool(false) || $0.value.string?.contains("imeout") == true
        } ?? false
    }

    // MARK: - urllib3

    @Test func `retry delays, retryable statuses and retry limits match urllib3`() throws {
        let keys: CaseKeys = """
            retry_after now status respectRetryAfter retryAfterMaxSeconds expected_delay_seconds expected_error
            statusList method allowedMethods expected_retry config config.connect config.read config.other
            config.status config.total config.backoffFactor config.backoffMax config.jitter config.redirect
            config.removeHeadersOnRedirect outcomes steps expected expected_delays expected_delay_ranges
            expected_removed_headers
            """
        try CaseFile("urllib3_retry").run(reading: keys) { item in
            if item["retry_after"] != nil { return Self.urllibRetryAfter(item) }
            if item["statusList"] != nil { return Self.urllibStatus(item) }
            if item["outcomes"] != nil { return Self.urllibLimits(item) }
            if item["config"]?.members?.contains(where: { $0.key.hasPrefix("remove") }) ?? false {
                return .notApplicable("Requests to the same origin are the same for all clients.")
            }
            if item["expected_removed_headers"] != nil {
                let names = item["expected_removed_headers"]?.array?.compactMap(\.string) ?? []
                return names.allSatisfy(HTTPHeaders.sensitiveNames.contains) ? .passed : .failed("kept")
            }
            return Self.urllibBackoff(item)
        }
    }

    private static func urllibBackoff(_ item: CaseValue) -> CaseOutcome {
        let config = item["config"]
        if config?["jitter"] != nil {
            return .differs("Jitter varies the pause downwards or around its value and is not added.")
        }
        guard let expected = item["expected_delays"]?.array?.compactMap(number), item["steps"] == nil else {
            return .notApplicable("The case tests the form of a history, which includes redirects.")
        }
        let base = config?["backoffFactor"].flatMap(number) ?? 0
        let cap = config?["backoffMax"].flatMap(number) ?? 120
        let backoff = Backoff.exponential(base: .seconds(base), cap: .seconds(cap), jitter: .none)
        // The first two delays are for the first request and an immediate retry. The third one is the second power.
        let delays = (2..<max(2, expected.count)).map { backoff.delay(beforeRetry: $0, random: 1).inSeconds }
        return compare(delays, Array(expected.dropFirst(2)))
    }

    private static func urllibRetryAfter(_ item: CaseValue) -> CaseOutcome {
        if item["expected_error"] != nil {
            let text = item["retry_after"]?.string ?? ""
            return .compare(RetryAfter.duration(in: ["Retry-After": text], now: Date()).map { "\($0)" }, nil)
        }
        var policy = RetryPolicy(backoff: .constant(.zero))
        let isRespected = item["respectRetryAfter"]?.bool ?? true
        policy.retryAfterCeiling = isRespected ? .seconds(86_400) : nil
        // If the case has no limit, urllib3 uses six hours.
        let limit = item["retryAfterMaxSeconds"]?.int ?? 21_600
        if item["retryAfterMaxSeconds"] != nil { policy.retryAfterCeiling = .seconds(limit) }
        let now = item["now"]?.string.flatMap { try? Date($0, strategy: .iso8601) } ?? Date()
        let round = RoundResult.sample(status: 503, headers: ["Retry-After": item["retry_after"]?.string ?? ""])
        let expected = item["expected_delay_seconds"]?.int ?? 0
        let asked = item["retry_after"]?.string.flatMap { Int($0) } ?? 0
        let decision = policy.decision(for: round, random: 0, now: now)
        let pause = if case .retry(let pause) = decision { "\(pause)" } else { "no retry" }
        return .compare(pause, "\(Duration.seconds(expected))")
            .or(
                "If a server asks for a longer pause than the maximum, the request is not retried earlier.",
                if: isRespected && asked > expected && expected == limit
            )
    }

    private static func urllibStatus(_ item: CaseValue) -> CaseOutcome {
        var policy = RetryPolicy(backoff: .constant(.zero))
        let ends = item["statusList"]?.string?.split(separator: "-").compactMap { Int($0) } ?? [500, 599]
        guard ends.count == 2, ends[0] <= ends[1] else { return .notApplicable("The list is described in prose.") }
        policy.statuses = Set(item["statusList"]?.array?.compactMap(\.int) ?? Array(ends[0]...ends[1]))
        policy.methods = item["allowedMethods"]?.array.map { Set($0.compactMap { HTTPMethod($0.string ?? "") }) }
        let method = HTTPMethod(item["method"]?.string ?? "GET") ?? .get
        let decision = policy.decision(for: .sample(method: method, status: item["status"]?.int), random: 0)
        return judge(decision, isRetry: item["expected_retry"]?.bool ?? false, delay: 0)
            .or("A write without a key is never sent twice, regardless of the policy.", if: method == .post)
    }

    private static func urllibLimits(_ item: CaseValue) -> CaseOutcome {
        let config = item["config"]
        let total = config?["total"]
        guard total?.string == nil else { return .notApplicable("The limit is described in prose.") }
        let unset = total == .bool(false) ? 0 : total == .null ? .max : 10
        var policy = RetryPolicy(maximumRetries: total?.int ?? unset, backoff: .constant(.zero))
        if let limit = config?["connect"]?.int { policy.limits[.connect] = limit }
        if let limit = config?["read"]?.int { policy.limits[.read] = limit }
        if let limit = config?["other"]?.int { policy.limits[.other] = limit }
        if let limit = config?["status"]?.int { policy.limits[.status] = limit }
        policy.statuses = Set(400...599)
        let kinds: [String: TransportError.Kind] = [
            "connect timeout": .connectTimeout, "read timeout": .timeout, "POST read timeout": .timeout,
            "tls error": .tlsFailure, "error": .connectionReset,
        ]
        var history: [DispatchContext.RoundRecord] = []
        var decisions: [Bool] = []
        for outcome in item["outcomes"]?.array?.compactMap(\.string) ?? [] {
            guard kinds[outcome] != nil || outcome.hasPrefix("status") else {
                return .notApplicable("A redirect is not a retry, and other outcomes have no equivalent.")
            }
            let status = outcome.hasPrefix("status") ? Int(outcome.filter(\.isNumber)) : nil
            let error = status == nil ? TransportError(kinds[outcome] ?? .other, message: outcome) : nil
            let method: HTTPMethod = outcome.hasPrefix("POST") ? .post : .get
            let round = RoundResult.sample(method: method, status: status, failure: error, after: history)
            if case .retry = policy.decision(for: round, random: 0) {
                decisions.append(true)
            } else {
                decisions.append(false)
            }
            history.append(DispatchContext.RoundRecord(round.result, round: history.count + 1))
        }
        let expected = item["expected"]?.array?.compactMap(\.string).map { $0 == "retry" } ?? []
        return .compare("\(decisions)", "\(expected)")
    }
}
