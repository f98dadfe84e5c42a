extension YAMLReader {
    /// Returns whether a plain scalar can start with the next character.
    func startsPlain() -> Bool {
        let next = cursor.next
        if cursor.isAtEnd || next.isBlank || next.isLineEnd || next < 0x20 { return false }
        if "-?:".utf8.contains(next) {
            let after = cursor.peek(1)
            return !(after.isBlank || after.isLineEnd || after == 0)
        }
        return !",[]{}#&*!|>'\"%@`".utf8.contains(next)
    }

    /// Parses a plain scalar of one or several lines.
    mutating func plain(parent: Int) throws(ReadingError) -> Node.Value {
        guard startsPlain() else { throw unexpectedCharacter }
        var (text, isComplete) = try plainLine()
        while !isComplete {
            var look = self
            var breaks = 0
            look.skipBlanks()
            guard !look.cursor.isAtEnd, look.cursor.next.isLineEnd else { break }
            while !look.cursor.isAtEnd, look.cursor.next.isLineEnd {
                look.skipLineEnd()
                breaks += 1
                look.skipBlanks()
            }
            guard !look.cursor.isAtEnd, look.cursor.indent > parent, !look.isLineDone, !look.isMarker("---"),
                !look.isMarker("...")
            else { break }
            self = look
            let line: String
            (line, isComplete) = try plainLine()
            text += breaks == 1 ? " " : String(repeating: "\n", count: breaks - 1)
            text += line
        }
        return YAMLScalar.value(of: text)
    }

    /// Parses one line of a plain scalar, and returns whether a comment ends the scalar.
    private mutating func plainLine() throws(ReadingError) -> (text: String, isComplete: Bool) {
        let start = cursor.offset
        while !isLineDone {
            if isIndicator(UInt8(ascii: ":")) { throw error("a value must not contain \": \" unless it is quoted") }
            cursor.advance()
        }
        guard let line = cursor.text(from: start) else { throw error("the text is not valid UTF-8") }
        let hasComment = cursor.next == UInt8(ascii: "#")
        if hasComment { skipLine() }
        return (line.trimmingBlanks, hasComment)
    }

    mutating func skipLineEnd() {
        if cursor.next == .carriageReturn, cursor.peek(1) == .lineFeed { cursor.advance() }
        cursor.advance()
    }

    // MARK: - Quoted scalars

    /// Parses a scalar in single or double quotation marks.
    mutating func quoted(parent: Int) throws(ReadingError) -> String {
        let start = cursor.position
        let mark = cursor.next
        cursor.advance()
        var text = ""
        // The end of the last escape sequence in `text`. Spaces before this position come from an escape sequence, so
        // they are not trimmed at the end of a line.
        var written = 0
        while true {
            guard !cursor.isAtEnd else { throw ReadingError("the text has no closing quotation mark", at: start) }
            if cursor.next == mark {
                if mark == UInt8(ascii: "'"), cursor.peek(1) == mark {
                    cursor.advance(2)
                    text += "'"
                    continue
                }
                cursor.advance()
                return text
            }
            if cursor.next.isLineEnd {
                try foldLine(into: &text, behind: written, parent)
            } else if mark == UInt8(ascii: "\""), cursor.next == UInt8(ascii: "\\") {
                try escape(into: &text)
                written = text.utf8.count
            } else {
                text += try quotedPiece(until: mark)
            }
        }
    }

    private mutating func quotedPiece(until mark: UInt8) throws(ReadingError) -> String {
        let start = cursor.offset
        let hasEscapes = mark == UInt8(ascii: "\"")
        while !cursor.isAtEnd, cursor.next != mark, !cursor.next.isLineEnd,
            !(hasEscapes && cursor.next == UInt8(ascii: "\\"))
        {
            cursor.advance()
        }
        guard let piece = cursor.text(from: start) else { throw error("the text is not valid UTF-8") }
        return piece
    }

    /// Folds line breaks in a quoted scalar: a single line break becomes a space.
    ///
    /// Of several consecutive line breaks, the first is removed and each of the others becomes a line feed.
    private mutating func foldLine(
        into text: inout String,
        behind written: Int,
        _ parent: Int
    ) throws(ReadingError) {
        while text.utf8.count > written, let last = text.unicodeScalars.last, last == " " || last == "\t" {
            text.unicodeScalars.removeLast()
        }
        var breaks = 0
        while cursor.next.isLineEnd, !cursor.isAtEnd {
            skipLineEnd()
            breaks += 1
            if isMarker("---") || isMarker("...") { throw error("the document ends within a quoted text") }
            while cursor.next == .space { cursor.advance() }
            let indent = cursor.indent
            skipBlanks()
            guard cursor.isAtEnd || cursor.next.isLineEnd || indent > parent else {
                throw error("the line is indented less than its text")
            }
        }
        text += breaks == 1 ? " " : String(repeating: "\n", count: breaks - 1)
    }

    private mutating func escape(into text: inout String) throws(ReadingError) {
        let byte = cursor.peek(1)
        let lengths: [UInt8: Int] = [UInt8(ascii: "x"): 2, UInt8(ascii: "u"): 4, UInt8(ascii: "U"): 8]
        if let length = lengths[byte] {
            cursor.advance(2)
            return text.unicodeScalars.append(try codePoint(length))
        }
        if byte.isLineEnd {
            cursor.advance()
            skipLineEnd()
            return skipBlanks()
        }
        guard let scalar = YAMLScalar.escapes[byte] else { throw error("the escape is invalid in YAML") }
        cursor.advance(2)
        text.unicodeScalars.append(scalar)
    }

    private mutating func codePoint(_ length: Int) throws(ReadingError) -> Unicode.Scalar {
        let value = try hexadecimal(length)
        if let scalar = Unicode.Scalar(value) { return scalar }
        // Strings copied from JSON may contain a surrogate pair as two escape sequences.
        guard (0xD800..<0xDC00).contains(value), cursor.starts(with: "\\u") else {
            throw error("the escape is not a valid character")
        }
        cursor.advance(2)
        let second = try hexadecimal(4)
        guard (0xDC00..<0xE000).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (value - 0xD800) << 10 + (second - 0xDC00))
        else { throw error("the escape is not a valid character") }
        return scalar
    }

    private mutating func hexadecimal(_ length: Int) throws(ReadingError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<length {
            guard let digit = cursor.next.hexadecimalValue else {
                throw error("expected \(length) hexadecimal digits")
            }
            value = value << 4 | digit
            cursor.advance()
        }
        return value
    }
}

