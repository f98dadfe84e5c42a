import Foundation
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardClient

/// Retry delays of other libraries.
@Suite struct BackoffCaseTests {
    private static func number(_ value: CaseValue?) -> Double? {
        if case .number(let text) = value { Double(text) } else { nil }
    }

    @Test func `backoff delays match Polly`() throws {
        let keys: CaseKeys = """
            type jitter baseSeconds maxSeconds random attempts delaySeconds
            expected expected_delays expected_greater_than expected_at_most expected_valid
            """
        try CaseFile("polly_retry").run(reading: keys) { item in
            if let valid = item["expected_valid"]?.bool {
                let extreme: Duration = item["delaySeconds"]?.string == "min" ? .seconds(-1e9) : .seconds(Int64.max / 2)
                let delay = Self.number(item["delaySeconds"]).map { Duration.seconds($0) } ?? extreme
                return .compare("\(Backoff.constant(delay).problem == nil)", "\(valid)")
            }
            guard ["constant", "linear", "exponential"].contains(item["type"]?.string) else {
                return .notApplicable("A nonexistent kind of growth cannot be expressed.")
            }
            let wish = item["expected"]?.string
            guard wish == nil || wish?.contains("largest") == true else {
                return .notApplicable("The expectation is described in prose and has no equivalent.")
            }
            let backoff = Self.backoff(item)
            let random = Self.number(item["random"]) ?? 0.5
            let delays = (item["attempts"]?.array?.compactMap(\.int) ?? []).map { attempt in
                backoff.delay(beforeRetry: attempt + 1, random: random).inSeconds
            }
            let above = Self.number(item["expected_greater_than"])
            let limit = Self.number(item["expected_at_most"])
            if above != nil || limit != nil {
                let isWithin = delays.allSatisfy { $0 > above ?? -1 && $0 <= limit ?? .infinity }
                return isWithin && !delays.isEmpty ? .passed : .failed("\(delays)")
            }
            guard let expected = item["expected_delays"]?.array?.compactMap({ Self.number($0) }) else {
                return !delays.isEmpty && delays.allSatisfy { $0 > 1e9 } ? .passed : .failed("\(delays)")
            }
            let isNear = delays.count == expected.count && zip(delays, expected).allSatisfy { abs($0 - $1) < 1e-6 }
            let longest = Self.number(item["maxSeconds"]) ?? .infinity
            let isScattered =
                (backoff.jitter == .full || backoff.jitter != .none && backoff.cap != nil)
                && delays.count == expected.count && expected.allSatisfy { $0 >= 0 && $0 <= longest }
            return (isNear ? .passed : CaseOutcome.failed("\(delays), expected \(expected)"))
                .or(
                    "Jitter also applies to the capped pause, so clients do not retry at the same time.",
                    if: isScattered
                )
        }
    }

    private static func backoff(_ item: CaseValue) -> Backoff {
        let base = Duration.seconds(number(item["baseSeconds"]) ?? 0)
        let cap = number(item["maxSeconds"]).map { Duration.seconds($0) }
        let isScattered = item["jitter"]?.bool ?? false
        switch item["type"]?.string {
        case "linear": return .linear(base, cap: cap, jitter: isScattered ? .spread(0.25) : .none)
        case "exponential": return .exponential(base: base, cap: cap, jitter: isScattered ? .full : .none)
        default:
            return Backoff(base: base, growth: .constant, cap: cap, jitter: isScattered ? .spread(0.25) : .none)
        }
    }

    @Test func `backoff intervals are validated and match resilience4j`() throws {
        let keys: CaseKeys = """
            function.kind function.intervalMs function.maxIntervalMs function.factor function.multiplier
            attempt attempts expected_error expected_strictly_increasing expected_range_ms expected_delays_ms
            """
        try CaseFile("resilience4j_intervals").run(reading: keys) { item in
            let function = item["function"]
            let kinds = ["constant", "randomized", "exponential", "exponentialRandom"]
            guard kinds.contains(function?["kind"]?.string ?? "") else {
                return .notApplicable("The kind of growth is unknown.")
            }
            if item["attempt"]?.int == 0, item["expected_error"]?.bool == true {
                let delays = [0, 1].map { Self.interval(function).delay(beforeRetry: $0, random: 0.5) }
                return delays[0] == delays[1]
                    ? .differs("Retry number 0 is treated as the first retry because invalid input does not trap.")
                    : .failed("\(delays)")
            }
            let backoff = Self.interval(function)
            if item["expected_error"] != nil {
                let isZero = [function?["intervalMs"]?.int, function?["maxIntervalMs"]?.int].contains(0)
                return .compare("\(backoff.problem != nil)", "\(item["expected_error"]?.bool ?? false)")
                    .or("A pause of zero is valid and ends immediately.", if: isZero)
            }
            return Self.values(backoff, item)
        }
    }

