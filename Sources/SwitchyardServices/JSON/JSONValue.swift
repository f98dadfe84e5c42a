public import Foundation

/// A JSON value of any shape (RFC 8259).
///
///     let title = value["topics"]?[0]?["title"]?.string
public enum JSONValue: Sendable, Hashable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number with all its digits.
    case number(JSONNumber)
    /// A string.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// An object; if a parsed text repeats a name, the last value wins.
    ///
    /// Names are compared scalar by scalar, see ``JSONMembers``.
    case object(JSONMembers)

    /// The value of a key, or `nil` if the key is missing or the value is not an object.
    public subscript(key: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members[key]
    }

    /// The element at an index, or `nil` if the index is out of range or the value is not an array.
    public subscript(index: Int) -> JSONValue? {
        guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    /// Returns the value at a path of keys and indexes, such as `data.items.0.name`; the empty path returns the value
    /// itself.
    public func value(at keyPath: String) -> JSONValue? {
        keyPath.split(separator: ".").reduce(Optional(self)) { value, part in
            value?[String(part)] ?? Int(part).flatMap { value?[$0] }
        }
    }

    /// The string, or `nil` if the value is of another kind.
    public var string: String? { if case .string(let string) = self { string } else { nil } }
    /// The Boolean, or `nil` if the value is of another kind.
    public var bool: Bool? { if case .bool(let bool) = self { bool } else { nil } }
    /// The number, or `nil` if the value is of another kind.
    public var number: JSONNumber? { if case .number(let number) = self { number } else { nil } }
    /// The integer, or `nil` if the value is of another kind, has a fraction or does not fit in 64 bits.
    public var int: Int? { number?.int }
    /// The nearest `Double` of the number, or `nil` if the value is of another kind.
    public var double: Double? { number?.double }
    /// The elements, or `nil` if the value is of another kind.
    public var array: [JSONValue]? { if case .array(let array) = self { array } else { nil } }
    /// The members, or `nil` if the value is of another kind.
    public var members: JSONMembers? { if case .object(let members) = self { members } else { nil } }
    /// The members as a dictionary, or `nil` if the value is of another kind.
    ///
    /// If names are equal as Swift strings, such as a precomposed and a decomposed `é`, the dictionary contains only
    /// one of those names. ``members`` contains all names.
    public var object: [String: JSONValue]? { members.map { $0.mapValues(\.self) } }
    /// Whether the value is `null`.
    public var isNull: Bool { self == .null }

    /// Returns the value without `null` members and elements, at any depth.
    public func removingNulls() -> JSONValue {
        switch self {
        case .array(let elements): .array(elements.filter { !$0.isNull }.map { $0.removingNulls() })
        case .object(let members):
            .object(members.filter { !$0.value.isNull }.replacingValues { $0.removingNulls() })
        default: self
        }
    }

    /// The name of the value's kind.
    package var kindName: String {
        switch self {
        case .null: "null"
        case .bool: "bool"
        case .number: "number"
        case .string: "string"
        case .array: "array"
        case .object: "object"
        }
    }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByStringLiteral,
    ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Creates `null`.
    public init(nilLiteral: ()) { self = .null }
    /// Creates a Boolean.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates a string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates an integer.
    public init(integerLiteral value: Int) { self = .number(JSONNumber(value)) }
    /// Creates a number; infinity and NaN become `null`.
    public init(floatLiteral value: Double) { self = JSONNumber(value).map(JSONValue.number) ?? .null }
    /// Creates an array.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// Creates an object; if a name is repeated, the last value wins.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(JSONMembers(elements.lazy.map { (key: $0.0, value: $0.1) }))
    }
}

extension JSONValue {
    /// The value as JSON text in UTF-8; members are sorted by name, so equal objects have the same member order.
    public var data: Data { Data(text.utf8) }

    /// The value as JSON text.
    public var text: String {
        var text = ""
        write(to: &text)
        return text
    }

