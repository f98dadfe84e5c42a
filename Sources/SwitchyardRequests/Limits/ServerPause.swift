package import Foundation
public import SwitchyardClient
package import SwitchyardHTTP
import SwitchyardServices

/// The pause that a server demands, in the header fields of a response, before the client sends more requests.
///
/// | field | meaning |
/// |---|---|
/// | `Backoff: 30` | 30 s, also in a successful response (Mozilla's services, Kinto) |
/// | `Retry-After`, with 429 and 503 | RFC 9110 section 10.2.3 |
/// | `RateLimit: "default";r=0;t=50` | 50 s, if `r` is 0 (draft-ietf-httpapi-ratelimit-headers) |
/// | `RateLimit: limit=100, remaining=0, reset=50` | 50 s, if `remaining` is 0 (draft 07) |
/// | `RateLimit-Remaining: 0`, `RateLimit-Reset: 50` | 50 s (before draft 07) |
/// | `X-RateLimit-Remaining: 0`, `X-RateLimit-Reset` | seconds, or a time as seconds or milliseconds since 1970 |
/// | `X-Rate-Limit-Remaining: 0`, `X-Rate-Limit-Reset` | seconds, or a time as seconds or milliseconds since 1970 |
package enum ServerPause {
    /// Returns the longest pause that a response requests, or `nil` if it requests no pause.
    ///
    /// - Parameters:
    ///   - status: The status of the response.
    ///   - headers: The header fields of the response. If a field contains the end of the pause as a date, the pause
    ///     is measured from the time in the `Date` field plus the `Age`, or from `now` if there is no `Date` field.
    ///   - now: The current date and time on this device.
    /// - Returns: The pause.
    package static func duration(status: Int, headers: HTTPHeaders, now: Date) -> Duration? {
        let now = RetryAfter.sentTime(in: headers, now: now) ?? now
        var pauses: [Duration?] = [headers["Backoff"].flatMap(number).map { .seconds($0) }, combined(headers, now)]
        if status == 429 || status == 503 { pauses.append(RetryAfter.duration(in: headers, now: now)) }
        for prefix in ["RateLimit", "X-RateLimit", "X-Rate-Limit"]
        where headers["\(prefix)-Remaining"].flatMap(number) == 0 {
            pauses.append(headers["\(prefix)-Reset"].flatMap(number).map { pause(to: $0, now) })
        }
        return pauses.compactMap { $0 }.filter { $0 > .zero }.max()
    }

    /// Returns the longest pause in the `RateLimit` field, which contains one or more policies.
    private static func combined(_ headers: HTTPHeaders, _ now: Date) -> Duration? {
        let policies = headers.values(of: "RateLimit").flatMap { line in
            // If the value contains `;`, commas separate policies. Otherwise commas separate the parameters of a single
            // policy.
            let parts = line.split(separator: ",")
            return line.contains(";") ? parts.map { $0.split(separator: ";") } : [parts]
        }
        return policies.compactMap { policy -> Duration? in
            let values = Dictionary(policy.compactMap(parameter)) { first, _ in first }
            guard (values["r"] ?? values["remaining"]) == 0 else { return nil }
            return (values["t"] ?? values["reset"]).map { pause(to: $0, now) }
        }.max()
    }

    private static func parameter(_ text: Substring) -> (String, Double)? {
        let parts = text.split(separator: "=", maxSplits: 1)
        guard parts.count == 2, let value = number(String(parts[1])) else { return nil }
        return (parts[0].trimmingCharacters(in: .whitespaces).lowercased(), value)
    }

    /// Returns the pause for a number.
    ///
    /// Depending on its size, the number means seconds from now, or a time in seconds or milliseconds since 1970.
    private static func pause(to value: Double, _ now: Date) -> Duration {
        switch value {
        case ..<1_000_000_000: .seconds(value)
        case ..<100_000_000_000: .seconds(max(0, value - now.timeIntervalSince1970))
        default: .seconds(max(0, value / 1_000 - now.timeIntervalSince1970))
        }
    }

    /// Returns the number in the text, or `nil` if it is invalid, negative or not below 10¹⁵.
    private static func number(_ text: String) -> Double? {
        let number = Double(text.trimmingCharacters(in: .whitespaces))
        return number.flatMap { $0 >= 0 && $0 < 1e15 ? $0 : nil }
    }
}

extension RequestInterceptor {
    /// Returns an interceptor that pauses a limit for as long as a response requests, even if the response is
    /// successful.
    ///
    ///     let limit = RateLimit(.unlimited)
    ///     options.limits = [limit]
    ///     options.interceptors = [.pausing(limit)]
    ///
    /// The interceptor reads `Backoff`, `RateLimit`, `RateLimit-Remaining` with `RateLimit-Reset`, the same fields with
    /// the prefix `X-`, and `Retry-After` of 429 and 503 responses. Requests that are already running continue.
    ///
    /// - Parameters:
    ///   - limit: The limit to pause, which must be among the limits of the client or the call.
    ///   - longest: The maximum length of a pause, an hour by default.
    /// - Returns: The interceptor.
    public static func pausing(_ limit: RateLimit, atMost longest: Duration = .seconds(3_600)) -> RequestInterceptor {
        .retrying("pauses") { round in
            guard case .success(let response) = round.result,
                let pause = ServerPause.duration(status: response.status, headers: response.headers, now: Date())
            else { return .undecided }
            limit.pause(until: round.context.time.now.advanced(by: min(pause, longest)))
            return .undecided
        }
    }
}
