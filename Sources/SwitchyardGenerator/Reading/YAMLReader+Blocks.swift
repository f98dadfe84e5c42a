extension YAMLReader {
    /// Parses a block sequence whose dashes are at this indentation.
    mutating func sequence(at indent: Int) throws(ReadingError) -> [Node] {
        var elements: [Node] = []
        while !cursor.isAtEnd, cursor.indent == indent, isIndicator(UInt8(ascii: "-")), !isMarker("---") {
            cursor.advance()
            elements.append(try value(parent: indent, allowsSameIndent: false, isCompact: true))
            try skipToContent()
        }
        if !cursor.isAtEnd, cursor.indent > indent { throw error("the line is indented more than its list") }
        return elements
    }

    /// Parses a block mapping whose keys are at this indentation.
    mutating func mapping(at indent: Int) throws(ReadingError) -> [Node.Member] {
        var members: [Node.Member] = []
        var names: Set<String> = []
        while !cursor.isAtEnd, cursor.indent == indent, !isMarker("---"), !isMarker("...") {
            let position = cursor.position
            let isExplicit = isIndicator(UInt8(ascii: "?"))
            guard isExplicit || isKeyAhead() else { throw error("expected a key and \":\"") }
            let key = isExplicit ? try explicitKey(at: indent) : try blockKey()
            guard key != "<<" else { throw ReadingError("the merge key \"<<\" is not supported", at: position) }
            guard names.insert(key).inserted else {
                throw ReadingError("the key \"\(key)\" occurs twice in one object", at: position)
            }
            let value = try value(parent: indent, allowsSameIndent: true, isCompact: isExplicit)
            members.append(Node.Member(key: key, value: value))
            try skipToContent()
        }
        if !cursor.isAtEnd, cursor.indent > indent { throw error("the line is indented more than its object") }
        return members
    }

    /// Parses the value after a dash or a colon, on the same line or on the following lines.
    ///
    /// If `isCompact` is `true`, the value may be a collection that starts on the same line.
    private mutating func value(
        parent: Int,
        allowsSameIndent: Bool,
        isCompact: Bool
    ) throws(ReadingError) -> Node {
        let position = cursor.position
        let start = cursor.offset
        skipBlanks()
        if !isLineDone {
            let hasTab = isCompact && cursor.bytes[start..<cursor.offset].contains(.tab)
            if hasTab, isIndicator(UInt8(ascii: "-")) || isIndicator(UInt8(ascii: "?")) || isKeyAhead() {
                throw error("a tab must not be used for indentation")
            }
            return isCompact ? try blockNode(parent: parent) : try inlineNode(parent: parent)
        }
        try skipToContent()
        guard !cursor.isAtEnd, !isMarker("---"), !isMarker("...") else { return Node(.null, at: position) }
        let isDash = isIndicator(UInt8(ascii: "-"))
        guard cursor.indent > parent || (allowsSameIndent && isDash && cursor.indent == parent) else {
            return Node(.null, at: position)
        }
        return try blockNode(parent: parent)
    }

    // MARK: - Keys

    /// Returns whether the next content on this line is a key followed by a colon.
    func isKeyAhead() -> Bool {
        var look = self
        while look.cursor.next == UInt8(ascii: "&") || look.cursor.next == UInt8(ascii: "!") {
            // A line that starts with an anchor or a tag is not treated as a key.
            while !look.cursor.isAtEnd, !look.cursor.next.isBlank, !look.cursor.next.isLineEnd { look.cursor.advance() }
            look.skipBlanks()
            return false
        }
        if look.cursor.next == UInt8(ascii: "\"") || look.cursor.next == UInt8(ascii: "'") {
            let line = look.cursor.line
            guard (try? look.quoted(parent: -1)) != nil, look.cursor.line == line else { return false }
            look.skipBlanks()
            return look.isIndicator(UInt8(ascii: ":"))
        }
        guard look.startsPlain() else { return false }
        while !look.isLineDone {
            if look.isIndicator(UInt8(ascii: ":")) { return true }
            look.cursor.advance()
        }
        return false
    }

    /// Parses a key after a question mark, and the colon that follows on a separate line.
    private mutating func explicitKey(at indent: Int) throws(ReadingError) -> String {
        cursor.advance()
        skipBlanks()
        let position = cursor.position
        guard !isLineDone, !isIndicator(UInt8(ascii: "-")), !isKeyAhead(),
            let key = try inlineNode(parent: indent).scalarText
        else { throw ReadingError("a key must be a scalar", at: position) }
        try skipToContent()
        guard cursor.indent == indent, isIndicator(UInt8(ascii: ":")) else { throw error("expected \":\" and a value") }
        cursor.advance()
        return key
    }

    private mutating func blockKey() throws(ReadingError) -> String {
        let key: String
        if cursor.next == UInt8(ascii: "\"") || cursor.next == UInt8(ascii: "'") {
            key = try quoted(parent: -1)
            skipBlanks()
        } else {
            let start = cursor.offset
            while !isIndicator(UInt8(ascii: ":")) { cursor.advance() }
            guard let text = cursor.text(from: start) else { throw error("the key is not valid UTF-8") }
            key = text.trimmingBlanks
        }
        cursor.advance()
        return key
    }
}

extension String {
    /// The text without the spaces and tabs at its start and end.
    var trimmingBlanks: String {
        let start = drop { $0 == " " || $0 == "\t" }
        guard let end = start.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return "" }
        return String(start[...end])
    }
}
