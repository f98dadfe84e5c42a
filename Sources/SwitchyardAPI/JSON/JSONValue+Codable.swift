extension JSONValue: Codable {
    /// Decodes a value of any shape, for a part of a model whose shape is not known.
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
