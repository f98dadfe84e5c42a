public import Foundation
import SwitchyardServices

/// The dates of header fields (RFC 9110 section 5.6.7).
public enum HTTPDate {
    static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// The date in the preferred form: `Sun, 06 Nov 1994 08:49:37 GMT`.
    ///
    /// `nil` outside the years 0 to 9999.
    public static func text(for date: Date) -> String? {
        let seconds = date.timeIntervalSince1970.rounded(.down)
        guard let iso = try? ParameterDateFormat.iso8601.text(for: Date(timeIntervalSince1970: seconds)) else {
            return nil
        }
        let digits = iso.split { "-T:Z".contains($0) }
        guard digits.count == 6, let month = Int(digits[1]), months.indices.contains(month - 1) else { return nil }
        let day = weekdays[weekday(of: date)]
        return "\(day), \(digits[2]) \(months[month - 1]) \(digits[0]) \(digits[3]):\(digits[4]):\(digits[5]) GMT"
    }

    /// The date that a header field holds, in any of the three forms or in one that comes close; `nil` for anything else.
    ///
    /// Of a form that comes close the name of the day is not looked at; a time zone other than GMT or UTC makes the date
    /// none. A year of two digits is no more than 50 years ahead.
    public static func date(from text: String) -> Date? {
        date(from: text, now: Date())
    }

    static func date(from text: String, now: Date) -> Date? {
        if let date = date(exactly: text, now: now) { return date }
        let last = text.split(separator: " ").last
        // The form of C's library ends with the year; a number with a sign is a time zone.
        let isYear = last.map { $0.utf8.count == 4 && $0.utf8.allSatisfy(\.isDigit) } ?? false
        guard isYear || last == "GMT" || last == "UTC" else { return nil }
        return CookieDate.parse(text) { year, digits in
            switch digits {
            case 2: latestYear(endingIn: year, asOf: now)
            case 4: year
            default: nil
            }
        }
    }

    /// The day of the week, from 0 for Sunday.
    static func weekday(of date: Date) -> Int {
        // Day 0 of the epoch was a Thursday.
        let day = Int((date.timeIntervalSince1970 / 86_400).rounded(.down))
        return ((day + 4) % 7 + 7) % 7
    }
}
