public import Foundation

extension String: ParameterConvertible {
    /// The text as a parameter value.
    public var parameterValue: ParameterValue { .string(self) }
}

extension Substring: ParameterConvertible {
    /// The text as a parameter value.
    public var parameterValue: ParameterValue { .string(String(self)) }
}

extension Bool: ParameterConvertible {
    /// The Boolean as a parameter value.
    public var parameterValue: ParameterValue { .bool(self) }
}

extension BinaryInteger where Self: Sendable {
    /// The number as a parameter value.
    ///
    /// If it does not fit a 64-bit integer, the value is a string of its decimal digits.
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
    /// The number as a parameter value.
    public var parameterValue: ParameterValue { .double(self) }
}

extension Float: ParameterConvertible {
    /// The number with the digits of the single-precision value, not the digits of its conversion to `Double`.
    public var parameterValue: ParameterValue { .double(Double(description) ?? Double(self)) }
}

extension Decimal: ParameterConvertible {
    /// The number with all its digits.
    public var parameterValue: ParameterValue { .decimal(self) }
}

extension Date: ParameterConvertible {
    /// The date as a parameter value.
    public var parameterValue: ParameterValue { .date(self) }
}

extension Data: ParameterConvertible {
    /// The bytes as a parameter value.
    public var parameterValue: ParameterValue { .data(self) }
}

extension URL: ParameterConvertible {
    /// The absolute URL as text.
    public var parameterValue: ParameterValue { .string(absoluteString) }
}

extension UUID: ParameterConvertible {
    /// The UUID as text.
    public var parameterValue: ParameterValue { .string(uuidString) }
}

extension Array: ParameterConvertible where Element: ParameterConvertible {
    /// The elements as a list.
    public var parameterValue: ParameterValue { .array(map(\.parameterValue)) }
}

extension Set: ParameterConvertible where Element: ParameterConvertible {
    /// The elements as a sorted list, so that equal sets give equal requests.
    public var parameterValue: ParameterValue { .array(map(\.parameterValue).inSetOrder) }
}

extension Optional: ParameterConvertible where Wrapped: ParameterConvertible {
    /// The wrapped value, or `null`.
    public var parameterValue: ParameterValue { self?.parameterValue ?? .null }
}

extension Dictionary: ParameterConvertible where Key == String, Value: ParameterConvertible {
    /// The values under their keys in ascending order, because a dictionary is unordered.
    public var parameterValue: ParameterValue {
        .dictionary(Parameters(sorting: mapValues(\.parameterValue)))
    }
}

extension ParameterConvertible where Self: RawRepresentable, RawValue: ParameterConvertible {
    /// The raw value.
    public var parameterValue: ParameterValue { rawValue.parameterValue }
}
