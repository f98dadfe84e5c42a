/// A strict JSON reader (RFC 8259) for service files.
///
/// Foundation's readers accept a key that stands twice and keep one of the two without a word; in a service file that is
/// a mistake worth reporting. This one also says the line of a syntax error.
struct JSONParser {
    /// What is wrong, and where.
    struct Failure: Error, Equatable {
        var expected: String
        var line: Int
        /// The key that stands twice, from the top of the text; `nil` for a syntax error.
        var duplicateKey: String?
    }

    private static let maximumDepth = 32
    private let bytes: [UInt8]
    private var position = 0
    private var depth = 0
    /// Where the value stands that is being read: keys with a dot in front, indexes in brackets.
    private var path = ""

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Parses a whole text: one value, and nothing after it.
    static func parse(_ bytes: [UInt8]) throws(Failure) -> JSONValue {
        var parser = JSONParser(bytes)
        // The mark that some editors put in front of a text is not part of it (RFC 8259 section 8.1).
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { parser.position = 3 }
        let value = try parser.value()
        parser.skipSpace()
        guard parser.position == bytes.count else { throw parser.failure("the end of the file") }
        return value
    }

    // MARK: - Values

    private mutating func value() throws(Failure) -> JSONValue {
        skipSpace()
        switch peek {
        case UInt8(ascii: "{"): return try nested { (parser) throws(Failure) in try parser.object() }
        case UInt8(ascii: "["): return try nested { (parser) throws(Failure) in try parser.array() }
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return try number()
        }
    }

    /// A value within another.
    private mutating func value(at place: String) throws(Failure) -> JSONValue {
        let outer = path
        path += place
        defer { path = outer }
        return try value()
    }

    private mutating func nested(
        _ body: (inout JSONParser) throws(Failure) -> JSONValue
    ) throws(Failure) -> JSONValue {
        guard depth < JSONParser.maximumDepth else {
            throw failure("at most \(JSONParser.maximumDepth) levels of nesting")
        }
        depth += 1
        defer { depth -= 1 }
        position += 1
        return try body(&self)
    }

    private mutating func object() throws(Failure) -> JSONValue {
        var members: [(key: String, value: JSONValue)] = []
        var keys: Set<String> = []
        if take(UInt8(ascii: "}")) { return .object([]) }
        repeat {
            skipSpace()
            guard peek == UInt8(ascii: "\"") else { throw failure("a key in quotes") }
            let key = try string()
            guard keys.insert(key).inserted else {
                throw Failure(expected: "each key only once", line: line, duplicateKey: "\(path).\(key)".withoutDot)
            }
            guard take(UInt8(ascii: ":")) else { throw failure("a colon") }
            members.append((key, try value(at: ".\(key)")))
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "}")) else { throw failure("a comma or }") }
        return .object(members)
    }

    private mutating func array() throws(Failure) -> JSONValue {
        var elements: [JSONValue] = []
        if take(UInt8(ascii: "]")) { return .array([]) }
        repeat { elements.append(try value(at: "[\(elements.count)]")) } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "]")) else { throw failure("a comma or ]") }
        return .array(elements)
    }

    private mutating func word(_ text: StaticString, _ value: JSONValue) throws(Failure) -> JSONValue {
        let expected = Array("\(text)".utf8)
        guard bytes[position...].starts(with: expected) else { throw failure("\(text)") }
        position += expected.count
        return value
    }

    // MARK: - Scalars

    private mutating func number() throws(Failure) -> JSONValue {
        let start = position
        if peek == UInt8(ascii: "-") { position += 1 }
        var isValid = peek == UInt8(ascii: "0") ? skip("0") : skipDigits()
        if skip(".") { isValid = skipDigits() && isValid }
        if skip("eE") {
            _ = skip("+-")
            isValid = skipDigits() && isValid
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        guard isValid, let number = Double(text), number.isFinite else {
            position = start
            throw failure("a value")
        }
        return .number(number)
    }

    /// Skips one of some characters, if it is there.
    private mutating func skip(_ characters: String) -> Bool {
        guard let byte = peek, characters.utf8.contains(byte) else { return false }
        position += 1
        return true
    }

    private mutating func skipDigits() -> Bool {
        let start = position
        while skip("0123456789") {}
        return position > start
    }

    private mutating func string() throws(Failure) -> String {
        position += 1
        var text: [UInt8] = []
        while let byte = peek, byte != UInt8(ascii: "\"") {
            guard byte >= 0x20 else { throw failure("no control character in a string") }
            position += 1
            if byte == UInt8(ascii: "\\") { text += try escape() } else { text.append(byte) }
        }
        guard take(UInt8(ascii: "\""), skippingSpace: false) else { throw failure("the closing quote of a string") }
        let string = String(decoding: text, as: UTF8.self)
        guard string.utf8.elementsEqual(text) else { throw failure("a string in UTF-8") }
        return string
    }

    private mutating func escape() throws(Failure) -> [UInt8] {
        let byte = peek
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return byte.map { [$0] } ?? []
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "u"): return try unicode()
        default: throw failure("a valid escape")
        }
    }

    private mutating func unicode() throws(Failure) -> [UInt8] {
        var units = [try hex()]
        if units[0] & 0xFC00 == 0xD800, bytes[position...].starts(with: "\\u".utf8) {
            position += 2
            units.append(try hex())
        }
        let text = String(decoding: units, as: UTF16.self)
        guard text.utf16.elementsEqual(units) else { throw failure("a whole surrogate pair") }
        return Array(text.utf8)
    }

    private mutating func hex() throws(Failure) -> UInt16 {
        let digits = bytes[position...].prefix(4)
        guard digits.count == 4, digits.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }),
            let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw failure("four hexadecimal digits") }
        position += 4
        return unit
    }

    // MARK: - Bytes

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private var line: Int { 1 + bytes[..<min(position, bytes.count)].count { $0 == 0x0A } }

    private mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || (0x09...0x0A).contains(byte) || byte == 0x0D { position += 1 }
    }

    private mutating func take(_ byte: UInt8, skippingSpace: Bool = true) -> Bool {
        if skippingSpace { skipSpace() }
        guard peek == byte else { return false }
        position += 1
        return true
    }

    private func failure(_ expected: String) -> Failure {
        Failure(expected: position < bytes.count ? expected : "\(expected), not the end of the file", line: line)
    }
}

extension String {
    /// The text without the dot in front of it.
    fileprivate var withoutDot: String { hasPrefix(".") ? String(dropFirst()) : self }
}

/// A parsed JSON value that still knows the order of its keys.
enum JSONValue: Equatable {
    case object([(key: String, value: JSONValue)])
    case array([JSONValue])
    case string(String)
    case number(Double)
    case bool(Bool)
    case null

    /// The type's name, with its article, for messages.
    var kind: String {
        switch self {
        case .object: "an object"
        case .array: "an array"
        case .string: "a string"
        case .number: "a number"
        case .bool: "true or false"
        case .null: "null"
        }
    }

    static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.object(let one), .object(let other)):
            one.elementsEqual(other) { $0.key == $1.key && $0.value == $1.value }
        case (.array(let one), .array(let other)): one == other
        case (.string(let one), .string(let other)): one == other
        case (.number(let one), .number(let other)): one == other
        case (.bool(let one), .bool(let other)): one == other
        case (.null, .null): true
        default: false
        }
    }
}
