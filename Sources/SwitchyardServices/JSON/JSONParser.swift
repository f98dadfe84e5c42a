/// A strict JSON parser (RFC 8259) with a depth limit.
package struct JSONParser {
    /// A parse error and its location.
    package struct Failure: Error, Equatable {
        package enum Kind: Equatable {
            /// The text is not valid JSON at this location.
            case malformed(expected: String)
            /// The text nests deeper than the limit.
            case tooDeep(limit: Int)
            /// An object repeats a name.
            ///
            /// `path` is the path of the repeated name, with a dot before each key and each index in brackets.
            case repeatedName(path: String)
        }

        package var kind: Kind
        /// The byte offset of the error.
        package var offset: Int
    }

    /// The treatment of repeated names in an object, which RFC 8259 section 4 leaves open.
    package enum RepeatedNames {
        case lastHolds
        case firstHolds
        case refused
    }

    private let bytes: ContiguousArray<UInt8>
    private var position = 0
    private let maximumDepth: Int
    private var depth = 0
    private let repeatedNames: RepeatedNames
    /// Whether an object repeated a name.
    package private(set) var hasRepeatedNames = false

    /// - Parameters:
    ///   - bytes: The text in UTF-8; a byte order mark is allowed.
    ///   - maximumDepth: The maximum nesting depth, at most `JSONDepth.ceiling`.
    ///   - repeatedNames: The treatment of repeated names in an object.
    package init(_ bytes: ContiguousArray<UInt8>, maximumDepth: Int, repeatedNames: RepeatedNames) {
        self.bytes = bytes
        self.maximumDepth = min(max(0, maximumDepth), JSONDepth.ceiling)
        self.repeatedNames = repeatedNames
    }

    /// Parses the text as a single value.
    package mutating func document() throws(Failure) -> JSONValue {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
        let value = try value()
        skipWhitespace()
        guard position == bytes.count else { throw malformed(expected: "nothing after the value") }
        return value
    }

    private mutating func value() throws(Failure) -> JSONValue {
        skipWhitespace()
        guard position < bytes.count else { throw malformed(expected: "a value") }
        switch bytes[position] {
        case UInt8(ascii: "{"): return try object()
        case UInt8(ascii: "["): return try array()
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return .number(try number())
        }
    }

    /// Parses a nested value.
    ///
    /// If an error has a path, `place` is added in front of that path.
    private mutating func value(at place: @autoclosure () -> String) throws(Failure) -> JSONValue {
        do throws(Failure) {
            return try value()
        } catch {
            guard case .repeatedName(let path) = error.kind else { throw error }
            throw Failure(kind: .repeatedName(path: place() + path), offset: error.offset)
        }
    }

    /// Enters an array or object, and consumes its opening bracket.
    private mutating func enter() throws(Failure) {
        guard depth < maximumDepth else { throw Failure(kind: .tooDeep(limit: maximumDepth), offset: position) }
        depth += 1
        position += 1
    }

    private mutating func array() throws(Failure) -> JSONValue {
        try enter()
        defer { depth -= 1 }
        var elements: [JSONValue] = []
        skipWhitespace()
        if take(UInt8(ascii: "]")) { return .array(elements) }
        while true {
            elements.append(try value(at: "[\(elements.count)]"))
            skipWhitespace()
            if take(UInt8(ascii: "]")) { return .array(elements) }
            guard take(UInt8(ascii: ",")) else { throw malformed(expected: "a comma or ]") }
        }
    }

    private mutating func object() throws(Failure) -> JSONValue {
        try enter()
        defer { depth -= 1 }
        var members = JSONMembers()
        skipWhitespace()
        if take(UInt8(ascii: "}")) { return .object(members) }
        while true {
            skipWhitespace()
            let name = try string()
            if repeatedNames == .refused, members[name] != nil {
                throw Failure(kind: .repeatedName(path: ".\(name)"), offset: position)
            }
            skipWhitespace()
            guard take(UInt8(ascii: ":")) else { throw malformed(expected: "a colon") }
            if let earlier = members.updateValue(try value(at: ".\(name)"), forKey: name) {
                hasRepeatedNames = true
                if repeatedNames == .firstHolds { members[name] = earlier }
            }
            skipWhitespace()
            if take(UInt8(ascii: "}")) { return .object(members) }
            guard take(UInt8(ascii: ",")) else { throw malformed(expected: "a comma or }") }
        }
    }

    private mutating func word(_ word: StaticString, _ value: JSONValue) throws(Failure) -> JSONValue {
        let end = position + word.utf8CodeUnitCount
        guard end <= bytes.count else { throw malformed(expected: "\(word)") }
        guard word.withUTF8Buffer({ $0.elementsEqual(bytes[position..<end]) }) else {
            throw malformed(expected: "\(word)")
        }
        position = end
        return value
    }

    private mutating func number() throws(Failure) -> JSONNumber {
        let start = position
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) { try digits(position == start ? "a value" : "a digit") }
        if take(UInt8(ascii: ".")) { try digits() }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            try digits()
        }
        return JSONNumber(checked: String(decoding: bytes[start..<position], as: UTF8.self))
    }

    private mutating func digits(_ expected: String = "a digit") throws(Failure) {
        let start = position
        while position < bytes.count, bytes[position].isDigit { position += 1 }
        guard position > start else { throw malformed(expected: expected) }
    }

    private mutating func skipWhitespace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x0A, 0x0D, 0x09: position += 1
            default: return
            }
        }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    private func malformed(expected: String) -> Failure {
        Failure(kind: .malformed(expected: expected), offset: position)
    }
}