    /// The delays in milliseconds.
    private static func values(_ backoff: Backoff, _ item: CaseValue) -> CaseOutcome {
        let attempts = item["attempts"]?.array?.compactMap(\.int) ?? []
        let delays = { (random: Double) in
            attempts.map { backoff.delay(beforeRetry: $0, random: random).inSeconds * 1000 }
        }
        guard !attempts.isEmpty else { return .notApplicable("The case has no count.") }
        if let range = item["expected_range_ms"]?.array?.compactMap({ number($0) }), range.count == 2 {
            let isWithin = (delays(0) + delays(1)).allSatisfy { $0 >= range[0] - 1e-6 && $0 <= range[1] + 1e-6 }
            return isWithin ? .passed : .failed("\(delays(0)) to \(delays(1))")
        }
        if let expected = item["expected_delays_ms"]?.array?.compactMap({ number($0) }) {
            let actual = delays(0.5)
            let isNear = actual.count == expected.count && zip(actual, expected).allSatisfy { abs($0 - $1) < 1e-6 }
            return isNear ? .passed : .failed("\(actual), expected \(expected)")
        }
        guard item["expected_strictly_increasing"]?.bool == true else {
            return .notApplicable("The cases of Polly and AWS cover the values.")
        }
        return zip(delays(1), delays(1).dropFirst()).allSatisfy(<) ? .passed : .failed("\(delays(1))")
    }

    private static func interval(_ function: CaseValue?) -> Backoff {
        let base = Duration.milliseconds(function?["intervalMs"]?.int ?? 500)
        let cap = function?["maxIntervalMs"]?.int.map { Duration.milliseconds($0) }
        switch function?["kind"]?.string {
        case "constant": return .constant(base)
        case "randomized": return .constant(base, jitter: .spread(number(function?["factor"]) ?? 0.5))
        case "exponentialRandom":
            let growth = Backoff.Growth.exponential(factor: number(function?["multiplier"]) ?? 1.5)
            return Backoff(base: base, growth: growth, cap: cap, jitter: .spread(number(function?["factor"]) ?? 0.5))
        default:
            return .exponential(base: base, factor: number(function?["multiplier"]) ?? 1.5, cap: cap, jitter: .none)
        }
    }

    @Test func `retries follow selected rules of cenkalti/backoff, OkHttp and RFC 9110`() async throws {
        let keys: CaseKeys = """
            interval random randomization expected_interval elapsed config expected expected_intervals_ms
            config.initial config.initialMs config.multiplier config.maxInterval config.maxMs
            method body responses expected_bodies_sent expected_status expected_attempts
            retry_after now expected_delay_seconds
            """
        try await CaseFile("retry_misc").runAsync(reading: keys) { item in
            if let interval = Self.number(item["interval"]), let random = Self.number(item["random"]) {
                let backoff = Backoff.constant(
                    .seconds(interval),
                    jitter: .spread(Self.number(item["randomization"]) ?? 0)
                )
                let delay = backoff.delay(beforeRetry: 1, random: random).inSeconds
                // The reference intervals are whole numbers with equal shares, so the delays lie between the same
                // bounds.
                let expected = Double(item["expected_interval"]?.int ?? 0)
                return abs(delay - expected) < 1 ? .passed : .failed("\(delay), expected about \(expected)")
            }
            if let config = item["config"] { return Self.series(config, item) }
            if let responses = item["responses"]?.array { return try await Self.answers(responses, item) }
            if case .number(let text) = item["retry_after"] ?? .null { return Self.retryAfter(text, item) }
            if let text = item["retry_after"]?.string { return Self.retryAfter(text, item) }
            return .notApplicable("The deadline of the whole request ends retries, and a policy has no own deadline.")
        }
    }

    private static func retryAfter(_ text: String, _ item: CaseValue) -> CaseOutcome {
        let now = item["now"]?.string.flatMap { try? Date($0, strategy: .iso8601) } ?? Date()
        let delay = RetryAfter.duration(in: ["Retry-After": text], now: now)
        let expected = number(item["expected_delay_seconds"]).map { Duration.seconds($0) }
        return .compare(delay.map { "\($0)" }, expected.map { "\($0)" })
    }

