import Foundation
import SwitchyardServices
import Testing

@testable import SwitchyardClient

/// Pauses of other libraries.
@Suite struct BackoffCaseTests {
    private static func number(_ value: JSONValue?) -> Double? {
        if case .number(let text) = value { Double(text) } else { nil }
    }

    @Test func `pauses grow as Polly's do`() throws {
        try CaseFile("polly_retry").run { item in
            if let valid = item["expected_valid"]?.bool {
                let delay = Self.number(item["delaySeconds"]).map { Duration.seconds($0) } ?? .seconds(Int64.max / 2)
                return .compare("\(Backoff.constant(delay).problem == nil)", "\(valid)")
            }
            let backoff = Self.backoff(item)
            let random = Self.number(item["random"]) ?? 0.5
            let delays = (item["attempts"]?.array?.compactMap(\.int) ?? []).map { attempt in
                backoff.delay(beforeRetry: attempt + 1, random: random).inSeconds
            }
            if let above = Self.number(item["expected_greater_than"]) {
                let limit = Self.number(item["expected_at_most"]) ?? .infinity
                return delays.allSatisfy { $0 > above && $0 <= limit } ? .passed : .failed("\(delays)")
            }
            guard let expected = item["expected_delays"]?.array?.compactMap({ Self.number($0) }) else {
                return delays.allSatisfy { $0 > 1e9 } ? .passed : .failed("\(delays)")
            }
            let isNear = zip(delays, expected).allSatisfy { abs($0 - $1) < 1e-6 }
            return isNear ? .passed : .failed("\(delays), expected \(expected)")
        }
    }

    private static func backoff(_ item: JSONValue) -> Backoff {
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

    @Test func `intervals are checked and grow as those of resilience4j`() throws {
        try CaseFile("resilience4j_intervals").run { item in
            let function = item["function"]
            if item["attempt"]?.int == 0 {
                return .differs("A retry counted from 0 is the first one; user input does not trap.")
            }
            if item["expected_error"] != nil {
                let backoff = Self.interval(function)
                return .compare("\(backoff.problem != nil)", "\(item["expected_error"]?.bool ?? false)")
            }
            let backoff = Self.interval(function)
            let delays = (item["attempts"]?.array?.compactMap(\.int) ?? []).map {
                backoff.delay(beforeRetry: $0, random: 1)
            }
            return zip(delays, delays.dropFirst()).allSatisfy(<) ? .passed : .failed("\(delays)")
        }
    }

    private static func interval(_ function: JSONValue?) -> Backoff {
        let base = Duration.milliseconds(function?["intervalMs"]?.int ?? 500)
        let cap = function?["maxIntervalMs"]?.int.map { Duration.milliseconds($0) }
        switch function?["kind"]?.string {
        case "constant": return .constant(base)
        case "randomized": return .constant(base, jitter: .spread(number(function?["factor"]) ?? 0.5))
        default:
            return .exponential(base: base, factor: number(function?["multiplier"]) ?? 1.5, cap: cap, jitter: .none)
        }
    }

    @Test func `single facts of cenkalti, OkHttp and RFC 9110 hold`() throws {
        try CaseFile("retry_misc").run { item in
            if let interval = Self.number(item["interval"]), let random = Self.number(item["random"]) {
                let backoff = Backoff.constant(
                    .seconds(interval),
                    jitter: .spread(Self.number(item["randomization"]) ?? 0)
                )
                let delay = backoff.delay(beforeRetry: 1, random: random).inSeconds
                // Their intervals are whole numbers.
                return .compare("\(Int(delay.rounded()))", "\(item["expected_interval"]?.int ?? 0)")
            }
            switch item["id"]?.string {
            case "cenkalti-max-elapsed":
                return .notApplicable("The deadline of the whole request ends retries, not a policy's own.")
            case "cenkalti-overflow":
                let largest = Duration.seconds(9_000_000_000)
                let backoff = Backoff.exponential(base: largest / 2, factor: 2.1, cap: largest, jitter: .none)
                return .compare("\(backoff.delay(beforeRetry: 2, random: 1))", "\(largest)")
            case "okhttp-408-body-resent":
                return .differs("A write without a key is never sent twice, not even after a 408.")
            case "okhttp-503-one-shot-body":
                return .notApplicable("Every body can be made anew.")
            default:
                let now = item["now"]?.string.flatMap { try? Date($0, strategy: .iso8601) } ?? Date()
                let headers: HTTPHeaders = ["Retry-After": item["retry_after"]?.string ?? ""]
                let delay = RetryAfter.duration(in: headers, now: now)
                return .compare("\(delay ?? .zero)", "\(Duration.seconds(item["expected_delay_seconds"]?.int ?? 0))")
            }
        }
    }
}
