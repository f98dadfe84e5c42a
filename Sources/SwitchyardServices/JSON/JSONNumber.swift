import Foundation

/// A number as it stands in a JSON text, so that no digit is lost.
public struct JSONNumber: Sendable {
    /// The number as text: `-12.50e3`.
    public let text: String

    /// Wraps text that is known to follow the grammar of JSON.
    init(checked text: String) {
        self.text = text
    }

    /// Creates a whole number.
    public init(_ value: some BinaryInteger) {
        text = String(value)
    }

    /// Creates a number; `nil` when it is infinite or none.
    public init?(_ value: Double) {
        guard value.isFinite else { return nil }
        text = value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : "\(value)"
    }

    /// The number, when it is whole (also as `1.0` or `1e2`) and fits.
    public var int: Int? {
        if let int = Int(text) { return int }
        return isFractional ? DecimalDigits(text).whole.flatMap { Int($0) } : nil
    }

    /// The number, when it is whole, not negative and fits.
    public var unsigned: UInt64? {
        if let unsigned = UInt64(text) { return unsigned }
        return isFractional ? DecimalDigits(text).whole.flatMap { UInt64($0) } : nil
    }

    /// The nearest floating-point number; infinite when the number is too large.
    public var double: Double { Double(text) ?? .nan }

    /// Whether the number is whole, however large.
    public var isInteger: Bool {
        !isFractional || DecimalDigits(text).isWhole
    }

    private var isFractional: Bool {
        text.utf8.contains { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "e") || $0 == UInt8(ascii: "E") }
    }

    /// What is compared: the whole number where it fits, else all digits.
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

// MARK: - Digits beyond those of a floating-point number

extension JSONNumber {
    /// Creates a number from what a decoder has made of it; `nil` when that is not the same as the nearest floating-point
    /// number, as beyond the exponents that it has.
    init?(_ decimal: Decimal, near double: Double) {
        let text = "\(decimal)"
        guard Double(text) == double else { return nil }
        self.init(checked: text)
    }

    /// The number as a decimal one; `nil` when that does not hold it exactly, or a floating-point number does as well.
    var preciseDecimal: Decimal? {
        let digits = DecimalDigits(text)
        guard DecimalDigits("\(double)") != digits, let decimal = Decimal(string: text),
            DecimalDigits("\(decimal)") == digits
        else { return nil }
        return decimal
    }
}

/// A number taken apart without the rounding that a floating-point number brings.
private struct DecimalDigits: Hashable {
    private let isNegative: Bool
    /// The digits without zeros at either end; none for zero.
    private var digits: Substring.UTF8View
    /// How many of the digits stand in front of the point; more than there are when zeros follow.
    private var point: Int

    init(_ text: String) {
        isNegative = text.hasPrefix("-")
        let parts = text.drop { $0 == "-" }.split { $0 == "e" || $0 == "E" }
        let mantissa = parts.first ?? ""
        let whole = mantissa.prefix { $0 != "." }
        digits = Substring(whole + mantissa.dropFirst(whole.count + 1)).utf8
        let exponent = parts.count > 1 ? parts[1] : "0"
        // An exponent of a trillion moves the point as good as for ever, whether an integer holds it or not.
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

    /// Whether nothing but zeros stands behind the point.
    var isWhole: Bool { digits.count <= max(0, point) }

    /// The number without point and exponent; `nil` when it is not whole, or longer than any 64 bits hold.
    var whole: String? {
        guard !digits.isEmpty else { return "0" }
        guard isWhole, point <= 20 else { return nil }
        return (isNegative ? "-" : "") + String(Substring(digits)) + String(repeating: "0", count: point - digits.count)
    }
}

extension JSONNumber: Hashable, CustomStringConvertible {
    /// Whether both are the same number, however they are written.
    public static func == (left: JSONNumber, right: JSONNumber) -> Bool {
        left.text == right.text || left.identity == right.identity
    }

    /// Hashes the number, however it is written.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(identity)
    }

    /// The number as text.
    public var description: String { text }
}
