import Foundation
import SwitchyardServices

/// A parser for cookie dates (RFC 6265 section 5.1.1).
///
/// It is more lenient than the parser for other HTTP dates.
enum CookieDate {
    /// Returns the date in `text`, or `nil` if the day, month, year or time is missing or out of range.
    ///
    /// - Parameters:
    ///   - text: The date.
    ///   - year: A closure that maps a number and its count of digits to a year. It returns `nil` if the number is not
    ///     a year.
    /// - Returns: The date, or `nil`.
    static func parse(_ text: String, year: (_ number: Int, _ digits: Int) -> Int? = CookieDate.year) -> Date? {
        var parts = Parts()
        for token in text.utf8.split(whereSeparator: isDelimiter) { parts.read(token, year) }
        return parts.date
    }

    /// Returns the year for a number in a cookie date: 0 to 69 mean 2000 to 2069, and 70 to 99 mean 1970 to 1999.
    static func year(_ number: Int, digits: Int) -> Int {
        number < 70 ? number + 2000 : number < 100 ? number + 1900 : number
    }

    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 9, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    private struct Parts {
        var time: (hour: Int, minute: Int, second: Int)?
        var day: Int?
        var month: Int?
        var year: Int?

        mutating func read(_ token: Substring.UTF8View.SubSequence, _ rule: (Int, Int) -> Int?) {
            if time == nil, let found = Self.time(token) {
                time = found
            } else if day == nil, let found = Self.number(token, digits: 1...2) {
                day = found
            } else if month == nil, let found = Self.month(token) {
                month = found
            } else if year == nil, let found = Self.number(token, digits: 2...4) {
                year = rule(found, token.prefix(while: \.isDigit).count)
            }
        }

        var date: Date? {
            guard let time, let day, let month, let year, year >= 1601, (1...31).contains(day), time.hour < 24,
                time.minute < 60, time.second < 60
            else { return nil }
            var components = DateComponents(year: year, month: month, day: day)
            components.hour = time.hour
            components.minute = time.minute
            components.second = time.second
            var calendar = Calendar(identifier: .gregorian)
            calendar.timeZone = .gmt
            guard components.isValidDate(in: calendar) else { return nil }
            return calendar.date(from: components)
        }

        private static func time(_ token: Substring.UTF8View) -> (Int, Int, Int)? {
            let fields = token.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3, let hour = number(fields[0], digits: 1...2, wholly: true),
                let minute = number(fields[1], digits: 1...2, wholly: true),
                let second = number(fields[2], digits: 1...2)
            else { return nil }
            return (hour, minute, second)
        }

        /// Returns the number at the start of a word, or `nil` if it has too many or too few digits.
        ///
        /// If `wholly` is set, the word must contain nothing else.
        private static func number(
            _ token: Substring.UTF8View,
            digits: ClosedRange<Int>,
            wholly: Bool = false
        ) -> Int? {
            let leading = token.prefix(while: \.isDigit)
            guard digits.contains(leading.count), !wholly || leading.count == token.count else { return nil }
            return Int(String(decoding: leading, as: UTF8.self))
        }

        private static func month(_ token: Substring.UTF8View) -> Int? {
            let names = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
            let start = String(decoding: token.prefix(3), as: UTF8.self).lowercased()
            return names.firstIndex(of: start).map { $0 + 1 }
        }
    }
}
