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
        guard isFractional, let double = Double(text) else { return nil }
        return Int(exactly: double)
    }

    /// The number, when it is whole, not negative and fits.
    public var unsigned: UInt64? {
        if let unsigned = UInt64(text) { return unsigned }
        guard isFractional, let double = Double(text) else { return nil }
        return UInt64(exactly: double)
    }

    /// The nearest floating-point number; infinite when the number is too large.
    public var double: Double { Double(text) ?? .nan }

    /// Whether the number is whole, however large.
    public var isInteger: Bool {
        guard isFractional else { return true }
        let double = double
        return double.isFinite && double == double.rounded()
    }

    private var isFractional: Bool {
        text.utf8.contains { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "e") || $0 == UInt8(ascii: "E") }
    }

    /// What is compared: the exact whole number where there is one, else the nearest floating-point number.
    private enum Identity: Hashable {
        case int(Int)
        case unsigned(UInt64)
        case double(Double)
        case digits(String)
    }

    private var identity: Identity {
        if let int { return .int(int) }
        if let unsigned { return .unsigned(unsigned) }
        return isFractional ? .double(double) : .digits(text)
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
