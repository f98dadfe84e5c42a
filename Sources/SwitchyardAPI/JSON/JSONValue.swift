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
    /// Names are compared as Swift compares texts, as Foundation's decoder does too: `é` is one name, whether it is
    /// written as one scalar or as `e` and an accent.
    case object([String: JSONValue])

    /// Parses a text.
    ///
    /// - Parameters:
    ///   - text: The text in UTF-8; a byte order mark is allowed.
    ///   - maximumDepth: How deep arrays and objects may nest; default is 128, far above what APIs answer and far below
    ///     what a thread's stack holds.
    /// - Throws: ``DecodingFailure`` with the offset of the byte at which the text stops being JSON.
    public init(parsing text: some Sequence<UInt8>, maximumDepth: Int = JSONDepth.standard) throws(DecodingFailure) {
        var parser = JSONParser(text, maximumDepth: maximumDepth)
        self = try parser.document()
    }

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
    public var object: [String: JSONValue]? { if case .object(let object) = self { object } else { nil } }
    /// Whether it is `null`.
    public var isNull: Bool { self == .null }

    /// The value without members and elements that are `null`, at any depth.
    public func removingNulls() -> JSONValue {
        switch self {
        case .array(let elements): .array(elements.filter { !$0.isNull }.map { $0.removingNulls() })
        case .object(let members): .object(members.filter { !$0.value.isNull }.mapValues { $0.removingNulls() })
        default: self
        }
    }

    /// The kind of value, in words.
    var kindName: String {
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
        self = .object(Dictionary(elements) { $1 })
    }
}
