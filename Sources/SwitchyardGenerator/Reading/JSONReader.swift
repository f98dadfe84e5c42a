/// A parser for JSON text (RFC 8259).
///
/// The result is a tree of ``Node`` values.
struct JSONReader {
    private var cursor: TextCursor
    private var depth = 0
    private let limits: ReadingLimits

    init(_ bytes: ContiguousArray<UInt8>, limits: ReadingLimits = ReadingLimits()) {
        cursor = TextCursor(bytes)
        self.limits = limits
    }

    /// Parses the complete text.
    ///
    /// - Throws: ``ReadingError`` with the position at which the text is not valid JSON.
    mutating func document() throws(ReadingError) -> Node {
        let node = try value()
        skipSpace()
        guard cursor.isAtEnd else { throw error("expected the end of the document after the value") }
        return node
    }

    private func error(_ message: String) -> ReadingError { ReadingError(message, at: cursor.position) }

    private mutating func skipSpace() {
        while cursor.next.isBlank || cursor.next.isLineEnd { cursor.advance() }
    }

    private mutating func value() throws(ReadingError) -> Node {
        skipSpace()
        let position = cursor.position
        switch cursor.next {
        case UInt8(ascii: "{"): return Node(.map(try members()), at: position)
        case UInt8(ascii: "["): return Node(.list(try elements()), at: position)
        case UInt8(ascii: "\""): return Node(.string(try string()), at: position)
        case UInt8(ascii: "t") where cursor.starts(with: "true"): return word(.bool(true), 4, position)
        case UInt8(ascii: "f") where cursor.starts(with: "false"): return word(.bool(false), 5, position)
        case UInt8(ascii: "n") where cursor.starts(with: "null"): return word(.null, 4, position)
        default: return Node(.number(try number()), at: position)
        }
    }

    private mutating func word(_ value: Node.Value, _ length: Int, _ position: Position) -> Node {
        cursor.advance(length)
        return Node(value, at: position)
    }

    private mutating func enter() throws(ReadingError) {
        guard depth < limits.depth else { throw error("nesting is deeper than \(limits.depth) levels") }
        depth += 1
        cursor.advance()
        skipSpace()
    }

    private mutating func elements() throws(ReadingError) -> [Node] {
        try enter()
        defer { depth -= 1 }
        var elements: [Node] = []
        if cursor.take(UInt8(ascii: "]")) { return elements }
        while true {
            elements.append(try value())
            skipSpace()
            if cursor.take(UInt8(ascii: "]")) { return elements }
            guard cursor.take(UInt8(ascii: ",")) else { throw error("expected \",\" or \"]\"") }
        }
    }

    private mutating func members() throws(ReadingError) -> [Node.Member] {
        try enter()
        defer { depth -= 1 }
        var members: [Node.Member] = []
        var names: Set<String> = []
        if cursor.take(UInt8(ascii: "}")) { return members }
        while true {
            skipSpace()
            let position = cursor.position
            guard cursor.next == UInt8(ascii: "\"") else { throw error("expected a name in quotation marks") }
            let name = try string()
            guard names.insert(name).inserted else {
                throw ReadingError("the name \"\(name)\" occurs twice in one object", at: position)
            }
            skipSpace()
            guard cursor.take(UInt8(ascii: ":")) else { throw error("expected \":\"") }
            members.append(Node.Member(key: name, value: try value()))
            skipSpace()
            if cursor.take(UInt8(ascii: "}")) { return members }
            guard cursor.take(UInt8(ascii: ",")) else { throw error("expected \",\" or \"}\"") }
        }
    }

    private mutating func number() throws(ReadingError) -> String {
        let start = cursor.offset
        _ = cursor.take(UInt8(ascii: "-"))
        if !cursor.take(UInt8(ascii: "0")) { try digits("a value") }
        if cursor.take(UInt8(ascii: ".")) { try digits("a digit") }
        if cursor.next | 0x20 == UInt8(ascii: "e") {
            cursor.advance()
            if !cursor.take(UInt8(ascii: "+")) { _ = cursor.take(UInt8(ascii: "-")) }
            try digits("a digit")
        }
        return cursor.text(from: start) ?? ""
    }

    private mutating func digits(_ expected: String) throws(ReadingError) {
        guard cursor.next.isDecimalDigit else { throw error("expected \(expected)") }
        while cursor.next.isDecimalDigit { cursor.advance() }
    }

    private mutating func string() throws(ReadingError) -> String {
        let start = cursor.position
        cursor.advance()
        let first = cursor.offset
        while !cursor.isAtEnd, cursor.next != UInt8(ascii: "\""), cursor.next != UInt8(ascii: "\\"), cursor.next >= 0x20
        {
            cursor.advance()
        }
        guard var text = cursor.text(from: first) else {
            throw ReadingError("the string is not valid UTF-8", at: start)
        }
        while !cursor.take(UInt8(ascii: "\"")) {
            guard !cursor.isAtEnd else { throw ReadingError("the string has no closing quotation mark", at: start) }
            guard cursor.next >= 0x20 else { throw error("a string must not contain control characters") }
            if cursor.next == UInt8(ascii: "\\") {
                text.unicodeScalars.append(try escape())
                continue
            }
            let part = cursor.offset
            while cursor.next >= 0x20, cursor.next != UInt8(ascii: "\""), cursor.next != UInt8(ascii: "\\") {
                cursor.advance()
            }
            guard let piece = cursor.text(from: part) else {
                throw ReadingError("the string is not valid UTF-8", at: start)
            }
            text += piece
        }
        return text
    }

    private mutating func escape() throws(ReadingError) -> Unicode.Scalar {
        let byte = cursor.peek(1)
        if byte == UInt8(ascii: "u") { return try unicodeEscape() }
        let pairs: [UInt8: Unicode.Scalar] = [
            UInt8(ascii: "\""): "\"", UInt8(ascii: "\\"): "\\", UInt8(ascii: "/"): "/", UInt8(ascii: "b"): "\u{8}",
            UInt8(ascii: "f"): "\u{C}", UInt8(ascii: "n"): "\n", UInt8(ascii: "r"): "\r", UInt8(ascii: "t"): "\t",
        ]
        guard let scalar = pairs[byte] else { throw error("the escape is invalid in JSON") }
        cursor.advance(2)
        return scalar
    }

    private mutating func unicodeEscape() throws(ReadingError) -> Unicode.Scalar {
        let position = cursor.position
        let first = try unit()
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard (0xD800..<0xDC00).contains(first), cursor.starts(with: "\\u") else {
            throw ReadingError("a surrogate is not part of a pair", at: position)
        }
        let second = try unit()
        guard (0xDC00..<0xE000).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { throw ReadingError("a surrogate is not part of a pair", at: position) }
        return scalar
    }

    private mutating func unit() throws(ReadingError) -> UInt32 {
        cursor.advance(2)
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = cursor.next.hexadecimalValue else { throw error("expected four hexadecimal digits") }
            value = value << 4 | digit
            cursor.advance()
        }
        return value
    }
}
