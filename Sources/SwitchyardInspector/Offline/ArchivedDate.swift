import Foundation
import SwitchyardHTTP

/// A parser for the date formats that programs write into archives.
enum ArchivedDate {
    /// Returns the milliseconds since 1970 for a date text, or `nil` if the text is not a date.
    ///
    /// The format is ISO 8601 with any number of fractional digits after a point or a comma. Blanks or a comma may
    /// separate the date and the time in place of the `T`. A date without a time zone is in UTC. An HTTP date (RFC 9110
    /// section 5.6.7) and a number of seconds or milliseconds since 1970 are also accepted.
    static func milliseconds(_ text: String) -> Double? {
        let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        return calendar(text) ?? basic(text) ?? number(text)
            ?? HTTPDate.date(from: text).map { $0.timeIntervalSince1970 * 1_000 }
    }

    private static func calendar(_ text: String) -> Double? {
        let day = #/(\d{4})[-\/.](\d{1,2})[-\/.](\d{1,2})/#
        guard let date = text.prefixMatch(of: day) else { return nil }
        let rest = text[date.range.upperBound...].drop { "Tt_,".contains($0) || $0.isWhitespace }
        let start = days(date.output.1, date.output.2, date.output.3)
        guard !rest.isEmpty else { return start.map { $0 * 86_400_000 } }
        let time = #/(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:[.,](\d+))?)?/#
        guard let match = rest.prefixMatch(of: time), let start else { return nil }
        let (_, hour, minute, second, fraction) = match.output
        return moment(start, hour, minute, second ?? "0", fraction, rest[match.range.upperBound...])
    }

    /// Parses a date without separators, such as `20240506T070809Z`.
    private static func basic(_ text: String) -> Double? {
        let form = #/(\d{4})(\d{2})(\d{2})[Tt ](\d{2})(\d{2})(\d{2})?(?:[.,](\d+))?/#
        guard let match = text.prefixMatch(of: form) else { return nil }
        let (_, year, month, day, hour, minute, second, fraction) = match.output
        guard let start = days(year, month, day) else { return nil }
        return moment(start, hour, minute, second ?? "0", fraction, text[match.range.upperBound...])
    }

    private static func moment(
        _ days: Double,
        _ hour: Substring,
        _ minute: Substring,
        _ second: Substring,
        _ fraction: Substring?,
        _ zone: Substring
    ) -> Double? {
        guard let zone = offset(zone), let hour = Double(hour), let minute = Double(minute),
            let second = Double(second),
            hour <= 24, minute < 60, second <= 60
        else { return nil }
        let part = fraction.flatMap { Double("0.\($0)") } ?? 0
        return ((days * 24 + hour) * 60 + minute - zone) * 60_000 + (second + part) * 1_000
    }

    /// Returns the offset of a time zone from UTC in minutes.
    ///
    /// The zone's name in brackets may follow the offset.
    private static func offset(_ text: Substring) -> Double? {
        let name = text.prefix { $0 != "[" && $0 != "(" }.filter { !$0.isWhitespace }.uppercased()
        if ["", "Z", "UTC", "GMT", "UT"].contains(name) { return 0 }
        let form = #/(?:UTC|GMT)?([+−-])(\d{1,2}):?(\d{2})?/#
        guard let match = name.wholeMatch(of: form)?.output, let hours = Double(match.2) else { return nil }
        let minutes = hours * 60 + (match.3.flatMap { Double($0) } ?? 0)
        return match.1 == "+" ? minutes : -minutes
    }

    /// Returns the number of days from 1970 to a date of the Gregorian calendar.
    private static func days(_ year: Substring, _ month: Substring, _ day: Substring) -> Double? {
        guard let year = Int(year), let month = Int(month), let day = Int(day), (1...12).contains(month),
            (1...31).contains(day)
        else { return nil }
        // For this calculation, a year starts on the first of March, so that a leap day is the last day of its year.
        let (years, months) = (month > 2 ? year : year - 1, (month + 9) % 12)
        let (era, yearOfEra) = ((years >= 0 ? years : years - 399) / 400, ((years % 400) + 400) % 400)
        let dayOfYear = (153 * months + 2) / 5 + day - 1
        return Double(era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468)
    }

    /// Parses a number.
    ///
    /// A number up to 10^11 counts as seconds since 1970, and a larger number as milliseconds since 1970.
    private static func number(_ text: String) -> Double? {
        guard let number = Double(text), number.isFinite, number >= 0, number < 8e15 else { return nil }
        return number > 1e11 ? number : number * 1_000
    }
}
