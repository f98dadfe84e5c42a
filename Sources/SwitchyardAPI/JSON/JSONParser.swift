import SwitchyardServices

/// Parses a JSON text front to back, strictly by RFC 8259, with a limit to its depth.
struct JSONParser {
    let bytes: ContiguousArray<UInt8>
    var position = 0
    private let maximumDepth: Int
    private var depth = 0
    private let keepsFirst: Bool
    /// Whether an object had a name twice.
    private(set) var hasRepeatedNames = false

    /// - Parameters:
    ///   - text: The text in UTF-8.
    ///   - maximumDepth: How deep it may nest.
    ///   - keepsFirst: Whether of a name that occurs twice the first value holds instead of the last.
    init(_ text: some Sequence<UInt8>, maximumDepth: Int, keepsFirst: Bool = false) {
        bytes = ContiguousArray(text)
        self.maximumDepth = min(max(0, maximumDepth), JSONDepth.ceiling)
        self.keepsFirst = keepsFirst
    }

    /// The one value of the text.
    mutating func document() throws(DecodingFailure) -> JSONValue {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
        let value = try value()
        skipWhitespace()
        guard position == bytes.count else { throw malformed() }
        return value
    }

    private mutating func value() throws(DecodingFailure) -> JSONValue {
        skipWhitespace()
        guard position < bytes.count else { throw malformed() }
        switch bytes[position] {
        case UInt8(ascii: "{"): return try nested { (parser) throws(DecodingFailure) in try parser.object() }
        case UInt8(ascii: "["): return try nested { (parser) throws(DecodingFailure) in try parser.array() }
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return .number(try number())
        }
    }

    private mutating func nested(
        _ body: (inout JSONParser) throws(DecodingFailure) -> JSONValue
    ) throws(DecodingFailure) -> JSONValue {
        guard depth < maximumDepth else { throw DecodingFailure(.tooDeep(limit: maximumDepth)) }
        depth += 1
        position += 1
        let value = try body(&self)
        depth -= 1
        return value
    }

    private mutating func array() throws(DecodingFailure) -> JSONValue {
        var elements: [JSONValue] = []
        skipWhitespace()
        if take(UInt8(ascii: "]")) { return .array(elements) }
        while true {
            elements.append(try value())
            skipWhitespace()
            if take(UInt8(ascii: "]")) { return .array(elements) }
            guard take(UInt8(ascii: ",")) else { throw malformed() }
        }
    }

    private mutating func object() throws(DecodingFailure) -> JSONValue {
        var members: [String: JSONValue] = [:]
        skipWhitespace()
        if take(UInt8(ascii: "}")) { return .object(members) }
        while true {
            skipWhitespace()
            let name = try string()
            skipWhitespace()
            guard take(UInt8(ascii: ":")) else { throw malformed() }
            if let earlier = members.updateValue(try value(), forKey: name) {
                hasRepeatedNames = true
                if keepsFirst { members[name] = earlier }
            }
            skipWhitespace()
            if take(UInt8(ascii: "}")) { return .object(members) }
            guard take(UInt8(ascii: ",")) else { throw malformed() }
        }
    }

    private mutating func word(_ word: StaticString, _ value: JSONValue) throws(DecodingFailure) -> JSONValue {
        let end = position + word.utf8CodeUnitCount
        guard end <= bytes.count else { throw malformed() }
        guard word.withUTF8Buffer({ $0.elementsEqual(bytes[position..<end]) }) else { throw malformed() }
        position = end
        return value
    }

    private mutating func number() throws(DecodingFailure) -> JSONNumber {
        let start = position
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) { try digits() }
        if take(UInt8(ascii: ".")) { try digits() }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            try digits()
        }
        return JSONNumber(checked: String(decoding: bytes[start..<position], as: UTF8.self))
    }

    private mutating func digits() throws(DecodingFailure) {
        let start = position
        while position < bytes.count, bytes[position].isDigit { position += 1 }
        guard position > start else { throw malformed() }
    }

    private mutating func skipWhitespace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x0A, 0x0D, 0x09: position += 1
            default: return
            }
        }
    }

    mutating func take(_ byte: UInt8) -> Bool {
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    func malformed() -> DecodingFailure {
        DecodingFailure(.malformed(offset: position))
    }
}
