public import Foundation

extension String: ParameterConvertible {
    /// The text.
    public var parameterValue: ParameterValue { .string(self) }
}

extension Substring: ParameterConvertible {
    /// The text.
    public var parameterValue: ParameterValue { .string(String(self)) }
}

extension Bool: ParameterConvertible {
    /// The truth value.
    public var parameterValue: ParameterValue { .bool(self) }
}

extension BinaryInteger where Self: Sendable {
    /// The number; what no 64-bit integer holds becomes its decimal digits.
    public var parameterValue: ParameterValue {
        if let value = Int64(exactly: self) { return .integer(value) }
        if let value = UInt64(exactly: self) { return .unsigned(value) }
        return .string(String(self))
    }
}

extension Int: ParameterConvertible {}
extension Int8: ParameterConvertible {}
extension Int16: ParameterConvertible {}
extension Int32: ParameterConvertible {}
extension Int64: ParameterConvertible {}
extension UInt: ParameterConvertible {}
extension UInt8: ParameterConvertible {}
extension UInt16: ParameterConvertible {}
extension UInt32: ParameterConvertible {}
extension UInt64: ParameterConvertible {}

extension Double: ParameterConvertible {
    /// The number.
    public var parameterValue: ParameterValue { .double(self) }
}

extension Float: ParameterConvertible {
    /// The number with the digits that the single-precision value prints, not those of its conversion to double.
    public var parameterValue: ParameterValue { .double(Double(description) ?? Double(self)) }
}

extension Decimal: ParameterConvertible {
    /// The number, with all its digits.
    public var parameterValue: ParameterValue { .decimal(self) }
}

extension Date: ParameterConvertible {
    /// The point in time.
    public var parameterValue: ParameterValue { .date(self) }
}

extension Data: ParameterConvertible {
    /// The bytes.
    public var parameterValue: ParameterValue { .data(self) }
}

extension URL: ParameterConvertible {
    /// The absolute URL as text.
    public var parameterValue: ParameterValue { .string(absoluteString) }
}

extension UUID: ParameterConvertible {
    /// The identifier in its usual form.
    public var parameterValue: ParameterValue { .string(uuidString) }
}

extension Array: ParameterConvertible where Element: ParameterConvertible {
    /// The elements in order.
    public var parameterValue: ParameterValue { .array(map(\.parameterValue)) }
}

extension Set: ParameterConvertible where Element: ParameterConvertible {
    /// The elements as a list in an order of their own, so that equal sets give equal requests.
    public var parameterValue: ParameterValue { .array(map(\.parameterValue).inSetOrder) }
}

extension Optional: ParameterConvertible where Wrapped: ParameterConvertible {
    /// The value, or `null`.
    public var parameterValue: ParameterValue { self?.parameterValue ?? .null }
}

extension Dictionary: ParameterConvertible where Key == String, Value: ParameterConvertible {
    /// The values under their keys, in ascending order of the keys: a dictionary has no order of its own.
    public var parameterValue: ParameterValue {
        .dictionary(Parameters(sorting: mapValues(\.parameterValue)))
    }
}

extension ParameterConvertible where Self: RawRepresentable, RawValue: ParameterConvertible {
    /// The raw value.
    public var parameterValue: ParameterValue { rawValue.parameterValue }
}
