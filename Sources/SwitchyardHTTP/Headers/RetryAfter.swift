package import Foundation
import SwitchyardServices

/// The field `Retry-After`, by which a server requests a delay before the next request (RFC 9110 section 10.2.3).
package enum RetryAfter {
    /// Returns the requested delay, or `nil` if the field is missing or is neither a number of seconds nor a date.
    ///
    /// The delay until a date is measured from the response's own `Date`, plus its `Age` if a cache has set it, so a
    /// wrong clock of the device has no effect. If the response has no `Date`, the device's clock is used. A date in
    /// the past returns zero.
    package static func duration(in headers: HTTPHeaders, now: Date) -> Duration? {
        guard let text = headers["Retry-After"]?.trimmingCharacters(in: .whitespaces), !text.isEmpty else { return nil }
        if text.utf8.allSatisfy(\.isDigit) {
            return .seconds(min(Int64(text) ?? longest, longest))
        }
        guard let date = HTTPDate.date(from: text, now: now) else { return nil }
        let seconds = max(0, date.timeIntervalSince(sentTime(in: headers, now: now) ?? now))
        return .seconds(min(seconds, Double(longest)))
    }

    /// Returns the time of the server's clock when the response was sent, or `nil` if it is unknown.
    package static func sentTime(in headers: HTTPHeaders, now: Date) -> Date? {
        guard let text = headers["Date"], let date = HTTPDate.date(from: text, now: now) else { return nil }
        let age = headers["Age"].flatMap { Int64($0.trimmingCharacters(in: .whitespaces)) } ?? 0
        return date.addingTimeInterval(Double(min(max(0, age), longest)))
    }

    /// The maximum delay in seconds: a hundred years.
    private static let longest: Int64 = 3_155_760_000
}
