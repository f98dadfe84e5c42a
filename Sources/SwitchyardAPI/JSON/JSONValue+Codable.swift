import Foundation

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
                try members.allKeys.reduce(into: [:]) {
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
        case .object(let members): try container.encode(members)
        }
    }
}

/// A key that is known at run time only.
struct NamedKey: CodingKey {
    let stringValue: String

    init(stringValue: String) {
        self.stringValue = stringValue
    }

    init?(intValue: Int) { nil }

    var intValue: Int? { nil }
}
