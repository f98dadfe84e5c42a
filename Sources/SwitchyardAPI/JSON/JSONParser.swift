import SwitchyardClient
import SwitchyardHTTP
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

extension JSONParser {
    /// A string, from its quote on.
    mutating func string() throws(DecodingFailure) -> String {
        guard take(UInt8(ascii: "\"")) else { throw malformed() }
        let start = position
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                let text = try text(bytes[start..<position])
                position += 1
                return text
            case UInt8(ascii: "\\"):
                return try stringWithEscapes(from: start)
            case 0..<0x20:
                throw malformed()
            default:
                position += 1
            }
        }
        throw malformed()
    }

    /// The rest of a string in which an escape was found.
    private mutating func stringWithEscapes(from start: Int) throws(DecodingFailure) -> String {
        var result = ContiguousArray(bytes[start..<position])
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return try text(result[...])
            case UInt8(ascii: "\\"): try escape(into: &result)
            case 0..<0x20:
                position -= 1
                throw malformed()
            default: result.append(byte)
            }
        }
        throw malformed()
    }

    private mutating func escape(into result: inout ContiguousArray<UInt8>) throws(DecodingFailure) {
        guard position < bytes.count else { throw malformed() }
        let byte = bytes[position]
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): result.append(byte)
        case UInt8(ascii: "b"): result.append(0x08)
        case UInt8(ascii: "f"): result.append(0x0C)
        case UInt8(ascii: "n"): result.append(0x0A)
        case UInt8(ascii: "r"): result.append(0x0D)
        case UInt8(ascii: "t"): result.append(0x09)
        case UInt8(ascii: "u"):
            position += 1
            result.append(contentsOf: String(try scalar()).utf8)
            return
        default: throw malformed()
        }
        position += 1
    }

    /// The scalar of one escape, or of two that are a surrogate pair; half a pair is no text.
    private mutating func scalar() throws(DecodingFailure) -> Character {
        let first = try hexadecimal()
        if let scalar = Unicode.Scalar(first) { return Character(scalar) }
        guard (0xD800..<0xDC00).contains(first), take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else {
            throw malformed()
        }
        let second = try hexadecimal()
        guard (0xDC00..<0xE000).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { throw malformed() }
        return Character(scalar)
    }

    private mutating func hexadecimal() throws(DecodingFailure) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard position < bytes.count, let digit = Character(Unicode.Scalar(bytes[position])).hexDigitValue else {
                throw malformed()
            }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }

    /// The bytes as text, if they are UTF-8.
    private func text(_ slice: ArraySlice<UInt8>) throws(DecodingFailure) -> String {
        guard let text = String(validUTF8: slice) else { throw malformed() }
        return text
    }
}

/// Guards decoders against texts that nest so deep that decoding them would overflow a thread's stack.
public enum JSONDepth {
    /// How deep arrays and objects may nest unless told otherwise: 128.
    ///
    /// Foundation's decoder itself stops at 512, but a type that contains itself overflows a stack of 512 KiB, which
    /// secondary threads of Apple systems have, at that depth.
    public static let standard = JSONNesting.standard

    /// The deepest limit that may be set: 512, where Foundation's decoder stops.
    public static let ceiling = 512

    /// Checks a text in one pass, without parsing it.
    ///
    /// - Parameters:
    ///   - bytes: The text in UTF-8.
    ///   - limit: How deep it may nest.
    /// - Throws: ``DecodingFailure`` when it nests deeper.
    static func check(_ bytes: UnsafeRawBufferPointer, limit: Int) throws(DecodingFailure) {
        if isExceeded(by: bytes, limit: limit) { throw DecodingFailure(.tooDeep(limit: limit)) }
    }

    /// Whether a text nests deeper than it may.
    static func isExceeded(by bytes: UnsafeRawBufferPointer, limit: Int) -> Bool {
        JSONNesting.isDeeper(bytes, than: limit)
    }
}