    private func write(to text: inout String) {
        switch self {
        case .null: text += "null"
        case .bool(let bool): text += bool ? "true" : "false"
        case .number(let number): text += number.text
        case .string(let string): Self.write(string, to: &text)
        case .array(let elements):
            text += "["
            for (index, element) in elements.enumerated() {
                if index > 0 { text += "," }
                element.write(to: &text)
            }
            text += "]"
        case .object(let members):
            text += "{"
            for (index, member) in members.inOrder.enumerated() {
                if index > 0 { text += "," }
                Self.write(member.key, to: &text)
                text += ":"
                member.value.write(to: &text)
            }
            text += "}"
        }
    }

    private static func write(_ string: String, to text: inout String) {
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}

extension JSONValue: CustomStringConvertible {
    /// The value as JSON text.
    public var description: String { text }
}

extension JSONValue: Codable {
    /// Decodes a value of any shape, for a part of a model whose shape is unknown.
    ///
    /// Decoders provide numbers without their text. Integers of 64 bits and, with `JSONDecoder`, numbers that a
    /// `Decimal` represents (38 digits) keep all digits. Any other number becomes the nearest `Double`. Parsing a text
    /// keeps every digit.
    ///
    /// - Throws: The error of the decoder.
    public init(from decoder: any Decoder) throws {
        if var elements = try? decoder.unkeyedContainer() {
            var values: [JSONValue] = []
            while !elements.isAtEnd { values.append(try elements.decode(JSONValue.self)) }
            self = .array(values)
        } else if let members = try? decoder.container(keyedBy: NamedKey.self) {
            self = .object(
                try members.allKeys.reduce(into: JSONMembers()) {
                    $0[$1.stringValue] = try members.decode(JSONValue.self, forKey: $1)
                }
            )
        } else {
            self = try Self.scalar(decoder.singleValueContainer())
        }
    }

    private static func scalar(_ container: any SingleValueDecodingContainer) throws -> JSONValue {
        if container.decodeNil() { return .null }
        if let bool = try? container.decode(Bool.self) { return .bool(bool) }
        if let string = try? container.decode(String.self) { return .string(string) }
        // `Decimal` is tried first, because for a fraction whose nearest `Double` is a whole number, a decoder also
        // returns an integer.
        if let decimal = try? container.decode(Decimal.self), let double = try? container.decode(Double.self),
            let number = JSONNumber(decimal, near: double)
        {
            return .number(number)
        }
        if let int = try? container.decode(Int64.self) { return .number(JSONNumber(int)) }
        if let int = try? container.decode(UInt64.self) { return .number(JSONNumber(int)) }
        let double = try container.decode(Double.self)
        guard let number = JSONNumber(double) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "expected a finite number")
        }
        return .number(number)
    }

    /// Encodes the value.
    ///
    /// A number is encoded as a 64-bit integer, as a `Double`, or, if that would lose digits, as a `Decimal`.
    /// `JSONEncoder` writes up to 38 digits of it. A number with more digits is encoded as the nearest `Double`.
    ///
    /// - Throws: The error of the encoder.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let bool): try container.encode(bool)
        case .number(let number):
            if let int = number.int {
                try container.encode(int)
            } else if let unsigned = number.unsigned {
                try container.encode(unsigned)
            } else if let decimal = number.preciseDecimal {
                try container.encode(decimal)
            } else {
                try container.encode(number.double)
            }
        case .string(let string): try container.encode(string)
        case .array(let elements): try container.encode(elements)
        // A dictionary, because the encoder's key strategy does not change the keys of a dictionary.
        case .object(let members): try container.encode(members.mapValues(\.self))
        }
    }
}

/// A coding key that is known only at run time.
package struct NamedKey: CodingKey {
    package let stringValue: String

    package init(stringValue: String) {
        self.stringValue = stringValue
    }

    package init?(intValue: Int) { nil }

    package var intValue: Int? { nil }
}
