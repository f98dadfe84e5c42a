import Foundation

/// A formatter of dates as ISO 8601 text.
enum ISODate {
    private struct OutOfRange: Error, CustomStringConvertible {
        var description: String { "the year of the date must be from 0 to 9999" }
    }

    /// Returns the date as ISO 8601 text, computed with the proleptic Gregorian calendar instead of a formatter.
    static func text(_ date: Date, milliseconds: Bool) throws -> String {
        let seconds = date.timeIntervalSince1970
        // The years 0 to 9999 in seconds since 1970.
        guard seconds >= -62_167_219_200, seconds < 253_402_300_800 else { throw OutOfRange() }
        // A `Date` is exact to half a microsecond. Without the tolerance, 1.001 s could be written as 1.000 s.
        let ticks = Int64((seconds * 1000 + 0.001).rounded(.down))
        let (days, rest) = ticks.flooredQuotient(by: 86_400_000)
        let (year, month, day) = civilDate(daysSince1970: days)
        var text: [UInt8] = []
        text.reserveCapacity(24)
        for (value, width, end) in [(year, 4, "-"), (month, 2, "-"), (day, 2, "T")]
            as [(Int64, Int, Unicode.Scalar)]
        {
            appendPadded(value, width: width, end: end, to: &text)
        }
        appendPadded(rest / 3_600_000, width: 2, end: ":", to: &text)
        appendPadded(rest / 60_000 % 60, width: 2, end: ":", to: &text)
        appendPadded(rest / 1000 % 60, width: 2, end: milliseconds ? "." : "Z", to: &text)
        if milliseconds { appendPadded(rest % 1000, width: 3, end: "Z", to: &text) }
        return String(decoding: text, as: UTF8.self)
    }

    private static func appendPadded(_ value: Int64, width: Int, end: Unicode.Scalar, to text: inout [UInt8]) {
        var divisor: Int64 = 1
        for _ in 1..<width { divisor *= 10 }
        while divisor > 0 {
            text.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value / divisor % 10))
            divisor /= 10
        }
        text.append(UInt8(ascii: end))
    }

    /// Returns the calendar date of a day.
    ///
    /// The calculation uses years that start on 1 March, so that a leap day is the last day of its year.
    private static func civilDate(daysSince1970: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = (daysSince1970 + 719_468).flooredQuotient(by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    }
}

extension Int64 {
    fileprivate func flooredQuotient(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
