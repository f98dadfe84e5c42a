package import Foundation
import SwitchyardServices

/// A parser and formatter for the dates of header fields (RFC 9110 section 5.6.7).
package enum HTTPDate {
    static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Returns the date in the preferred format `Sun, 06 Nov 1994 08:49:37 GMT`, or `nil` outside the years 0 to 9999.
    package static func text(for date: Date) -> String? {
        let seconds = date.timeIntervalSince1970.rounded(.down)
        guard let iso = try? ISODate.text(Date(timeIntervalSince1970: seconds), milliseconds: false)
        else {
            return nil
        }
        let digits = iso.split { "-T:Z".contains($0) }
        guard digits.count == 6, let month = Int(digits[1]), months.indices.contains(month - 1) else { return nil }
        let day = weekdays[weekday(of: date)]
        return "\(day), \(digits[2]) \(months[month - 1]) \(digits[0]) \(digits[3]):\(digits[4]):\(digits[5]) GMT"
    }

    /// Returns the date in a header field, in one of the three formats of RFC 9110 or in a similar format, or `nil` if
    /// the text is not a date.
    ///
    /// In a similar format, the name of the weekday is ignored. A time zone other than GMT or UTC is invalid. A year of
    /// two digits is at most 50 years in the future.
    package static func date(from text: String) -> Date? {
        date(from: text, now: Date())
    }

    static func date(from text: String, now: Date) -> Date? {
        if let date = date(exactly: text, now: now) { return date }
        let last = text.split(separator: " ").last
        // The last word must be the year, as in the asctime format, or the time zone GMT or UTC. A number with a
        // sign is another time zone.
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

    /// Returns the day of the week, from 0 for Sunday.
    static func weekday(of date: Date) -> Int {
        // Day 0 of the epoch was a Thursday.
        let day = Int((date.timeIntervalSince1970 / 86_400).rounded(.down))
        return ((day + 4) % 7 + 7) % 7
    }
}

extension HTTPDate {
    private static let lowerMonths = months.map { $0.lowercased() }
    private static let days = weekdays.map { $0.lowercased() }
    private static let longDays = [
        "sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday",
    ]

    /// Returns the date if the text strictly follows one of the three formats of RFC 9110, otherwise `nil`.
    ///
    /// The names of days and months may be in any case. Caches use this method, because they treat an `Expires` date
    /// in any other format as a time in the past (RFC 9111 section 5.3).
    ///
    /// - Parameters:
    ///   - text: The value of the field.
    ///   - now: The current time, which determines the century of a two-digit year.
    /// - Returns: The date, or `nil`.
    package static func date(exactly text: String, now: Date = Date()) -> Date? {
        let parts = text.lowercased().split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        if parts.count == 6 || parts.count == 5, days.contains(parts[0]) { return asctime(parts) }
        guard let day = parts.first, day.hasSuffix(","), parts.last == "gmt" else { return nil }
        if parts.count == 6, days.contains(String(day.dropLast())) { return fixdate(parts) }
        guard parts.count == 4, let weekday = longDays.firstIndex(of: String(day.dropLast())) else { return nil }
        return rfc850(parts, on: weekday, now: now)
    }

    /// Parses the preferred format, IMF-fixdate: `Sun, 06 Nov 1994 08:49:37 GMT`.
    private static func fixdate(_ parts: [String]) -> Date? {
        guard parts[1].utf8.count == 2, parts[3].utf8.count == 4 else { return nil }
        return date(year: number(parts[3]), month: parts[2], day: number(parts[1]), time: parts[4])
    }

    /// Parses the obsolete RFC 850 format: `Sunday, 06-Nov-94 08:49:37 GMT`.
    ///
    /// A date more than 50 years in the future is moved to the previous century. A date in the future is also moved if
    /// its weekday is correct only in the previous century, because many servers write `Thursday, 01-Jan-70` for an
    /// expired date.
    private static func rfc850(_ parts: [String], on weekday: Int, now: Date) -> Date? {
        let day = parts[1].split(separator: "-").map(String.init)
        guard day.count == 3, day[0].utf8.count == 2, day[2].utf8.count == 2, let short = number(day[2]) else {
            return nil
        }
        let year = latestYear(endingIn: short, asOf: now)
        let dates = [year, year - 100].compactMap { year in
            date(year: year, month: day[1], day: number(day[0]), time: parts[2])
        }
        let possible = dates.filter { $0.timeIntervalSince(now) <= 50 * secondsInYear }
        let isAhead = possible.first.map { $0 > now } ?? false
        return (isAhead ? possible.first { self.weekday(of: $0) == weekday } : nil) ?? possible.first
    }

    /// Returns the latest year that ends in the two digits and is at most 50 years in the future.
    static func latestYear(endingIn digits: Int, asOf now: Date) -> Int {
        let last = Calendar(identifier: .gregorian).component(.year, from: now) + 50
        return last - (last - digits) % 100
    }

    /// The mean length of a year in the Gregorian calendar, in seconds.
    private static let secondsInYear = 365.2425 * 86_400

    /// Parses the format of C's `asctime`: `Sun Nov  6 08:49:37 1994`.
    private static func asctime(_ parts: [String]) -> Date? {
        let isPadded = parts.count == 6 && parts[2].isEmpty
        guard parts.count == 5 || isPadded, let year = parts.last, year.utf8.count == 4 else { return nil }
        let rest = Array(parts.suffix(3))
        return date(year: number(year), month: parts[1], day: number(rest[0]), time: rest[1])
    }

    private static func date(year: Int?, month: String, day: Int?, time: String) -> Date? {
        let clock = time.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard let year, let day, let month = lowerMonths.firstIndex(of: month), clock.count == 3,
            clock.allSatisfy({ $0.utf8.count == 2 }),
            let hour = number(clock[0]), let minute = number(clock[1]), let second = number(clock[2]),
            (1...daysOfMonth(year, month + 1)).contains(day), hour < 24, minute < 60, second <= 60
        else { return nil }
        let seconds = Double(hour * 3_600 + minute * 60 + second)
        return Date(timeIntervalSince1970: Double(daysSince1970(year, month + 1, day)) * 86_400 + seconds)
    }

    private static func number(_ text: String) -> Int? {
        text.utf8.allSatisfy(\.isDigit) ? Int(text) : nil
    }

    private static func daysOfMonth(_ year: Int, _ month: Int) -> Int {
        let next = month == 12 ? (year + 1, 1) : (year, month + 1)
        return daysSince1970(next.0, next.1, 1) - daysSince1970(year, month, 1)
    }

    /// Returns the number of days from 1 January 1970 to a date of the Gregorian calendar.
    ///
    /// The algorithm counts from 1 March of the year 0 in cycles of 400 years.
    private static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let cycle = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfCycle = shifted - cycle * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfCycle = yearOfCycle * 365 + yearOfCycle / 4 - yearOfCycle / 100 + dayOfYear
        return cycle * 146_097 + dayOfCycle - 719_468
    }
}
