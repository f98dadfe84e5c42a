import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// A parser for the dates of RFC 3339 section 5.6 and the most common other dates of ISO 8601.
///
/// The parser accepts years from 0000 to 9999 and offsets of less than 24 hours. From ISO 8601 it also accepts the
/// comma as the decimal mark, `24:00:00`, and zones such as `+0100` and `+01`. Years before 1583 are in the Gregorian
/// calendar too, as RFC 3339 requires.
enum ISO8601 {
    private typealias Bytes = Slice<UnsafeBufferPointer<UInt8>>

    /// Returns the date in a text, or `nil` if the text is not a date.
    static func date(_ text: String) -> Date? {
        var text = text
        return text.withUTF8 { bytes in
            guard bytes.count > 19, let day = daysSince1970(bytes), let time = secondsOfDay(bytes) else { return nil }
            var zone = bytes[19...]
            guard let fraction = fraction(&zone), fraction == 0 || number(bytes, 11) != 24, let offset = offset(zone)
            else { return nil }
            return Date(timeIntervalSince1970: Double(day * 86_400 + time - offset) + fraction)
        }
    }

    // MARK: - Day

    private static func daysSince1970(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        guard let century = number(bytes, 0), let yearOfCentury = number(bytes, 2), let month = number(bytes, 5),
            let day = number(bytes, 8), bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-")
        else { return nil }
        let year = century * 100 + yearOfCentury
        guard (1...12).contains(month), (1...days(ofMonth: month, year)).contains(day) else { return nil }
        // This calculation uses a year that starts in March. The leap day is then the last day of the year, and the
        // months before it have fixed lengths.
        let shifted = month > 2 ? year : year - 1
        let leapDays = floorDivide(shifted, 4) - floorDivide(shifted, 100) + floorDivide(shifted, 400)
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return shifted * 365 + leapDays + dayOfYear - 719_468
    }

    private static func floorDivide(_ number: Int, _ divisor: Int) -> Int {
        number >= 0 ? number / divisor : -((divisor - 1 - number) / divisor)
    }

    private static func days(ofMonth month: Int, _ year: Int) -> Int {
        let isLeap = year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
        return month == 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
    }

    // MARK: - Time

    /// Returns the seconds since midnight, which are 86,400 for 24:00:00 and for a leap second at 23:59:60.
    private static func secondsOfDay(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        guard let hour = number(bytes, 11), let minute = number(bytes, 14), let second = number(bytes, 17),
            bytes[10] | 0x20 == UInt8(ascii: "t"), bytes[13] == UInt8(ascii: ":"), bytes[16] == UInt8(ascii: ":"),
            hour < 24 || hour == 24 && minute + second == 0, minute < 60, second <= 60
        else { return nil }
        return hour * 3_600 + minute * 60 + second
    }

    /// Removes and returns the fraction of a second.
    ///
    /// Returns zero if there is no fraction, and `nil` if no digit follows the decimal mark.
    ///
    /// Digits after the ninth are ignored.
    private static func fraction(_ rest: inout Bytes) -> Double? {
        guard rest.first == UInt8(ascii: ".") || rest.first == UInt8(ascii: ",") else { return 0 }
        let digits = rest.dropFirst().prefix(while: \.isDigit)
        guard !digits.isEmpty else { return nil }
        rest = rest[digits.endIndex...]
        var (value, scale) = (0.0, 1.0)
        for digit in digits.prefix(9) {
            value = value * 10 + Double(digit & 0x0F)
            scale *= 10
        }
        return value / scale
    }

    /// Returns the seconds of a zone: `Z`, or an offset such as `+01:00`, `+0100` or `+01`.
    private static func offset(_ bytes: Bytes) -> Int? {
        guard let sign = bytes.first else { return nil }
        if sign | 0x20 == UInt8(ascii: "z") { return bytes.count == 1 ? 0 : nil }
        guard sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else { return nil }
        var digits = Array(bytes.dropFirst())
        if digits.count == 5, digits[2] == UInt8(ascii: ":") { digits.remove(at: 2) }
        guard digits.count == 2 || digits.count == 4, digits.allSatisfy(\.isDigit) else { return nil }
        let numbers = digits.map { Int($0 & 0x0F) }
        let hours = numbers[0] * 10 + numbers[1]
        let minutes = numbers.count == 4 ? numbers[2] * 10 + numbers[3] : 0
        guard hours < 24, minutes < 60 else { return nil }
        return (hours * 3_600 + minutes * 60) * (sign == UInt8(ascii: "-") ? -1 : 1)
    }

    /// Returns the two-digit number at an index, or `nil` if one of the two bytes is not a digit.
    private static func number(_ bytes: UnsafeBufferPointer<UInt8>, _ index: Int) -> Int? {
        guard bytes[index].isDigit, bytes[index + 1].isDigit else { return nil }
        return Int(bytes[index] & 0x0F) * 10 + Int(bytes[index + 1] & 0x0F)
    }
}
