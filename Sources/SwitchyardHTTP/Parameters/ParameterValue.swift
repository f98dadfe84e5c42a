public import Foundation

/// One value of a request's parameters: a leaf, a list, or a set of named values.
///
/// A closed, `Sendable` tree takes the place of `[String: Any]`: what it holds can always be encoded, or the error says
/// which key cannot.
public indirect enum ParameterValue: Sendable, Hashable {
    /// No value.
    ///
    /// How it is written is the choice of ``ParameterEncodingOptions/nulls``.
    case null
    /// A truth value.
    case bool(Bool)
    /// A whole number.
    case integer(Int64)
    /// A whole number that may be above `Int64.max`.
    case unsigned(UInt64)
    /// A floating-point number; infinities and NaN are refused when they are written, unless the options name them.
    case double(Double)
    /// A decimal number, written with all its digits.
    case decimal(Decimal)
    /// Text.
    case string(String)
    /// A point in time.
    case date(Date)
    /// Bytes.
    case data(Data)
    /// Values in order.
    case array([ParameterValue])
    /// Named values in order.
    case dictionary(Parameters)
}

/// A value that can stand in a parameter literal: `["page": page, "tags": tags, "since": date]`.
public protocol ParameterConvertible: Sendable {
    /// The value as part of a parameter tree.
    var parameterValue: ParameterValue { get }
}

extension ParameterValue: ParameterConvertible {
    /// The value itself.
    public var parameterValue: ParameterValue { self }

    /// Creates the value, `null` for `nil`.
    public init(_ value: (any ParameterConvertible)?) {
        self = value?.parameterValue ?? .null
    }
}

extension ParameterValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByNilLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Creates text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates a whole number.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// Creates a floating-point number.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// Creates a truth value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates `null`.
    public init(nilLiteral: ()) { self = .null }
    /// Creates a list.
    public init(arrayLiteral elements: ParameterValue...) { self = .array(elements) }
    /// Creates named values, in the order of the literal.
    public init(dictionaryLiteral elements: (String, ParameterValue)...) {
        self = .dictionary(Parameters(elements.map { Parameters.Item(key: $0.0, value: $0.1) }))
    }
}
