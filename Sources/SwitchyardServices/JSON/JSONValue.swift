public import Foundation

/// A JSON value of any shape (RFC 8259).
///
///     let title = value["topics"]?[0]?["title"]?.string
public enum JSONValue: Sendable, Hashable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number, with all its digits.
    case number(JSONNumber)
    /// A string.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// An object; of a name that occurs twice in a text that is parsed the last value holds.
    ///
    /// Names are compared scalar by scalar: ``JSONMembers``.
    case object(JSONMembers)

    /// The value of a key; `nil` when there is none or this is no object.
    public subscript(key: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members[key]
    }

    /// The element at an index; `nil` when there is none or this is no array.
    public subscript(index: Int) -> JSONValue? {
        guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    /// The value at a path of keys and indexes, as in `data.items.0.name`; the empty path is the value itself.
    public func value(at keyPath: String) -> JSONValue? {
        keyPath.split(separator: ".").reduce(Optional(self)) { value, part in
            value?[String(part)] ?? Int(part).flatMap { value?[$0] }
        }
    }

    /// The string; `nil` for any other kind.
    public var string: String? { if case .string(let string) = self { string } else { nil } }
    /// The truth value; `nil` for any other kind.
    public var bool: Bool? { if case .bool(let bool) = self { bool } else { nil } }
    /// The number; `nil` for any other kind.
    public var number: JSONNumber? { if case .number(let number) = self { number } else { nil } }
    /// The whole number; `nil` for any other kind, and for numbers with a fraction or beyond 64 bits.
    public var int: Int? { number?.int }
    /// The number as the nearest floating-point one; `nil` for any other kind.
    public var double: Double? { number?.double }
    /// The elements; `nil` for any other kind.
    public var array: [JSONValue]? { if case .array(let array) = self { array } else { nil } }
    /// The members; `nil` for any other kind.
    public var members: JSONMembers? { if case .object(let members) = self { members } else { nil } }
    /// The members as a dictionary; `nil` for any other kind.
    ///
    /// Of names that are equal in Swift, such as `é` as one scalar and as two, a dictionary has one: ``members`` has both.
    public var object: [String: JSONValue]? { members.map { $0.mapValues(\.self) } }
    /// Whether it is `null`.
    public var isNull: Bool { self == .null }

    /// The value without members and elements that are `null`, at any depth.
    public func removingNulls() -> JSONValue {
        switch self {
        case .array(let elements): .array(elements.filter { !$0.isNull }.map { $0.removingNulls() })
        case .object(let members):
            .object(members.filter { !$0.value.isNull }.replacingValues { $0.removingNulls() })
        default: self
        }
    }

    /// The kind of value, in words.
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
    /// Creates a truth value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates a string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates a whole number.
    public init(integerLiteral value: Int) { self = .number(JSONNumber(value)) }
    /// Creates a number; one that JSON cannot hold becomes `null`.
    public init(floatLiteral value: Double) { self = JSONNumber(value).map(JSONValue.number) ?? .null }
    /// Creates an array.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// Creates an object; of a name that occurs twice the last value holds.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(JSONMembers(elements.lazy.map { (key: $0.0, value: $0.1) }))
    }
}

extension JSONValue {
    /// The value as JSON text in UTF-8; members in the order of their names, so that equal values have equal texts.
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
    /// Decodes a value of any shape, for a part of a model whose shape is not known.
    ///
    /// Decoders hand over numbers and not their text: what survives is whole numbers of 64 bits and, from `JSONDecoder`,
    /// whatever a `Decimal` holds, which is 38 digits. Of any other number the nearest `Double` is left; a text that is
    /// parsed keeps every digit.
    ///
    /// - Throws: What the decoder throws.
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
        // Before the whole numbers: those a decoder also makes of fractions that a floating-point number rounds to them.
        if let decimal = try? container.decode(Decimal.self), let double = try? container.decode(Double.self),
            let number = JSONNumber(decimal, near: double)
        {
            return .number(number)
        }
        if let int = try? container.decode(Int64.self) { return .number(JSONNumber(int)) }
        if let int = try? container.decode(UInt64.self) { return .number(JSONNumber(int)) }
        let double = try container.decode(Double.self)
        guard let number = JSONNumber(double) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a number that JSON can hold")
        }
        return .number(number)
    }

    /// Encodes the value.
    ///
    /// A number is encoded as a whole number of 64 bits, as a `Double`, or where that would lose digits, as a `Decimal`:
    /// `JSONEncoder` writes up to 38 digits of it. Beyond these the nearest `Double` is encoded.
    ///
    /// - Throws: What the encoder throws.
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
        // A dictionary, whose names no strategy of the encoder changes.
        case .object(let members): try container.encode(members.mapValues(\.self))
        }
    }
}

/// A key that is known at run time only.
package struct NamedKey: CodingKey {
    package let stringValue: String

    package init(stringValue: String) {
        self.stringValue = stringValue
    }

    package init?(intValue: Int) { nil }

    package var intValue: Int? { nil }
}