extension JSONParser {
    /// Parses a string, starting at its opening quote.
    private mutating func string() throws(Failure) -> String {
        guard take(UInt8(ascii: "\"")) else { throw malformed(expected: "a key in quotes") }
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
                throw malformed(expected: "no control character in a string")
            default:
                position += 1
            }
        }
        throw malformed(expected: "the closing quote of a string")
    }

    /// Parses the rest of a string after its first escape was found.
    private mutating func stringWithEscapes(from start: Int) throws(Failure) -> String {
        var result = ContiguousArray(bytes[start..<position])
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return try text(result[...])
            case UInt8(ascii: "\\"): try escape(into: &result)
            case 0..<0x20:
                position -= 1
                throw malformed(expected: "no control character in a string")
            default: result.append(byte)
            }
        }
        throw malformed(expected: "the closing quote of a string")
    }

    private mutating func escape(into result: inout ContiguousArray<UInt8>) throws(Failure) {
        guard position < bytes.count else { throw malformed(expected: "a valid escape") }
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
        default: throw malformed(expected: "a valid escape")
        }
        position += 1
    }

    /// Parses one escape, or the two escapes of a surrogate pair.
    ///
    /// An unpaired surrogate is an error.
    private mutating func scalar() throws(Failure) -> Character {
        let first = try hexadecimal()
        if let scalar = Unicode.Scalar(first) { return Character(scalar) }
        guard (0xD800..<0xDC00).contains(first), take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else {
            throw malformed(expected: "a complete surrogate pair")
        }
        let second = try hexadecimal()
        guard (0xDC00..<0xE000).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { throw malformed(expected: "a complete surrogate pair") }
        return Character(scalar)
    }

    private mutating func hexadecimal() throws(Failure) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard position < bytes.count, let digit = Character(Unicode.Scalar(bytes[position])).hexDigitValue else {
                throw malformed(expected: "four hexadecimal digits")
            }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }

    /// Returns the bytes as text; throws if they are not valid UTF-8.
    private func text(_ slice: ArraySlice<UInt8>) throws(Failure) -> String {
        guard let text = String(validUTF8: slice) else { throw malformed(expected: "a string in UTF-8") }
        return text
    }
}
