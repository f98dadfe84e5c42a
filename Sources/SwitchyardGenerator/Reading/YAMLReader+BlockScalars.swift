extension YAMLReader {
    /// The rule for line feeds at the end of a block scalar (YAML's chomping indicator).
    private enum Chomping {
        case clip
        case strip
        case keep
    }

    /// Parses a literal (`|`) or folded (`>`) block scalar.
    mutating func blockScalar(parent: Int) throws(ReadingError) -> String {
        let isFolded = cursor.next == UInt8(ascii: ">")
        cursor.advance()
        let (chomping, given) = try blockHeader()
        var lines = try blockLines(parent: parent, indent: given.map { max(parent, 0) + $0 })
        var trailing = 0
        while lines.last == "" {
            lines.removeLast()
            trailing += 1
        }
        let text = isFolded ? Self.folded(lines) : lines.joined(separator: "\n")
        switch chomping {
        case .strip: return text
        case .clip: return lines.isEmpty ? "" : text + "\n"
        case .keep: return text + String(repeating: "\n", count: lines.isEmpty ? trailing : trailing + 1)
        }
    }

    private mutating func blockHeader() throws(ReadingError) -> (Chomping, indent: Int?) {
        var chomping = Chomping.clip
        var indent: Int?
        while !cursor.next.isBlank, !cursor.next.isLineEnd, !cursor.isAtEnd {
            switch cursor.next {
            case UInt8(ascii: "-"): chomping = .strip
            case UInt8(ascii: "+"): chomping = .keep
            case 0x31...0x39: indent = Int(cursor.next) - 0x30
            default: throw error("expected only indicators on the first line of a block scalar")
            }
            cursor.advance()
        }
        try endLine()
        skipLine()
        return (chomping, indent)
    }

    /// Returns the lines of a block scalar without their indentation.
    ///
    /// A blank line becomes an empty string.
    private mutating func blockLines(parent: Int, indent given: Int?) throws(ReadingError) -> [String] {
        var indent = given
        var lines: [String] = []
        var widestBlank = 0
        while !cursor.isAtEnd {
            var look = self
            look.skipLineEnd()
            if look.cursor.isAtEnd { break }
            let start = look.cursor.offset
            while look.cursor.next == .space, indent.map({ look.cursor.indent < $0 }) ?? true { look.cursor.advance() }
            if look.cursor.isAtEnd || look.cursor.next.isLineEnd {
                lines.append("")
                if indent == nil { widestBlank = max(widestBlank, look.cursor.indent) }
                if look.cursor.isAtEnd {
                    self = look
                    break
                }
                self = look
                continue
            }
            let width = look.cursor.offset - start
            guard width > parent, width >= indent ?? 0, !look.isMarker("---"), !look.isMarker("...") else {
                if look.cursor.next == .tab { throw look.error("a tab must not be used for indentation") }
                break
            }
            if indent == nil {
                guard width >= widestBlank else {
                    throw look.error("the first line is indented less than a blank line before it")
                }
                indent = width
            }
            let first = look.cursor.offset
            look.skipLine()
            guard let line = look.cursor.text(from: first) else { throw error("the text is not valid UTF-8") }
            lines.append(line.allSatisfy { $0 == " " } && width < (indent ?? 0) ? "" : line)
            self = look
        }
        return lines
    }

    /// Joins the lines of a folded scalar with spaces.
    ///
    /// Blank lines are kept, and so are the line feeds around lines with more indentation.
    private static func folded(_ lines: [String]) -> String {
        var text = ""
        var blanks = 0
        var previousIsIndented = false
        for (index, line) in lines.enumerated() {
            if line.isEmpty {
                blanks += 1
                continue
            }
            let isIndented = line.first == " " || line.first == "\t"
            if index > blanks || !text.isEmpty {
                let keepsBreak = isIndented || previousIsIndented
                text += blanks == 0 ? (keepsBreak ? "\n" : " ") : String(repeating: "\n", count: blanks)
                if blanks > 0, keepsBreak { text += "\n" }
            } else {
                text += String(repeating: "\n", count: blanks)
            }
            text += line
            blanks = 0
            previousIsIndented = isIndented
        }
        return text
    }
}
