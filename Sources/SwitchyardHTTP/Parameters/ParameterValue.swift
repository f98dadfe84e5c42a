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

extension ParameterValue {
    /// The value as text, injective: the kind, then the value, with lengths where values are nested.
    ///
    /// The description of a value would not do: all bytes of one length, and all dates within a second, look the same.
    package var canonicalText: String {
        switch self {
        case .null: "n"
        case .bool(let value): value ? "t" : "f"
        case .integer(let value): "i" + String(value)
        case .unsigned(let value): "u\(value)"
        case .double(let value): "d\(value)"
        case .decimal(let value): "e\(value)"
        case .string(let value): "s" + value
        case .date(let value): "D\(value.timeIntervalSinceReferenceDate)"
        case .data(let value): "b" + value.base64EncodedString()
        case .array(let values): "a" + values.map(\.canonicalText.framed).joined()
        case .dictionary(let values):
            "o"
                + values.items.sorted { $0.key < $1.key }
                .map { $0.key.framed + $0.value.canonicalText.framed }
                .joined()
        }
    }
}

extension Parameters {
    /// The parameters as text, in their order, injective.
    package var canonicalText: String { items.map { $0.key.framed + $0.value.canonicalText.framed }.joined() }
}

extension String {
    /// The text behind its length, so that it can be told apart from what follows it.
    package var framed: String { "\(utf8.count):\(self)" }
}

extension [ParameterValue] {
    /// The elements of a set in the one order that follows from what they hold: numbers by size, then the rest as text.
    var inSetOrder: [ParameterValue] { inSetOrder(by: \.self) }
}

extension Array {
    /// The elements in the order that a set of what is told of each would have.
    func inSetOrder(by key: (Element) -> ParameterValue) -> [Element] {
        map { (rank: SetRank(key($0)), element: $0) }.sorted { $0.rank < $1.rank }.map(\.element)
    }
}

/// The place of a value among the elements of a set.
private struct SetRank: Comparable {
    let number: Double?
    let text: String

    init(_ value: ParameterValue) {
        text = Self.text(of: value)
        let number: Double? =
            switch value {
            case .integer(let value): Double(value)
            case .unsigned(let value): Double(value)
            case .double(let value): value
            case .decimal: Double(text)
            case .date(let value): value.timeIntervalSinceReferenceDate
            default: nil
            }
        self.number = number.flatMap { $0.isNaN ? nil : $0 }
    }

    private static func text(of value: ParameterValue) -> String {
        switch value {
        case .integer(let value): value.description
        case .unsigned(let value): value.description
        case .double(let value): value.description
        case .decimal(let value): value.description
        case .string(let value): value
        case .data(let value): hexText(of: value)
        case .array(let values): values.map(text).joined(separator: ",")
        case .dictionary(let values): values.items.map { "\($0.key)=\(text(of: $0.value))" }.joined(separator: "&")
        case .null, .bool, .date: String(describing: value)
        }
    }

    private static func hexText(of data: Data) -> String {
        let digits = data.flatMap { [PercentEncoding.hexDigit($0 >> 4), PercentEncoding.hexDigit($0 & 15)] }
        return String(decoding: digits, as: UTF8.self)
    }

    static func < (left: SetRank, right: SetRank) -> Bool {
        switch (left.number, right.number) {
        case (let first?, let second?) where first != second: first < second
        case (nil, .some): false
        case (.some, nil): true
        default: left.text < right.text
        }
    }
}
