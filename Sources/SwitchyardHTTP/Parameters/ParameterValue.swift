public import Foundation

/// A value in the parameters of a request: a single value, a list or a dictionary.
///
/// A closed, `Sendable` tree replaces `[String: Any]`. If a value cannot be encoded, the error contains the key of that
/// value.
public indirect enum ParameterValue: Sendable, Hashable {
    /// No value. ``ParameterEncodingOptions/nulls`` determines how it is written.
    case null
    /// A Boolean.
    case bool(Bool)
    /// A whole number.
    case integer(Int64)
    /// A whole number that may be above `Int64.max`.
    case unsigned(UInt64)
    /// A floating-point number. Infinities and NaN cannot be encoded unless the options define strings for them.
    case double(Double)
    /// A decimal number, written with all its digits.
    case decimal(Decimal)
    /// Text.
    case string(String)
    /// A point in time.
    case date(Date)
    /// Bytes.
    case data(Data)
    /// A list of values.
    case array([ParameterValue])
    /// A dictionary of named values in order.
    case dictionary(Parameters)
}

/// A value that is allowed in a parameter literal: `["page": page, "tags": tags, "since": date]`.
public protocol ParameterConvertible: Sendable {
    /// The value as a node of a parameter tree.
    var parameterValue: ParameterValue { get }
}

extension ParameterValue: ParameterConvertible {
    /// The value itself.
    public var parameterValue: ParameterValue { self }

    /// Creates a parameter value, which is `null` if `value` is `nil`.
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
    /// Creates a Boolean.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates `null`.
    public init(nilLiteral: ()) { self = .null }
    /// Creates a list.
    public init(arrayLiteral elements: ParameterValue...) { self = .array(elements) }
    /// Creates a dictionary in the order of the literal.
    public init(dictionaryLiteral elements: (String, ParameterValue)...) {
        self = .dictionary(Parameters(elements.map { Parameters.Item(key: $0.0, value: $0.1) }))
    }
}

extension ParameterValue {
    /// The value as unambiguous text: the kind, then the value, with lengths before nested values.
    ///
    /// `description` is not suitable, because it is equal for all byte values of the same length, and for all dates
    /// within the same second.
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
    /// The parameters as unambiguous text, in their order.
    package var canonicalText: String { items.map { $0.key.framed + $0.value.canonicalText.framed }.joined() }
}

extension String {
    /// The text after its length, so that the end of the text is unambiguous in a concatenation.
    package var framed: String { "\(utf8.count):\(self)" }
}

extension [ParameterValue] {
    /// The elements of a set, sorted by their values: numbers by size, then all other values by their text.
    var inSetOrder: [ParameterValue] { inSetOrder(by: \.self) }
}

extension Array {
    /// Returns the elements sorted like the elements of a set, by the value that `key` returns for each.
    func inSetOrder(by key: (Element) -> ParameterValue) -> [Element] {
        map { (rank: SetRank(key($0)), element: $0) }.sorted { $0.rank < $1.rank }.map(\.element)
    }
}

/// The sort key of a value among the elements of a set.
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
