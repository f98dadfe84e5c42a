package import Foundation
import SwitchyardServices

/// The header field in which a server says when to come back (RFC 9110 section 10.2.3).
package enum RetryAfter {
    /// How long to stay away; `nil` when the field is missing or is neither a number of seconds nor a date.
    ///
    /// A date counts from the response's own `Date`, and its `Age` where a cache gives one, so that a clock of the device
    /// that is wrong does not matter. Only a response without a `Date` is measured by the device's clock. A date in the
    /// past is zero.
    package static func duration(in headers: HTTPHeaders, now: Date) -> Duration? {
        guard let text = headers["Retry-After"]?.trimmingCharacters(in: .whitespaces), !text.isEmpty else { return nil }
        if text.utf8.allSatisfy(\.isDigit) {
            return .seconds(min(Int64(text) ?? longest, longest))
        }
        guard let date = HTTPDate.date(from: text, now: now) else { return nil }
        let seconds = max(0, date.timeIntervalSince(sentTime(in: headers, now: now) ?? now))
        return .seconds(min(seconds, Double(longest)))
    }

    /// The time of the server's clock when the response was sent; `nil` when it does not say.
    private static func sentTime(in headers: HTTPHeaders, now: Date) -> Date? {
        guard let text = headers["Date"], let date = HTTPDate.date(from: text, now: now) else { return nil }
        let age = headers["Age"].flatMap { Int64($0.trimmingCharacters(in: .whitespaces)) } ?? 0
        return date.addingTimeInterval(Double(min(max(0, age), longest)))
    }

    /// A hundred years, which is as good as for ever.
    private static let longest: Int64 = 3_155_760_000
}
