import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// A parser for ISO 8601 dates.
///
/// The parser uses Foundation's format style, which is many times faster than the formatter class.
enum ISO8601 {
    private static let whole = Date.ISO8601FormatStyle()
    private static let fractional = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    /// Returns the date in a text, or `nil` if the text is not a date.
    static func date(_ text: String) -> Date? {
        guard isDate(text) else { return nil }
        // The format style does not accept a comma as the decimal mark, although the standard allows it.
        if text.hasByte(UInt8(ascii: ",")) { return try? fractional.parse(text.replacing(",", with: ".")) }
        return try? (text.hasByte(UInt8(ascii: ".")) ? fractional : whole).parse(text)
    }

    /// Returns whether a text consists of a valid day, time and zone, and nothing else.
    ///
    /// This check is needed because the format style parses 30 February as 1 March and 25:00 as the next day, and
    /// ignores trailing text.
    private static func isDate(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            guard bytes.count > 19, let century = number(bytes, 0), let year = number(bytes, 2),
                let month = number(bytes, 5), let day = number(bytes, 8), let hour = number(bytes, 11),
                let minute = number(bytes, 14), let second = number(bytes, 17),
                (1...12).contains(month), (1...days(ofMonth: month, century * 100 + year)).contains(day),
                hour < 24 || hour == 24 && minute + second == 0, minute < 60, second <= 60
            else { return false }
            return isZone(bytes[19...].drop { $0.isDigit || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: ",") })
        }
    }

    /// Returns the number of two digits, or `nil` if one of the bytes is not a digit.
    private static func number(_ bytes: UnsafeBufferPointer<UInt8>, _ index: Int) -> Int? {
        guard bytes[index].isDigit, bytes[index + 1].isDigit else { return nil }
        return Int(bytes[index] & 0x0F) * 10 + Int(bytes[index + 1] & 0x0F)
    }

    private static func days(ofMonth month: Int, _ year: Int) -> Int {
        let isLeap = year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
        return month == 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
    }

    /// Returns whether the bytes are `Z` or an offset such as `+01:00`, `+0100` or `+01`.
    private static func isZone(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        guard let sign = bytes.first else { return false }
        let distance = bytes.dropFirst()
        if sign | 0x20 == UInt8(ascii: "z") { return distance.isEmpty }
        guard sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else { return false }
        let digits = distance.filter(\.isDigit).count
        guard digits == 4, let colon = distance.firstIndex(of: UInt8(ascii: ":")) else {
            return digits == distance.count && (digits == 2 || digits == 4)
        }
        return distance.count == 5 && colon == distance.startIndex + 2
    }
}