/// The rules for scalars of YAML's core schema.
enum YAMLScalar {
    /// The characters that escape sequences stand for, by the byte after the backslash.
    static let escapes: [UInt8: Unicode.Scalar] = [
        UInt8(ascii: "0"): "\0", UInt8(ascii: "a"): "\u{7}", UInt8(ascii: "b"): "\u{8}", UInt8(ascii: "t"): "\t",
        .tab: "\t", UInt8(ascii: "n"): "\n", UInt8(ascii: "v"): "\u{B}", UInt8(ascii: "f"): "\u{C}",
        UInt8(ascii: "r"): "\r", UInt8(ascii: "e"): "\u{1B}", .space: " ", UInt8(ascii: "\""): "\"",
        UInt8(ascii: "/"): "/", UInt8(ascii: "\\"): "\\", UInt8(ascii: "N"): "\u{85}", UInt8(ascii: "_"): "\u{A0}",
        UInt8(ascii: "L"): "\u{2028}", UInt8(ascii: "P"): "\u{2029}",
    ]

    /// Returns the value of a scalar without quotation marks: a number, a Boolean, `null` or a string.
    static func value(of text: String) -> Node.Value {
        switch text {
        case "", "~", "null", "Null", "NULL": return .null
        case "true", "True", "TRUE": return .bool(true)
        case "false", "False", "FALSE": return .bool(false)
        default: return isNumber(text) ? .number(text) : .string(text)
        }
    }

    private static func isNumber(_ text: String) -> Bool {
        guard let first = text.utf8.first, first.isDecimalDigit || "+-.".utf8.contains(first) else { return false }
        let pattern = /[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|0o[0-7]+|0x[0-9a-fA-F]+/
        if text.wholeMatch(of: pattern) != nil { return true }
        return text.wholeMatch(of: /[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)/) != nil
    }
}
