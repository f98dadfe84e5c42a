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

extension HTTPDate {
    private static let lowerMonths = months.map { $0.lowercased() }
    private static let days = weekdays.map { $0.lowercased() }
    private static let longDays = [
        "sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday",
    ]

    /// The date; `nil` when the text has none of the three forms to the letter.
    ///
    /// Names may be written in any case. A cache takes any other form for a time in the past (RFC 9111 section 5.3).
    ///
    /// - Parameters:
    ///   - text: The value of the field.
    ///   - now: The time of day, on which the century of a year of two digits depends.
    /// - Returns: The date, if any.
    package static func date(exactly text: String, now: Date = Date()) -> Date? {
        let parts = text.lowercased().split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        if parts.count == 6 || parts.count == 5, days.contains(parts[0]) { return asctime(parts) }
        guard let day = parts.first, day.hasSuffix(","), parts.last == "gmt" else { return nil }
        if parts.count == 6, days.contains(String(day.dropLast())) { return fixdate(parts) }
        guard parts.count == 4, let weekday = longDays.firstIndex(of: String(day.dropLast())) else { return nil }
        return rfc850(parts, on: weekday, now: now)
    }

    /// The form to be written: `Sun, 06 Nov 1994 08:49:37 GMT`.
    private static func fixdate(_ parts: [String]) -> Date? {
        guard parts[1].utf8.count == 2, parts[3].utf8.count == 4 else { return nil }
        return date(year: number(parts[3]), month: parts[2], day: number(parts[1]), time: parts[4])
    }

    /// The older form, `Sunday, 06-Nov-94 08:49:37 GMT`; a moment more than 50 years ahead is one of the century before.
    ///
    /// So is one ahead whose day of the week is right only there: many write `Thursday, 01-Jan-70` for what ended long ago.
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

    /// The latest year that ends in two digits and is no more than 50 years ahead.
    static func latestYear(endingIn digits: Int, asOf now: Date) -> Int {
        let last = Calendar(identifier: .gregorian).component(.year, from: now) + 50
        return last - (last - digits) % 100
    }

    /// The mean year of the calendar.
    private static let secondsInYear = 365.2425 * 86_400

    /// The form of C's library: `Sun Nov  6 08:49:37 1994`.
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

    /// The number of a day in the Gregorian calendar, counted from 1 March of a year 0 in cycles of 400 years.
    private static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let cycle = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfCycle = shifted - cycle * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfCycle = yearOfCycle * 365 + yearOfCycle / 4 - yearOfCycle / 100 + dayOfYear
        return cycle * 146_097 + dayOfCycle - 719_468
    }
}
