extension YAMLReader {
    /// Parses a flow collection (`[]` or `{}`), or a scalar within one.
    mutating func flowNode() throws(ReadingError) -> Node {
        try enter()
        defer { leave() }
        let position = cursor.position
        let properties = try properties()
        if !properties.isEmpty {
            try skipFlowSpace()
            try refuseAlias()
            let isEmpty = ",]}".utf8.contains(cursor.next)
            let node = try tagged(isEmpty ? Node(.null, at: position) : try flowNode(), properties.tag, at: position)
            note(node, as: properties.anchor)
            return node
        }
        switch cursor.next {
        case UInt8(ascii: "["): return Node(.list(try flowSequence()), at: position)
        case UInt8(ascii: "{"): return Node(.map(try flowMapping()), at: position)
        case UInt8(ascii: "*"): return try alias()
        case UInt8(ascii: "\""), UInt8(ascii: "'"): return Node(.string(try quoted(parent: flowIndent)), at: position)
        default: return Node(YAMLScalar.value(of: try flowPlain()), at: position)
        }
    }

    private mutating func skipFlowSpace() throws(ReadingError) {
        let line = cursor.line
        try skipToContent()
        guard !cursor.isAtEnd else { throw error("the document ends within a flow collection") }
        if isMarker("---") || isMarker("...") { throw error("the document ends within a flow collection") }
        // A closing bracket may have the indentation of the block, as other parsers allow.
        if cursor.line != line, cursor.indent <= flowIndent, !"]}".utf8.contains(cursor.next) {
            throw error("the line is indented less than its flow collection")
        }
    }

    private mutating func flowSequence() throws(ReadingError) -> [Node] {
        cursor.advance()
        var elements: [Node] = []
        try skipFlowSpace()
        while !cursor.take(UInt8(ascii: "]")) {
            let position = cursor.position
            let element = try flowNode()
            try skipFlowSpace()
            let isKey = cursor.next == UInt8(ascii: ":")
            elements.append(isKey ? try flowPair(of: element, at: position) : element)
            if cursor.take(UInt8(ascii: ",")) {
                try skipFlowSpace()
            } else if cursor.next != UInt8(ascii: "]") {
                throw error("expected \",\" or \"]\"")
            }
        }
        return elements
    }

    /// Parses the value of a pair within a list, as in `[key: value]`, which is an object with a single member.
    private mutating func flowPair(of key: Node, at position: Position) throws(ReadingError) -> Node {
        guard cursor.line == position.line else {
            throw error("a key within a list must be on the line of its \":\"")
        }
        let member = Node.Member(key: try name(key, at: position), value: try flowValue(position))
        try skipFlowSpace()
        return Node(.map([member]), at: position)
    }

    /// Returns the text of a key.
    private func name(_ key: Node, at position: Position) throws(ReadingError) -> String {
        guard let name = key.scalarText else { throw ReadingError("a key must be a scalar", at: position) }
        guard name != "<<" else { throw ReadingError("the merge key \"<<\" is not supported", at: position) }
        return name
    }

    private mutating func flowMapping() throws(ReadingError) -> [Node.Member] {
        cursor.advance()
        var members: [Node.Member] = []
        var names: Set<String> = []
        try skipFlowSpace()
        while !cursor.take(UInt8(ascii: "}")) {
            let position = cursor.position
            let key = try name(try flowNode(), at: position)
            guard names.insert(key).inserted else {
                throw ReadingError("the key \"\(key)\" occurs twice in one object", at: position)
            }
            try skipFlowSpace()
            members.append(Node.Member(key: key, value: try flowValue(position)))
            try skipFlowSpace()
            if cursor.take(UInt8(ascii: ",")) {
                try skipFlowSpace()
            } else if cursor.next != UInt8(ascii: "}") {
                throw error("expected \",\" or \"}\"")
            }
        }
        return members
    }

    private mutating func flowValue(_ position: Position) throws(ReadingError) -> Node {
        guard cursor.take(UInt8(ascii: ":")) else { return Node(.null, at: position) }
        try skipFlowSpace()
        if ",]}".utf8.contains(cursor.next) { return Node(.null, at: position) }
        return try flowNode()
    }

    /// Parses a plain scalar within a flow collection, over several lines if necessary.
    private mutating func flowPlain() throws(ReadingError) -> String {
        let isIndicator = "-?".utf8.contains(cursor.next) && ",[]{}".utf8.contains(cursor.peek(1))
        guard !isIndicator, startsPlain() || cursor.next == UInt8(ascii: ":") else { throw unexpectedCharacter }
        var lines: [String] = []
        while true {
            let start = cursor.offset
            while !isLineDone, !",[]{}".utf8.contains(cursor.next), !isFlowColon { cursor.advance() }
            guard let text = cursor.text(from: start) else { throw error("the text is not valid UTF-8") }
            lines.append(text.trimmingBlanks)
            guard isLineDone, cursor.next != UInt8(ascii: "#"), !cursor.isAtEnd else { break }
            let end = cursor.offset
            try skipFlowSpace()
            // A comment ends the scalar.
            if cursor.bytes[end..<cursor.offset].contains(UInt8(ascii: "#")) { break }
            if ",[]{}#".utf8.contains(cursor.next) || isFlowColon { break }
        }
        return lines.joined(separator: " ").trimmingBlanks
    }

    private var isFlowColon: Bool {
        cursor.next == UInt8(ascii: ":")
            && (isIndicator(UInt8(ascii: ":")) || ",[]{}".utf8.contains(cursor.peek(1)))
    }

    var unexpectedCharacter: ReadingError {
        let character = cursor.isAtEnd ? "the end of the document" : "\"\(Character(Unicode.Scalar(cursor.next)))\""
        return error("a value must not start with \(character)")
    }
}
