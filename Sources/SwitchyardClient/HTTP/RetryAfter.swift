import Foundation

/// The header field in which a server says when to come back (RFC 9110 section 10.2.3).
enum RetryAfter {
    /// How long to stay away; `nil` when the field is missing or is neither a number of seconds nor a date.
    ///
    /// A date in the past is zero.
    static func duration(in headers: HTTPHeaders, now: Date) -> Duration? {
        guard let text = headers["Retry-After"]?.trimmingCharacters(in: .whitespaces), !text.isEmpty else { return nil }
        if text.utf8.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }) {
            return .seconds(min(Int64(text) ?? longest, longest))
        }
        guard let date = date(text) else { return nil }
        let seconds = max(0, date.timeIntervalSince(now))
        return .seconds(min(seconds, Double(longest)))
    }

    /// A hundred years, which is as good as for ever.
    private static let longest: Int64 = 3_155_760_000

    private static func date(_ text: String) -> Date? {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        for format in ["EEE, dd MMM yyyy HH:mm:ss zzz", "EEEE, dd-MMM-yy HH:mm:ss zzz", "EEE MMM d HH:mm:ss yyyy"] {
            formatter.dateFormat = format
            if let date = formatter.date(from: text) { return date }
        }
        return nil
    }
}
