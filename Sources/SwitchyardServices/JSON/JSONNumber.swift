import Foundation

/// A JSON number in its original text form, so no digit is lost.
public struct JSONNumber: Sendable {
    /// The text of the number, such as `-12.50e3`.
    public let text: String

    /// Creates a number from text that is known to be a valid JSON number.
    init(checked text: String) {
        self.text = text
    }

    /// Creates a whole number.
    public init(_ value: some BinaryInteger) {
        text = String(value)
    }

    /// Creates a number, or returns `nil` if the value is infinite or NaN.
    public init?(_ value: Double) {
        guard value.isFinite else { return nil }
        text = value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : "\(value)"
    }

    /// The number as an `Int`, or `nil` if it is not an integer (`1.0` and `1e2` are integers) or does not fit.
    public var int: Int? {
        if let int = Int(text) { return int }
        return isFractional ? DecimalDigits(text).whole.flatMap { Int($0) } : nil
    }

    /// The number as a `UInt64`, or `nil` if it is not an integer, is negative or does not fit.
    public var unsigned: UInt64? {
        if let unsigned = UInt64(text) { return unsigned }
        return isFractional ? DecimalDigits(text).whole.flatMap { UInt64($0) } : nil
    }

    /// The nearest `Double`; infinite if the number is too large.
    public var double: Double { Double(text) ?? .nan }

    /// Whether the number is an integer of any size.
    public var isInteger: Bool {
        !isFractional || DecimalDigits(text).isWhole
    }

    private var isFractional: Bool {
        text.utf8.contains { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "e") || $0 == UInt8(ascii: "E") }
    }

    /// The form that is compared and hashed: an integer if the number fits in one, otherwise all digits.
    private enum Identity: Hashable {
        case int(Int)
        case unsigned(UInt64)
        case digits(DecimalDigits)
    }

    private var identity: Identity {
        if let int { return .int(int) }
        if let unsigned { return .unsigned(unsigned) }
        return .digits(DecimalDigits(text))
    }
}

// MARK: - Digits beyond the precision of Double

extension JSONNumber {
    /// Creates a number from a decoded `Decimal`.
    ///
    /// Returns `nil` if the `Decimal` does not round to the decoded `Double`, for example because the exponent is out
    /// of the range of `Decimal`.
    init?(_ decimal: Decimal, near double: Double) {
        let text = "\(decimal)"
        guard Double(text) == double else { return nil }
        self.init(checked: text)
    }

    /// The number as a `Decimal`.
    ///
    /// The value is `nil` if a `Double` represents the number exactly, or if not even a `Decimal` does.
    var preciseDecimal: Decimal? {
        let digits = DecimalDigits(text)
        guard DecimalDigits("\(double)") != digits, let decimal = Decimal(string: text),
            DecimalDigits("\(decimal)") == digits
        else { return nil }
        return decimal
    }
}

/// The decimal digits and the exponent of a number, without rounding.
private struct DecimalDigits: Hashable {
    private let isNegative: Bool
    /// The significant digits without leading and trailing zeros; empty for zero.
    private var digits: Substring.UTF8View
    /// The position of the decimal point in relation to the start of `digits`.
    ///
    /// It is 1 for 1.5, 3 for 150, and -2 for 0.001.
    private var point: Int

    init(_ text: String) {
        isNegative = text.hasPrefix("-")
        let parts = text.drop { $0 == "-" }.split { $0 == "e" || $0 == "E" }
        let mantissa = parts.first ?? ""
        let whole = mantissa.prefix { $0 != "." }
        digits = Substring(whole + mantissa.dropFirst(whole.count + 1)).utf8
        let exponent = parts.count > 1 ? parts[1] : "0"
        // Exponents are clamped to 2^40, about a trillion, because they may exceed the range of an integer.
        let far = 1 << 40
        let shift = Int(exponent) ?? (exponent.hasPrefix("-") ? -far : far)
        point = whole.utf8.count + min(max(shift, -far), far)
        while digits.first == UInt8(ascii: "0") {
            digits.removeFirst()
            point -= 1
        }
        while digits.last == UInt8(ascii: "0") { digits.removeLast() }
    }

    static func == (left: DecimalDigits, right: DecimalDigits) -> Bool {
        left.isNegative == right.isNegative && left.digits.elementsEqual(right.digits)
            && (left.point == right.point || left.digits.isEmpty)
    }

    func hash(into hasher: inout Hasher) {
        for digit in digits { hasher.combine(digit) }
    }

    /// Whether the number has no fraction.
    var isWhole: Bool { digits.count <= max(0, point) }

    /// The integer without point and exponent, or `nil` if the number has a fraction or exceeds 64 bits.
    var whole: String? {
        guard !digits.isEmpty else { return "0" }
        guard isWhole, point <= 20 else { return nil }
        return (isNegative ? "-" : "") + String(Substring(digits)) + String(repeating: "0", count: point - digits.count)
    }
}

extension JSONNumber: Hashable, CustomStringConvertible {
    /// Whether both numbers have the same value, regardless of their text form.
    public static func == (left: JSONNumber, right: JSONNumber) -> Bool {
        left.text == right.text || left.identity == right.identity
    }

    /// Hashes the value of the number, regardless of its text form.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(identity)
    }

    /// The text of the number.
    public var description: String { text }
}