    /// An exponential delay.
    ///
    /// The values may be fractions of the largest possible delay.
    private static func series(_ config: CaseValue, _ item: CaseValue) -> CaseOutcome {
        let largest = 9_000_000_000.0
        let figure = { (names: [String]) -> Double? in
            for name in names {
                if let number = number(config[name]) { return name.hasSuffix("Ms") ? number / 1000 : number }
                if let text = config[name]?.string, text.hasPrefix("max") {
                    return text == "max" ? largest : largest / 2
                }
            }
            return nil
        }
        guard let initial = figure(["initial", "initialMs"]), let cap = figure(["maxInterval", "maxMs"]) else {
            return .notApplicable("The case tests the defaults of another library.")
        }
        let factor = number(config["multiplier"]) ?? 1.5
        let backoff = Backoff.exponential(base: .seconds(initial), factor: factor, cap: .seconds(cap), jitter: .none)
        let expected = item["expected_intervals_ms"]?.array?.compactMap { number($0) }.map { $0 / 1000 }
        guard expected != nil || item["expected"]?.string?.contains("clamp") == true else {
            return .notApplicable("The case tests the value of a setting.")
        }
        let wanted = expected ?? [initial, cap]
        let delays = wanted.indices.map { backoff.delay(beforeRetry: $0 + 1, random: 1).inSeconds }
        let isNear = zip(delays, wanted).allSatisfy { abs($0 - $1) < 1e-6 }
        return isNear ? .passed : .failed("\(delays), expected \(wanted)")
    }

    // MARK: - Responses

    /// Sends a request with prepared responses through a client that retries once where OkHttp does.
    private static func answers(_ responses: [CaseValue], _ item: CaseValue) async throws -> CaseOutcome {
        if item["body"]?.string == "one-shot" { return .notApplicable("Every body can be recreated.") }
        guard !responses.isEmpty, responses.allSatisfy({ ($0.int ?? $0["status"]?.int) != nil }) else {
            return .notApplicable("The cases of urllib3 and Alamofire cover outcomes without a status.")
        }
        var policy = RetryPolicy(maximumRetries: 1, backoff: .constant(.zero))
        policy.statuses = [408, 503]
        policy.retryAfterCeiling = .zero
        let outcome = try await sent(responses, item, policy)
        guard case .failed = outcome else { return outcome }
        if try await sent(responses, item, policy, key: .automatic) == .passed {
            return .differs("A write without a key is never sent twice, even after a 408.")
        }
        return try await sent(responses, item, .never) == .passed
            ? .differs("The policy decides whether a 408 or a 503 is retried, with or without Retry-After.") : outcome
    }

    @Test func `a retry test case fails if the sent bodies differ from the expected bodies`() async throws {
        let text = #"{"method": "PUT", "body": "a", "responses": [503, 200], "expected_bodies_sent": ["a", "b"]}"#
        let item = try CaseReader.read(text)

        let outcome = try await Self.answers(item["responses"]?.array ?? [], item)

        #expect(outcome == .failed(#"sent ["a"], expected ["a", "b"]"#))
    }

    private static func sent(
        _ responses: [CaseValue],
        _ item: CaseValue,
        _ policy: RetryPolicy,
        key: IdempotencyKey = .none
    ) async throws -> CaseOutcome {
        let list = AnswerList(
            responses.map { response in
                let time = response["Retry-After"]
                let headers: HTTPHeaders = time.map { ["Retry-After": $0.string ?? "\($0.int ?? 0)"] } ?? [:]
                return .status(response.int ?? response["status"]?.int ?? 200, headers: headers)
            }
        )
        let (client, transport) = try NetworkClient.stubbed(options: { $0.retry = policy }) { list.answer($0) }
        var configuration = APIConfiguration(method: HTTPMethod(item["method"]?.string ?? "GET") ?? .get)
        if let body = item["body"]?.text { configuration.body = .text(body) }
        configuration.allowsUnusualBody = true
        configuration.idempotencyKey = key
        let status = try? await client.result(of: configuration).get().status
        let bodies = item["expected_bodies_sent"]?.array?.map { $0.text ?? "" }
        let wanted = item["expected_status"]?.int
        let attempts = item["expected_attempts"]?.int ?? bodies?.count ?? (wanted == nil ? responses.count : nil)
        let sent = transport.requests.map { EncodingCaseTests.text($0.body) ?? "" }
        if let bodies, sent != bodies { return .failed("sent \(sent), expected \(bodies)") }
        if let attempts, sent.count != attempts { return .failed("sent \(sent.count) times, expected \(attempts)") }
        if let wanted, status != wanted { return .failed("ended with \(status ?? 0), expected \(wanted)") }
        return .passed
    }
}
